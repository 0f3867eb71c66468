/* The fixture and the helpers of the suite (suite.h). */
#include "suite.h"

#include <dagpatch/model.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct bed *suite_bed;
enum dagpatch_strategy suite_strategy;
uint32_t suite_without;
bool suite_may_start_threads = true;

/* The memory that the thread has allocated and not freed, the newest first. */
struct owned {
	void *memory;
	struct owned *next;
};

static _Thread_local struct owned *owned;

int scene_setup(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct dagpatch_error error;

	assert_non_null(scene);
	scene->older = owned;
	if (dagpatch_context_create(
		    &(struct dagpatch_options){.size = sizeof(struct dagpatch_options),
					       .driver = suite_bed->driver,
					       .strategy = suite_strategy,
					       /* by count, not by measured time */
					       .table_from_nodes = 64,
					       .verify = 1},
		    &scene->context, &error) < 0)
		fail_msg("%s", error.message);
	scene->device = suite_bed->device_count ? suite_bed->device_current() : 0;
	scene->stream = suite_bed->stream_create();
	scene_again(scene, 0);
	*state = scene;
	return 0;
}

int scene_teardown(void **state)
{
	struct scene *scene = *state;

	suite_bed->stream_synchronize(scene->stream);
	while (owned != scene->older)
		buffer_free(owned->memory);
	dagpatch_recording_destroy(scene->recording);
	dagpatch_context_destroy(scene->context);
	suite_bed->stream_destroy(scene->stream);
	if (scene->lacks_features)
		dagpatch_model_without(suite_without);
	free(scene);
	return 0;
}

void scene_again(struct scene *scene, uint32_t flags)
{
	dagpatch_recording_destroy(scene->recording);
	scene->recording = NULL;
	assert_int_equal(dagpatch_recording_create(scene->context, flags, &scene->recording), 0);
}

struct dagpatch_recording *scene_create(struct scene *scene, const struct dagpatch_options *given)
{
	struct dagpatch_options options = *given;

	options.size = sizeof(options);
	options.driver = suite_bed->driver;
	dagpatch_recording_destroy(scene->recording);
	scene->recording = NULL;
	dagpatch_context_destroy(scene->context);
	scene->context = NULL;
	OK(NULL, dagpatch_context_create(&options, &scene->context, NULL));
	scene_again(scene, 0);
	return scene->recording;
}

void scene_lack(struct scene *scene, uint32_t features)
{
	scene->lacks_features = true;
	dagpatch_model_without(suite_without | features);
}

void scene_ok(const struct dagpatch_recording *recording, int rc, const char *call,
	      const char *file, int line)
{
	if (rc >= 0)
		return;
	print_error("%s: %d: %s\n", call, rc,
		    recording ? dagpatch_recording_error(recording)->message : "");
	_fail(file, line);
}

void scene_failed(const struct dagpatch_recording *recording, int rc, int code, const char *text)
{
	const struct dagpatch_error *error = dagpatch_recording_error(recording);

	assert_int_equal(rc, code);
	assert_int_equal(error->code, code);
	if (!strstr(error->message, text))
		fail_msg("\"%s\" is not in \"%s\"", text, error->message);
}

void scene_run(struct scene *scene)
{
	OK(scene->recording, dagpatch_launch(scene->recording, scene->stream));
	scene_wait(scene);
}

struct dagpatch_stats stats_of(const struct dagpatch_recording *recording)
{
	struct dagpatch_stats stats = {.size = sizeof(stats)};

	OK(recording, dagpatch_recording_stats(recording, &stats));
	return stats;
}

uint32_t scene_visit(const struct scene *scene)
{
	uint32_t before = suite_bed->device_count ? suite_bed->device_current() : scene->device;

	if (before != scene->device)
		suite_bed->device_set(scene->device);
	return before;
}

void device_back(uint32_t device)
{
	if (suite_bed->device_count)
		suite_bed->device_set(device);
}

void scene_wait(const struct scene *scene)
{
	uint32_t before = scene_visit(scene);

	suite_bed->stream_synchronize(scene->stream);
	device_back(before);
}

void *scene_function(const struct scene *scene, enum bed_kernel kernel)
{
	uint32_t before = scene_visit(scene);
	void *function = suite_bed->function(kernel);

	device_back(before);
	return function;
}

void *device_memory(size_t bytes)
{
	struct owned *made = malloc(sizeof(*made));

	assert_non_null(made);
	*made = (struct owned){.memory = suite_bed->alloc(bytes), .next = owned};
	owned = made;
	return made->memory;
}

void buffer_free(void *memory)
{
	struct owned **at = &owned, *gone;

	while (*at && (*at)->memory != memory)
		at = &(*at)->next;
	gone = *at;
	assert_non_null(gone);
	*at = gone->next;
	free(gone);
	suite_bed->free(memory);
}

uint32_t *buffer(uint32_t value)
{
	uint32_t *made = device_memory(WORDS * sizeof(*made));

	buffer_set(made, value);
	return made;
}

void buffer_set(uint32_t *to, uint32_t value)
{
	uint32_t words[WORDS];

	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = value;
	suite_bed->write(to, words, sizeof(words));
}

void expect_words(const uint32_t *from, uint32_t count, uint32_t value, const char *file, int line)
{
	uint32_t words[WORDS];

	suite_bed->read(words, from, count * sizeof(*words));
	for (uint32_t i = 0; i < count; i++)
		if (words[i] != value) {
			print_error("word %u is %u, not %u\n", i, words[i], value);
			_fail(file, line);
		}
}

int capture_mark(void *user, void *stream, void *const *addresses)
{
	uint32_t value = user ? *(uint32_t *)user : 1;

	return suite_bed->launch(stream, BED_MARK, 1, 1, (void *[]){(void *)&addresses[0], &value})
		       ? -EIO
		       : 0;
}

uint32_t slot(struct dagpatch_recording *recording, const char *name)
{
	uint32_t number;

	OK(recording,
	   dagpatch_slot_add(recording,
			     &DAGPATCH_SIZED(slot, .name = name, .bytes = WORDS * sizeof(uint32_t)),
			     &number));
	return number;
}

void bind(struct dagpatch_recording *recording, uint32_t number, const void *address)
{
	OK(recording, dagpatch_bind(recording, number, address, WORDS * sizeof(uint32_t)));
}

uint32_t add_three(struct dagpatch_recording *recording, enum bed_kernel kernel,
		   const uint32_t slots[3], const struct dagpatch_after *after)
{
	uint32_t count = WORDS, node;
	struct dagpatch_pointer pointers[3] = {
		{.slot = slots[0], .access = DAGPATCH_WRITES},
		{.slot = slots[1], .access = DAGPATCH_READS},
		{.slot = slots[2], .access = DAGPATCH_READS},
	};
	struct dagpatch_argument arguments[] = {
		dagpatch_address(&pointers[0]),
		dagpatch_address(&pointers[1]),
		dagpatch_address(&pointers[2]),
		dagpatch_value(&count, sizeof(count)),
	};

	OK(recording,
	   dagpatch_add_kernel(recording,
			       &DAGPATCH_SIZED(kernel, .function = suite_bed->function(kernel),
					       .grid = {2, 1, 1}, .block = {WORDS / 2, 1, 1},
					       .argument_count = 4, .arguments = arguments),
			       after, &node));
	return node;
}

enum dagpatch_strategy expected_strategy(void)
{
	if (suite_strategy == DAGPATCH_UPDATE_GRAPH && (suite_without & DAGPATCH_MODEL_NO_UPDATE))
		return DAGPATCH_INSTANTIATE;
	return suite_strategy == DAGPATCH_AUTO ? DAGPATCH_SET_PARAMS : suite_strategy;
}

void threads_begin(void)
{
	assert_true(suite_may_start_threads);
	setenv("CMOCKA_TEST_ABORT", "1", 1);
}

void threads_end(void)
{
	unsetenv("CMOCKA_TEST_ABORT");
}
