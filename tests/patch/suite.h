/* The suite of dagpatch tests that runs on every driver and with every strategy. This header
 * holds the fixture (struct scene), helpers and the entry points of the suite's files. All
 * helpers fail the cmocka test on an error. */
#ifndef TESTS_PATCH_SUITE_H
#define TESTS_PATCH_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dagpatch/dagpatch.h>

#include "bed.h"

/* The driver and the strategy under test; test_patch_suite.c sets them before the first case. */
extern const struct bed *suite_bed;
extern enum dagpatch_strategy suite_strategy;
/* DAGPATCH_MODEL_NO_... features that the model driver is told to lack */
extern uint32_t suite_without;

enum { WORDS = 64 }; /* length of every buffer in words */

/* The fixture of one case: a context, a stream and a recording. */
struct scene {
	uint32_t device; /* device number in the bed; the context and the stream belong to it */
	struct dagpatch_context *context;
	struct dagpatch_recording *recording;
	void *stream;
	struct owned *older; /* the thread's newest buffer of before the scene */
	bool lacks_features; /* scene_lack has changed the model */
	bool is_shared;	     /* other threads use the device at the same time */
};

/* cmocka's setup and teardown. The context verifies every apply, and changes to table updates at
 * 64 nodes instead of by measured time, so that a case gives the same result on every machine. */
int scene_setup(void **state);
int scene_teardown(void **state);
/* Destroys the scene's recording and creates an empty one with FLAGS. */
void scene_again(struct scene *scene, uint32_t flags);
/* Replaces the scene's context by one of the suite's driver with OPTIONS, whose size and driver it
 * fills in, and the recording by an empty one, which it returns. */
struct dagpatch_recording *scene_create(struct scene *scene,
					const struct dagpatch_options *options);
/* Contexts that are created from now on find a model without FEATURES (DAGPATCH_MODEL_NO_...),
 * until the scene's end. */
void scene_lack(struct scene *scene, uint32_t features);
/* Asserts that CALL returned 0 or more; prints the recording's error message otherwise. */
#define OK(recording, call) scene_ok(recording, call, #call, __FILE__, __LINE__)
void scene_ok(const struct dagpatch_recording *recording, int rc, const char *call,
	      const char *file, int line);
struct dagpatch_stats stats_of(const struct dagpatch_recording *recording);
/* Asserts that RC and the recording's last error are CODE and that the message contains TEXT. */
void scene_failed(const struct dagpatch_recording *recording, int rc, int code, const char *text);
/* Launches the recording on the scene's stream and waits for it. */
void scene_run(struct scene *scene);
/* Makes the scene's device current for calls of the bed. Returns the previous device, which the
 * caller restores with device_back. */
uint32_t scene_visit(const struct scene *scene);
void device_back(uint32_t device);
/* Waits for the scene's stream. */
void scene_wait(const struct scene *scene);
/* Returns the function handle of KERNEL on the scene's device. */
void *scene_function(const struct scene *scene, enum bed_kernel kernel);

/* Allocates WORDS words of device memory, each set to VALUE; or BYTES bytes. The end of a scene
 * frees what its thread has allocated since the scene's setup. buffer_free frees one earlier, or
 * without a scene, on the thread that has allocated it. */
uint32_t *buffer(uint32_t value);
void *device_memory(size_t bytes);
void buffer_free(void *buffer);
void buffer_set(uint32_t *buffer, uint32_t value);
/* Reads COUNT words (at most WORDS) from the device and asserts that each is VALUE. */
#define expect_all(buffer, value)   expect_words(buffer, WORDS, value, __FILE__, __LINE__)
#define expect_first(buffer, value) expect_words(buffer, 1, value, __FILE__, __LINE__)
void expect_words(const uint32_t *buffer, uint32_t count, uint32_t value, const char *file,
		  int line);

/* Captures a mark kernel that adds *USER to the first address, or 1 if USER is NULL. */
int capture_mark(void *user, void *stream, void *const *addresses);

/* Adds a slot of WORDS words and returns its number. */
uint32_t slot(struct dagpatch_recording *recording, const char *name);
/* Binds WORDS words at ADDRESS to SLOT. */
void bind(struct dagpatch_recording *recording, uint32_t slot, const void *address);
/* Adds a kernel node that computes slots[0] = slots[1] OP slots[2] over WORDS words. KERNEL is
 * BED_ADD or BED_MUL. Returns the node. */
uint32_t add_three(struct dagpatch_recording *recording, enum bed_kernel kernel,
		   const uint32_t slots[3], const struct dagpatch_after *after);
/* The strategy with which dagpatch must change a kernel node of a small graph under the suite's
 * settings. */
enum dagpatch_strategy expected_strategy(void);

/* A struct dagpatch_after of the listed nodes, valid until the end of the enclosing block. */
#define AFTER(...)                                                                                 \
	(&(struct dagpatch_after){(const uint32_t[]){__VA_ARGS__},                                 \
				  sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)})

/* Call before a case starts threads that assert, and after it has joined them. In between, a failed
 * assertion prints its message and aborts. Otherwise cmocka calls exit() for an assertion of
 * another thread than the case's: the message is lost, and calls of the driver on further threads
 * fail because the driver is being torn down (CUDA_ERROR_DEINITIALIZED), as if they had been
 * first. */
void threads_begin(void);
void threads_end(void);

/* False while cases run that start no threads, which threads_begin makes sure of: the
 * ThreadSanitizer build leaves them out where streams have none either (test_patch_suite.c). */
extern bool suite_may_start_threads;

#define SCENE(name) cmocka_unit_test_setup_teardown(name, scene_setup, scene_teardown)

/* Each runs the cases of one file (suite_NAME.c) and returns the number of failed cases. */
int suite_graphs(void);
int suite_copies(void);
int suite_conditionals(void);
int suite_no_conditionals(void); /* for drivers without conditional nodes */
int suite_captured(void);
int suite_refused(void);
int suite_addresses(void);
int suite_recapture(void);
int suite_adopted(void);
int suite_given(void);
int suite_into(void);
int suite_states(void);
int suite_devices(uint64_t seed, uint32_t rounds);
int suite_sets(void);
int suite_attributes(void);
int suite_random(uint64_t seed, uint32_t rebinds);

/* A random graph on the scene's device (suite_random.c). One thread at a time uses a world.
 * world_round binds new addresses, and compares the results with those of a fresh recording and
 * with those computed on the host. A new graph replaces the old one every WORLD_ROUNDS rounds. */
enum { WORLD_ROUNDS = 50 };
struct world;
struct world *world_create(struct scene *scene, uint64_t seed);
void world_round(struct world *world);
void world_destroy(struct world *world);

#endif
