/* The suite that runs on every driver and with every strategy: what its files share. */
#ifndef TESTS_PATCH_SUITE_H
#define TESTS_PATCH_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dagpatch/dagpatch.h>

#include "bed.h"

extern const struct bed *suite_bed;
extern enum dagpatch_strategy suite_strategy;
extern uint32_t suite_without; /* features of the model */

enum { WORDS = 64 };

/* One context, one stream, one recording; the recording is made anew by scene_again. */
struct scene {
	uint32_t device; /* the bed's, where all of it is */
	struct dagpatch_context *context;
	struct dagpatch_recording *recording;
	void *stream;
	bool is_shared; /* other threads work at the same time */
};

int scene_setup(void **state);
int scene_teardown(void **state);
void scene_again(struct scene *scene, uint32_t flags);
/* Asserts success and shows the recording's error otherwise. */
#define OK(recording, call) scene_ok(recording, call, #call, __FILE__, __LINE__)
void scene_ok(const struct dagpatch_recording *recording, int rc, const char *call,
	      const char *file, int line);
/* The call failed so, and the message has this in it. */
void scene_failed(const struct dagpatch_recording *recording, int rc, int code, const char *text);
/* Launches and waits. */
void scene_run(struct scene *scene);
/* The bed's own calls are made on the scene's device, whatever the thread has. Returns that, for
 * device_back. */
uint32_t scene_visit(const struct scene *scene);
void device_back(uint32_t device);
void scene_wait(const struct scene *scene);
void *scene_function(const struct scene *scene, enum bed_kernel kernel);

uint32_t *buffer(uint32_t value); /* WORDS of them, on the device */
void buffer_set(uint32_t *buffer, uint32_t value);
#define expect_all(buffer, value) expect_words(buffer, WORDS, value, __FILE__, __LINE__)
void expect_words(const uint32_t *buffer, uint32_t count, uint32_t value, const char *file,
		  int line);

/* A slot of WORDS words. */
uint32_t slot(struct dagpatch_recording *recording, const char *name);
void bind(struct dagpatch_recording *recording, uint32_t slot, const void *address);
/* c = a OP b over WORDS. */
uint32_t add_three(struct dagpatch_recording *recording, enum bed_kernel kernel,
		   const uint32_t slots[3], const struct dagpatch_after *after);
/* How a kernel node of a small graph is changed. */
enum dagpatch_strategy expected_strategy(void);

#define AFTER(...)                                                                                 \
	(&(struct dagpatch_after){(const uint32_t[]){__VA_ARGS__},                                 \
				  sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)})

#define SCENE(name) cmocka_unit_test_setup_teardown(name, scene_setup, scene_teardown)

int suite_graphs(void);
int suite_conditionals(void);
int suite_no_conditionals(void); /* of drivers without them */
int suite_captured(void);
int suite_addresses(void);
int suite_again(void);
int suite_adopted(void);
int suite_given(void);
int suite_into(void);
int suite_states(void);
int suite_devices(uint64_t seed);
int suite_sets(void);
int suite_attributes(void);
int suite_random(uint64_t seed, uint32_t rebinds);

/* A random graph on the scene's device (suite_random.c), for one thread at a time. A round binds it
 * anew and compares what it computes with a fresh recording and with what the host reckons. Each
 * round of so many begins with another graph. */
enum { WORLD_ROUNDS = 50 };
struct world;
struct world *world_create(struct scene *scene, uint64_t seed);
void world_round(struct world *world);
void world_destroy(struct world *world);

#endif
