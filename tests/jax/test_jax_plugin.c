/*
 * The plugin of XLA's profiler, called through its table as XLA calls it: the arguments' first
 * member, and what a function is to return, hold garbage. The door to the recording is a table
 * that the test gives to libdagtap; it records the calls of it.
 */
#include <dagtap/jax.h>
#include <dagtap/trace.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "base/inject.h"
#include "jax/pjrt_profiler.h"
#include "scene.h"

#define GARBAGE ((size_t)0x5a5a5a5a5a5a5a5a)

attach_function dagtap_attach;

static char folder[TEST_PATH_BYTES];
static char recording[2 * TEST_PATH_BYTES];

static struct door {
	char calls[256]; /* of start and stop, in their order */
	bool refuses;	 /* start fails */
	bool is_recording;
	const char *path;
} door;

static int door_start(void)
{
	strcat(door.calls, "start ");
	door.is_recording = !door.refuses;
	return door.is_recording;
}

static void door_stop(void)
{
	strcat(door.calls, "stop ");
	door.is_recording = false;
}

static int door_is_recording(void)
{
	return door.is_recording;
}

static size_t door_path(char *ret_path, size_t room)
{
	if (room)
		snprintf(ret_path, room, "%s", door.path);
	return strlen(door.path);
}

static const struct inject_table table = {
	.bytes = sizeof(table),
	.start = door_start,
	.stop = door_stop,
	.is_recording = door_is_recording,
	.path = door_path,
};

static const struct pjrt_profiler_api *get_api(void)
{
	const struct pjrt_api *api = dagtap_jax_pjrt_api();

	return api->extensions->profiler_api;
}

static struct pjrt_profiler *create(void)
{
	struct pjrt_profiler_create args = {GARBAGE, "\x08\x01\x18\x01", 4, NULL};

	assert_null(get_api()->create(&args));
	assert_non_null(args.ret_profiler);
	return args.ret_profiler;
}

static void start(struct pjrt_profiler *profiler)
{
	struct pjrt_profiler_verb args = {GARBAGE, profiler};

	assert_null(get_api()->start(&args));
}

static void stop(struct pjrt_profiler *profiler)
{
	struct pjrt_profiler_verb args = {GARBAGE, profiler};

	assert_null(get_api()->stop(&args));
}

static void destroy(struct pjrt_profiler *profiler)
{
	struct pjrt_profiler_verb args = {GARBAGE, profiler};

	assert_null(get_api()->destroy(&args));
}

static struct pjrt_profiler_collect collect(struct pjrt_profiler *profiler)
{
	struct pjrt_profiler_collect args = {GARBAGE, profiler, NULL, GARBAGE};

	assert_null(get_api()->collect_data(&args));
	assert_non_null(args.buffer);
	return args;
}

static bool has_text(const struct pjrt_profiler_collect *profile, const char *text)
{
	return memmem(profile->buffer, profile->ret_bytes, text, strlen(text)) != NULL;
}

/* Reads the profile back with libdagtap-trace. */
static uint32_t count_activities(const struct pjrt_profiler_collect *profile)
{
	struct dagtap_error error = {.message = ""};
	char path[3 * TEST_PATH_BYTES];
	struct dagtap_trace *trace;
	uint32_t count;
	FILE *file;

	snprintf(path, sizeof(path), "%s/profile.xplane.pb", folder);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(profile->buffer, 1, profile->ret_bytes, file), profile->ret_bytes);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(dagtap_trace_open(path, &trace, &error), 0);
	count = dagtap_trace_count(trace, DAGTAP_TRACE_ACTIVITY);
	dagtap_trace_close(trace);
	unlink(path);
	return count;
}

static void the_table_is_laid_out_as_xla_reads_it(void **state)
{
	const struct pjrt_api *api = dagtap_jax_pjrt_api();
	const struct pjrt_profiler_extension *extension = api->extensions;
	void *const *words = (void *const *)(const void *)extension->profiler_api;

	assert_int_equal(api->size, 40);
	assert_int_equal(offsetof(struct pjrt_api, extensions), 8);
	assert_int_equal(extension->size, 40);
	assert_int_equal(extension->type, 1);
	assert_null(extension->next);
	assert_int_equal(offsetof(struct pjrt_profiler_extension, profiler_api), 24);
	assert_int_equal(extension->profiler_api->size, 80);
	/* error_destroy, error_message, error_get_code, create, destroy, start, stop,
	 * collect_data */
	for (unsigned i = 2; i < 10; i++)
		assert_non_null(words[i]);
	assert_int_equal(offsetof(struct pjrt_profiler_create, ret_profiler), 24);
	assert_int_equal(offsetof(struct pjrt_profiler_verb, profiler), 8);
	assert_int_equal(offsetof(struct pjrt_profiler_collect, buffer), 16);
	assert_int_equal(offsetof(struct pjrt_profiler_collect, ret_bytes), 24);
	assert_int_equal(offsetof(struct pjrt_error_message, ret_message), 24);
	assert_int_equal(offsetof(struct pjrt_error_message, ret_bytes), 32);
	assert_int_equal(offsetof(struct pjrt_error_get_code, ret_code), 24);
}

static void a_profile_is_a_capture_range(void **state)
{
	struct pjrt_profiler *profiler = create();
	struct pjrt_profiler_collect profile;

	assert_string_equal(door.calls, "");
	start(profiler);
	start(profiler);
	assert_string_equal(door.calls, "start ");
	stop(profiler);
	stop(profiler);
	profile = collect(profiler);
	assert_string_equal(door.calls, "start stop ");
	assert_int_equal(count_activities(&profile), 3);
	assert_true(has_text(&profile, "/device:GPU:0"));
	assert_true(has_text(&profile, "/host:ROCTRACER"));
	destroy(profiler);
}

static void a_recording_that_was_on_is_divided(void **state)
{
	struct pjrt_profiler *profiler = create();

	door.is_recording = true;
	start(profiler);
	assert_string_equal(door.calls, "stop start ");
	stop(profiler);
	assert_string_equal(door.calls, "stop start stop start ");
	destroy(profiler);
	assert_string_equal(door.calls, "stop start stop start ");
}

static void without_a_recording_the_profile_says_so(void **state)
{
	struct pjrt_profiler *profiler = create();
	struct pjrt_profiler_collect profile;

	door.refuses = true;
	start(profiler);
	stop(profiler);
	profile = collect(profiler);
	assert_true(has_text(&profile, "nothing was recorded"));
	assert_true(has_text(&profile, "/host:ROCTRACER"));
	assert_int_equal(count_activities(&profile), 0);
	assert_string_equal(door.calls, "start ");
	destroy(profiler);
	/* The next one is not kept from recording. */
	door.refuses = false;
	profiler = create();
	start(profiler);
	stop(profiler);
	profile = collect(profiler);
	assert_int_equal(count_activities(&profile), 3);
	destroy(profiler);
}

static void a_recording_that_cannot_be_read_is_said(void **state)
{
	struct pjrt_profiler *profiler = create();
	struct pjrt_profiler_collect profile;

	door.path = "/nowhere/\xc3\xa4.spool";
	start(profiler);
	stop(profiler);
	profile = collect(profiler);
	assert_true(has_text(&profile, "/nowhere/??.spool"));
	destroy(profiler);
}

static void of_two_profiles_at_a_time_one_records(void **state)
{
	struct pjrt_profiler *first = create(), *second = create();
	struct pjrt_profiler_collect profile;

	start(first);
	start(second);
	stop(second);
	assert_string_equal(door.calls, "start ");
	profile = collect(second);
	assert_true(has_text(&profile, "another profile"));
	profile = collect(first);
	assert_string_equal(door.calls, "start stop ");
	assert_int_equal(count_activities(&profile), 3);
	destroy(first);
	destroy(second);
}

static void what_was_never_started_says_so(void **state)
{
	struct pjrt_profiler *profiler = create();
	struct pjrt_profiler_collect profile;

	stop(profiler);
	profile = collect(profiler);
	assert_true(has_text(&profile, "never started"));
	assert_string_equal(door.calls, "");
	destroy(profiler);
}

static void destroying_ends_the_range(void **state)
{
	struct pjrt_profiler *profiler = create();

	start(profiler);
	destroy(profiler);
	assert_string_equal(door.calls, "start stop ");
}

static void a_buffer_of_the_caller_gets_the_same_bytes(void **state)
{
	struct pjrt_profiler *profiler = create();
	struct pjrt_profiler_collect profile, again, own = {GARBAGE, profiler, NULL, GARBAGE};
	struct pjrt_profiler_error *error;
	uint8_t none[1];

	start(profiler);
	stop(profiler);
	own.buffer = none;
	error = get_api()->collect_data(&own);
	assert_non_null(error);
	profile = collect(profiler);
	again = collect(profiler);
	assert_ptr_equal(profile.buffer, again.buffer);
	own.buffer = malloc(profile.ret_bytes);
	assert_null(get_api()->collect_data(&own));
	assert_int_equal(own.ret_bytes, profile.ret_bytes);
	assert_memory_equal(own.buffer, profile.buffer, profile.ret_bytes);
	free(own.buffer);
	destroy(profiler);
}

static void assert_error(struct pjrt_profiler_error *error)
{
	struct pjrt_error_get_code code = {GARBAGE, NULL, error, 0};
	struct pjrt_error_message message = {GARBAGE, NULL, error, NULL, GARBAGE};
	struct pjrt_error_destroy end = {GARBAGE, NULL, error};

	assert_non_null(error);
	assert_null(get_api()->error_get_code(&code));
	assert_int_equal(code.ret_code, PJRT_INVALID_ARGUMENT);
	get_api()->error_message(&message);
	assert_int_equal(message.ret_bytes, strlen(message.ret_message));
	assert_true(message.ret_bytes > 0);
	get_api()->error_destroy(&end);
}

static void incomplete_arguments_are_errors(void **state)
{
	const struct pjrt_profiler_api *api = get_api();
	struct pjrt_profiler_verb none = {GARBAGE, NULL};
	struct pjrt_profiler_collect no_profiler = {GARBAGE, NULL, NULL, GARBAGE};
	struct pjrt_error_get_code no_error = {GARBAGE, NULL, NULL, 0};
	struct pjrt_error_message no_message = {GARBAGE, NULL, NULL, NULL, GARBAGE};

	assert_error(api->create(NULL));
	assert_error(api->start(NULL));
	assert_error(api->start(&none));
	assert_error(api->stop(NULL));
	assert_error(api->stop(&none));
	assert_error(api->collect_data(NULL));
	assert_error(api->collect_data(&no_profiler));
	assert_error(api->destroy(NULL));
	assert_null(api->destroy(&none));
	assert_error(api->error_get_code(&no_error));
	api->error_message(&no_message);
	assert_int_equal(no_message.ret_bytes, 0);
	assert_string_equal(door.calls, "");
}

/* Two calls with a kernel each, and a kernel without a call. */
static int make_recording(void **state)
{
	struct scene scene;
	FILE *file;

	if (!mkdtemp(test_path(folder, "jax")))
		return -1;
	snprintf(recording, sizeof(recording), "%s/run.spool", folder);
	scene_init(&scene, 42);
	scene_run_calls(&scene, 2);
	scene_run(&scene, 0, 0, 1, 5);
	scene_close(&scene);
	file = fopen(recording, "wb");
	if (!file || fwrite(scene.image, 1, scene_bytes(&scene), file) != scene_bytes(&scene) ||
	    fclose(file) != 0)
		return -1;
	scene_release(&scene);
	dagtap_attach(&table);
	return 0;
}

static int remove_recording(void **state)
{
	unlink(recording);
	return rmdir(folder);
}

static int begin_case(void **state)
{
	door = (struct door){.path = recording};
	return 0;
}

#define JAX_CASE(name) cmocka_unit_test_setup(name, begin_case)

int main(void)
{
	const struct CMUnitTest tests[] = {
		JAX_CASE(the_table_is_laid_out_as_xla_reads_it),
		JAX_CASE(a_profile_is_a_capture_range),
		JAX_CASE(a_recording_that_was_on_is_divided),
		JAX_CASE(without_a_recording_the_profile_says_so),
		JAX_CASE(a_recording_that_cannot_be_read_is_said),
		JAX_CASE(of_two_profiles_at_a_time_one_records),
		JAX_CASE(what_was_never_started_says_so),
		JAX_CASE(destroying_ends_the_range),
		JAX_CASE(a_buffer_of_the_caller_gets_the_same_bytes),
		JAX_CASE(incomplete_arguments_are_errors),
	};

	return cmocka_run_group_tests(tests, make_recording, remove_recording);
}
