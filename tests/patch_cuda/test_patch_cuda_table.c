/*
 * What a program observes of the rings of the CUDA driver's table, on the played libcuda and on a
 * GPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dagpatch/dagpatch.h>
#include <errno.h>
#include <string.h>

#include "../patch/bed.h"
#include "../patch/bed_cuda.h"
#include "patch/context.h"
#include "patch/cuda/cuda_driver.h"

#define PLACES	64
#define MANY	20000 /* more than the log has entries */
#define VERSION 3     /* replays for which the table has room: few, so that it fills */

struct scene {
	struct dagpatch_context *context;
	struct dagpatch_recording *recording;
	void *stream;
	uint32_t *flag;	  /* the first node waits for it */
	uint32_t *places; /* where the second node may write its mark, 256 bytes each */
};

static void set_flag(const struct scene *scene, uint32_t value)
{
	__atomic_store_n(scene->flag, value, __ATOMIC_RELEASE);
}

static uint32_t *place(const struct scene *scene, uint32_t number)
{
	return scene->places + 64 * (number % PLACES);
}

static void add_kernel(struct dagpatch_recording *recording, enum bed_kernel kernel, uint32_t slot,
		       uint32_t count, const struct dagpatch_after *after, uint32_t *ret_node)
{
	static const uint32_t value = 1;
	struct dagpatch_pointer pointer = {.slot = slot};
	struct dagpatch_argument arguments[] = {dagpatch_address(&pointer),
						dagpatch_value(&value, sizeof(value))};
	struct dagpatch_kernel params = {
		.size = sizeof(params),
		.function = bed_cuda.function(kernel),
		.grid = {1, 1, 1},
		.block = {32, 1, 1},
		.argument_count = count,
		.arguments = arguments,
	};

	assert_int_equal(dagpatch_add_kernel(recording, &params, after, ret_node), 0);
}

static void host_function(void *user)
{
	(*(uint32_t *)user)++;
}

static int setup_scene(void **state, uint32_t *host_calls)
{
	static struct scene scene;
	struct dagpatch_host host = {.size = sizeof(host), host_function, host_calls};
	struct dagpatch_options options = {
		.size = sizeof(options),
		.driver = "cuda",
		.strategy = DAGPATCH_DEVICE_TABLE,
		.table_versions = VERSION,
	};
	struct dagpatch_slot slots[] = {
		{.size = sizeof(*slots), .name = "flag", .bytes = 4, .on_host = 1},
		{.size = sizeof(*slots), .name = "place", .bytes = 256}};
	struct dagpatch_error error;
	uint32_t first, slot;

	if (dagpatch_context_create(&options, &scene.context, &error))
		fail_msg("%s", error.message);
	assert_int_equal(dagpatch_recording_create(scene.context, 0, &scene.recording), 0);
	assert_int_equal(dagpatch_slot_add(scene.recording, &slots[0], &slot), 0);
	assert_int_equal(dagpatch_slot_add(scene.recording, &slots[1], &slot), 0);
	add_kernel(scene.recording, BED_HOLD, 0, 1, NULL, &first);
	add_kernel(scene.recording, BED_MARK, 1, 2, &(struct dagpatch_after){&first, 1}, NULL);
	if (host_calls)
		assert_int_equal(dagpatch_add_host(scene.recording, &host, NULL, NULL), 0);
	assert_int_equal(dagpatch_finalize(scene.recording), 0);
	scene.stream = bed_cuda.stream_create();
	scene.flag = bed_cuda.alloc_host(256);
	scene.places = bed_cuda.alloc(PLACES * 256);
	*scene.flag = 1;
	assert_int_equal(dagpatch_bind(scene.recording, 0, scene.flag, 4), 0);
	*state = &scene;
	return 0;
}

static int setup(void **state)
{
	return setup_scene(state, NULL);
}

static uint32_t host_calls;

/* A graph with a host function, which a graph that the device can launch cannot have. */
static int setup_with_host_function(void **state)
{
	return setup_scene(state, &host_calls);
}

static int teardown(void **state)
{
	struct scene *scene = *state;

	/* Releases what a failed case left waiting. */
	set_flag(scene, 1);
	dagpatch_recording_destroy(scene->recording);
	dagpatch_context_destroy(scene->context);
	bed_cuda.stream_destroy(scene->stream);
	bed_cuda.free_host(scene->flag);
	bed_cuda.free(scene->places);
	return 0;
}

static void bind_place(struct scene *scene, uint32_t number)
{
	assert_int_equal(dagpatch_bind(scene->recording, 1, place(scene, number), 256), 0);
}

static void expect_marks(struct scene *scene, uint32_t number, uint32_t marks)
{
	uint32_t value;

	bed_cuda.stream_synchronize(scene->stream);
	bed_cuda.read(&value, place(scene, number), sizeof(value));
	assert_int_equal(value, marks);
}

static void expect_table_only(struct scene *scene)
{
	struct dagpatch_stats stats = {.size = sizeof(stats)};

	assert_int_equal(dagpatch_recording_stats(scene->recording, &stats), 0);
	assert_true(stats.uses[DAGPATCH_DEVICE_TABLE] > 0);
	assert_int_equal(stats.uses[DAGPATCH_SET_PARAMS], 0);
}

static struct {
	int (*query)(cuda_stream stream); /* the driver's function */
	uint32_t *flag;
	uint32_t count;
} asked;

/* The table queries its stream while it waits for a replay, and for nothing else. */
static int set_flag_when_asked(cuda_stream stream)
{
	asked.count++;
	__atomic_store_n(asked.flag, 1, __ATOMIC_RELEASE);
	return asked.query(stream);
}

static void a_full_table_waits_for_the_oldest_replay(void **state)
{
	struct scene *scene = *state;
	struct cuda_driver *cuda = cuda_of(scene->context->device);

	bind_place(scene, 0);
	assert_int_equal(dagpatch_launch(scene->recording, scene->stream), 0);
	bed_cuda.stream_synchronize(scene->stream);
	set_flag(scene, 0);
	asked.query = cuda->call.cuStreamQuery;
	asked.flag = scene->flag;
	asked.count = 0;
	cuda->call.cuStreamQuery = set_flag_when_asked;
	/* The table has room for that many while the first replay waits. */
	for (uint32_t i = 1; i < 1 + VERSION; i++) {
		bind_place(scene, i);
		assert_int_equal(dagpatch_launch(scene->recording, scene->stream), 0);
	}
	assert_int_equal(asked.count, 0);
	for (uint32_t i = 1 + VERSION; i < PLACES; i++) {
		bind_place(scene, i);
		assert_int_equal(dagpatch_launch(scene->recording, scene->stream), 0);
	}
	assert_true(asked.count > 0);
	for (uint32_t i = 0; i < PLACES; i++)
		expect_marks(scene, i, 1);
	expect_table_only(scene);
}

static void bindings_that_are_not_launched_leave_room(void **state)
{
	struct scene *scene = *state;

	bind_place(scene, 0);
	assert_int_equal(dagpatch_launch(scene->recording, scene->stream), 0);
	for (uint32_t i = 0; i < MANY; i++) {
		bind_place(scene, i);
		assert_int_equal(dagpatch_apply(scene->recording), 0);
	}
	assert_int_equal(dagpatch_launch(scene->recording, scene->stream), 0);
	expect_marks(scene, MANY - 1, 1);
	expect_marks(scene, 0, 1);
	expect_table_only(scene);
}

static void the_rings_go_round(void **state)
{
	struct scene *scene = *state;

	for (uint32_t i = 0; i < MANY; i++) {
		bind_place(scene, i);
		assert_int_equal(dagpatch_launch(scene->recording, scene->stream), 0);
	}
	for (uint32_t i = 0; i < PLACES; i++)
		expect_marks(scene, i, MANY / PLACES + (i < MANY % PLACES));
}

static void launches_in_turn_in_two_streams_each_have_their_own(void **state)
{
	struct scene *scene = *state;
	void *other = bed_cuda.stream_create();

	bind_place(scene, 0);
	assert_int_equal(dagpatch_launch(scene->recording, scene->stream), 0);
	bed_cuda.stream_synchronize(scene->stream);
	set_flag(scene, 0);
	/* No more replays than the table has room for while the first one waits. */
	for (uint32_t i = 1; i < 1 + VERSION; i++) {
		bind_place(scene, i);
		assert_int_equal(dagpatch_launch(scene->recording, i % 2 ? other : scene->stream),
				 0);
	}
	set_flag(scene, 1);
	bed_cuda.stream_synchronize(other);
	for (uint32_t i = 0; i < 1 + VERSION; i++)
		expect_marks(scene, i, 1);
	expect_table_only(scene);
	bed_cuda.stream_destroy(other);
}

static void a_graph_that_is_not_for_the_device_alone_is_updated_too(void **state)
{
	struct scene *scene = *state;

	host_calls = 0;
	for (uint32_t i = 0; i < PLACES; i++) {
		bind_place(scene, i);
		assert_int_equal(dagpatch_launch(scene->recording, scene->stream), 0);
		assert_int_equal(dagpatch_launch(scene->recording, scene->stream), 0);
	}
	for (uint32_t i = 0; i < PLACES; i++)
		expect_marks(scene, i, 2);
	assert_int_equal(host_calls, 2 * PLACES);
	expect_table_only(scene);
}

static void an_argument_that_the_host_sets_keeps_the_address(void **state)
{
	struct scene *scene = *state;
	uint32_t value = 7;

	bind_place(scene, 0);
	assert_int_equal(dagpatch_launch(scene->recording, scene->stream), 0);
	bind_place(scene, 1);
	assert_int_equal(dagpatch_launch(scene->recording, scene->stream), 0);
	assert_int_equal(dagpatch_set_argument(scene->recording, 1, 1, &value, sizeof(value)), 0);
	assert_int_equal(dagpatch_launch(scene->recording, scene->stream), 0);
	bind_place(scene, 2);
	assert_int_equal(dagpatch_launch(scene->recording, scene->stream), 0);
	expect_marks(scene, 0, 1);
	expect_marks(scene, 1, 8);
	expect_marks(scene, 2, 7);
}

/* A parameter that the kernel does not have is not tried on a GPU. */
static bool is_played(void)
{
	const char *name = "";

	bed_cuda_calls.cuGetErrorName(CUDA_INVALID_VALUE, &name);
	return !strcmp(name, "CUDA_ERROR_PLAYED");
}

static void what_the_device_refuses_is_an_error(void **state)
{
	struct scene *scene = *state;
	struct patch_device *device = scene->context->device;
	const struct patch_driver *driver = device->driver;
	struct patch_table_relocation relocation = {.byte = 4096};
	struct patch_table_plan plan = {&relocation, 1, 1};
	uint32_t *at = place(scene, 0), value = 1, slot = 0;
	uint64_t address = (uintptr_t)at;
	struct driver_graph *graph;
	struct driver_exec *exec;
	struct driver_table *table;
	struct driver_stream *stream;

	if (!is_played())
		skip();
	assert_int_equal(driver->capture_begin(device, &stream), 0);
	assert_int_equal(bed_cuda.launch(stream, BED_MARK, 1, 32, (void *[]){(void *)&at, &value}),
			 0);
	assert_int_equal(driver->capture_end(device, stream, &graph), 0);
	assert_int_equal(driver->graph_nodes(device, graph, &relocation.node, 1), 1);
	assert_int_equal(driver->table_create(device, graph, &plan, &table), 0);
	assert_int_equal(driver->instantiate(device, graph, false, &exec), 0);
	assert_int_equal(driver->table_attach(device, table, exec), 0);
	assert_int_equal(driver->table_bind(device, table, &slot, &address, 1), 0);
	assert_int_equal(driver->launch(device, exec, table, scene->stream), 0);
	bed_cuda.stream_synchronize(scene->stream);
	assert_int_equal(driver->launch(device, exec, table, scene->stream), -EIO);
	assert_string_equal(patch_fault_take().call, "cudaGraphKernelNodeSetParam");
	driver->exec_destroy(device, exec);
	driver->table_destroy(device, table);
	driver->graph_destroy(device, graph);
}

static void a_library_that_is_not_there_is_named(void **state)
{
	struct dagpatch_options options = {
		.size = sizeof(options), .driver = "cuda", .library = "/nowhere/libcuda.so.1"};
	struct dagpatch_context *context;
	struct dagpatch_error error;

	assert_int_equal(dagpatch_context_create(&options, &context, &error), -ENOENT);
	assert_non_null(strstr(error.message, "/nowhere/libcuda.so.1"));
}

static void another_library_is_told_from_a_driver(void **state)
{
	struct dagpatch_options options = {
		.size = sizeof(options), .driver = "cuda", .library = "libc.so.6"};
	struct dagpatch_context *context;
	struct dagpatch_error error;

	assert_int_equal(dagpatch_context_create(&options, &context, &error), -ENOENT);
	assert_non_null(strstr(error.message, "libc.so.6 has no cuInit"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_full_table_waits_for_the_oldest_replay, setup,
						teardown),
		cmocka_unit_test_setup_teardown(bindings_that_are_not_launched_leave_room, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_rings_go_round, setup, teardown),
		cmocka_unit_test_setup_teardown(launches_in_turn_in_two_streams_each_have_their_own,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_graph_that_is_not_for_the_device_alone_is_updated_too,
			setup_with_host_function, teardown),
		cmocka_unit_test_setup_teardown(an_argument_that_the_host_sets_keeps_the_address,
						setup, teardown),
		cmocka_unit_test_setup_teardown(what_the_device_refuses_is_an_error, setup,
						teardown),
		cmocka_unit_test(a_library_that_is_not_there_is_named),
		cmocka_unit_test(another_library_is_told_from_a_driver),
	};
	int err = bed_cuda.open();

	if (err)
		return err;
	err = cmocka_run_group_tests(tests, NULL, NULL);
	bed_cuda.close();
	return err;
}
