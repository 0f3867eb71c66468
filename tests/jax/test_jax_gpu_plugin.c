/*
 * The guard of the profiler of XLA's plugin for GPUs, with a plugin of the test's own. Its profiler
 * behaves as XLA's does: it starts its recorder of host events, which only one profiler can have,
 * and then its tracer of GPUs, if the options ask for it; destroying stops the recorder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "jax/gpu_plugin.h"

#define GARBAGE ((size_t)0x5a5a5a5a5a5a5a5a)

struct pjrt_profiler {
	bool has_recorder;
	bool has_tracer;
};

struct pjrt_profiler_error {
	bool exists;
};

static struct plugin {
	bool tracer_fails;
	bool create_fails;
	bool recorder_is_taken;
	unsigned profilers, starts, tracer_starts;
	unsigned others_starts, others_before; /* of the other profiler; before the first start */
	struct pjrt_profiler_error error;
	char options[16]; /* of the last create */
	size_t options_bytes;
} plugin;

static struct pjrt_profiler_error *make_error(void)
{
	assert_false(plugin.error.exists);
	plugin.error.exists = true;
	return &plugin.error;
}

static void destroy_error(struct pjrt_error_destroy *args)
{
	assert_ptr_equal(args->error, &plugin.error);
	plugin.error.exists = false;
}

static struct pjrt_profiler_error *create(struct pjrt_profiler_create *args)
{
	if (plugin.create_fails)
		return make_error();
	assert_true(args->options_bytes <= sizeof(plugin.options));
	plugin.options_bytes = args->options_bytes;
	memcpy(plugin.options, args->options, args->options_bytes);
	args->ret_profiler = calloc(1, sizeof(*args->ret_profiler));
	assert_non_null(args->ret_profiler);
	/* The tests ask for a tracer, and the guard leaves it out by what it appends. */
	args->ret_profiler->has_tracer = args->options_bytes == 4;
	plugin.profilers++;
	return NULL;
}

static struct pjrt_profiler_error *start(struct pjrt_profiler_verb *args)
{
	if (args->profiler->has_recorder)
		return NULL;
	if (!plugin.starts++)
		plugin.others_before = plugin.others_starts;
	if (plugin.recorder_is_taken)
		return make_error();
	plugin.recorder_is_taken = true;
	args->profiler->has_recorder = true;
	plugin.tracer_starts += args->profiler->has_tracer;
	return args->profiler->has_tracer && plugin.tracer_fails ? make_error() : NULL;
}

static struct pjrt_profiler_error *destroy(struct pjrt_profiler_verb *args)
{
	if (args->profiler->has_recorder)
		plugin.recorder_is_taken = false;
	free(args->profiler);
	plugin.profilers--;
	return NULL;
}

/* A table, and a PJRT_Api with the extensions that a plugin for GPUs has. */
#define TABLE                                                                                      \
	{                                                                                          \
		.size = 104, .error_destroy = destroy_error, .create = create, .destroy = destroy, \
		.start = start                                                                     \
	}

/* XLA's table has functions behind those that are known. */
struct long_table {
	struct pjrt_profiler_api api;
	void *more[3];
};

static struct long_table table = {.api = TABLE}, other_table = {.api = TABLE};
static const struct long_table fixed_table = {.api = TABLE};

static const struct pjrt_profiler_extension gpu_extension = {.size = 33,
							     .type = PJRT_EXTENSION_GPU};

static void start_other(void)
{
	plugin.others_starts++;
}

static int guard(const struct long_table *of, const void *behind)
{
	struct pjrt_profiler_extension extension = {
		.size = sizeof(extension),
		.type = PJRT_EXTENSION_PROFILER,
		.next = behind,
		.profiler_api = &of->api,
	};
	struct pjrt_api api = {.size = sizeof(api), .extensions = &extension};

	return gpu_plugin_guard_api(&api, start_other);
}

static struct pjrt_profiler *create_as_xla(void)
{
	struct pjrt_profiler_create args = {GARBAGE, "\x10\x02\x18\x01", 4, NULL};

	assert_null(table.api.create(&args));
	assert_non_null(args.ret_profiler);
	return args.ret_profiler;
}

static void start_as_xla(struct pjrt_profiler *profiler)
{
	struct pjrt_profiler_verb args = {GARBAGE, profiler};

	assert_null(table.api.start(&args));
}

static void destroy_as_xla(struct pjrt_profiler *profiler)
{
	struct pjrt_profiler_verb args = {GARBAGE, profiler};

	assert_null(table.api.destroy(&args));
	assert_int_equal(plugin.profilers, 0);
	assert_false(plugin.recorder_is_taken);
}

static void a_plugin_that_is_not_for_gpus_stays_as_it_is(void **state)
{
	struct pjrt_api empty = {.size = sizeof(empty)};

	assert_false(guard(&table, NULL));
	assert_false(gpu_plugin_guard_api(&empty, start_other));
	assert_ptr_equal(table.api.create, create);
}

static void a_table_that_cannot_be_written_stays_as_it_is(void **state)
{
	assert_false(guard(&fixed_table, &gpu_extension));
	assert_ptr_equal(fixed_table.api.create, create);
}

static void one_plugin_is_guarded(void **state)
{
	assert_true(guard(&table, &gpu_extension));
	assert_true(guard(&table, &gpu_extension));
	assert_ptr_not_equal(table.api.create, create);
	assert_ptr_equal(table.api.start, start);
	assert_false(guard(&other_table, &gpu_extension));
	assert_ptr_equal(other_table.api.create, create);
}

static void a_tracer_that_starts_is_used(void **state)
{
	struct pjrt_profiler *profiler = create_as_xla();

	start_as_xla(profiler);
	assert_int_equal(plugin.starts, 1);
	assert_int_equal(plugin.tracer_starts, 1);
	assert_int_equal(plugin.others_before, 1);
	assert_memory_equal(plugin.options, "\x10\x02\x18\x01", 4);
	assert_true(plugin.recorder_is_taken);
	destroy_as_xla(profiler);
}

static void without_the_tracer_the_recorder_runs(void **state)
{
	struct pjrt_profiler *profiler;

	plugin.tracer_fails = true;
	profiler = create_as_xla();
	assert_int_equal(plugin.profilers, 1);
	assert_false(plugin.recorder_is_taken);
	start_as_xla(profiler);
	assert_true(plugin.recorder_is_taken);
	assert_int_equal(plugin.tracer_starts, 1);
	assert_int_equal(plugin.others_before, 1);
	/* host_tracer_level is kept; device_tracer_level is 0, device_type CPU. */
	assert_int_equal(plugin.options_bytes, 8);
	assert_memory_equal(plugin.options, "\x10\x02\x18\x01\x18\x00\x30\x01", 8);
	assert_false(plugin.error.exists);
	destroy_as_xla(profiler);
}

static void an_error_of_the_plugin_is_passed_on(void **state)
{
	struct pjrt_profiler_create args = {GARBAGE, "", 0, NULL};

	plugin.create_fails = true;
	assert_ptr_equal(table.api.create(&args), &plugin.error);
	assert_null(args.ret_profiler);
	assert_int_equal(plugin.starts, 0);
}

static int begin_case(void **state)
{
	plugin = (struct plugin){.tracer_fails = false};
	return 0;
}

#define GUARD_CASE(name) cmocka_unit_test_setup(name, begin_case)

int main(void)
{
	/* In this order: a plugin that is guarded stays so. */
	const struct CMUnitTest tests[] = {
		GUARD_CASE(a_plugin_that_is_not_for_gpus_stays_as_it_is),
		GUARD_CASE(a_table_that_cannot_be_written_stays_as_it_is),
		GUARD_CASE(one_plugin_is_guarded),
		GUARD_CASE(a_tracer_that_starts_is_used),
		GUARD_CASE(without_the_tracer_the_recorder_runs),
		GUARD_CASE(an_error_of_the_plugin_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
