/*
 * Facts that other tools lose between recording and rows. The cases have the names of the list of
 * such tests. More of that list is in test_trace_waits.c (events), test_trace_naming.c (replays),
 * test_trace_ledger.c (drops), test_trace_clock.c and test_trace_join.c (sizes of copies).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event_scene.h"
#include "trace/ledger/ledger.h"
#include "trace/load.h"

/* One launch with many kernels: all have the launch's id, and none has another launch's. */
static void graph_launch_one_to_n(void **state)
{
	enum { EXEC = 31, NODES = 40, REPLAYS = 3 };
	uint64_t functions[NODES];
	uint32_t grids[NODES];
	struct scene *scene = *state;
	struct trace *trace;

	for (uint32_t i = 0; i < NODES; i++) {
		functions[i] = 0x101 + i % 2;
		grids[i] = 1 + i;
	}
	scene_graph(scene, 7, EXEC, NODES, functions, grids);
	for (uint64_t replay = 0; replay < REPLAYS; replay++) {
		uint64_t cid = scene_call(scene, SCENE_GRAPH_LAUNCH, NODES, (uint64_t[]){1, 0}, 2);

		scene_graph_launch(scene, EXEC, replay, cid);
		for (uint32_t i = 0; i < NODES; i++)
			scene_run(scene, cid, i, 1 + i % 2, grids[i]);
	}
	trace = event_scene_load(scene);
	assert_int_equal(trace->calls_count, REPLAYS);
	assert_int_equal(trace->launches_count, REPLAYS);
	assert_int_equal(trace->activities_count, REPLAYS * NODES);
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		assert_int_equal(row->call, i / NODES);
		assert_int_equal(row->cid, trace->calls[i / NODES].cid);
		assert_int_equal(row->ordinal, i % NODES);
		assert_int_equal(row->launch, trace->calls[i / NODES].launch);
		assert_int_equal(trace->nodes[row->node].index, i % NODES);
	}
	assert_true(ledger_is_closed(trace));
}

/*
 * Kernels that began before the recording, or had not ended at its end, or both: they are in the
 * trace, with the times that the device gave.
 */
static void window_boundary_kernel_kept(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cid, early, late;

	cid = scene_call(scene, SCENE_LAUNCH_KERNEL, 3, (uint64_t[]){0x101, 0}, 2);
	early = scene_dispatch(scene, cid, 0, 1, 1);
	late = scene_dispatch(scene, cid, 1, 1, 1);
	scene_dispatch(scene, cid, 2, 1, 1);
	scene_done(scene, early, 20, 100000);
	scene_done(scene, late, 300, 100000000);
	trace = event_scene_load(scene);
	assert_int_equal(trace->activities_count, 3);
	assert_int_equal(trace->activities[0].start_ns, 700);
	assert_true(trace->activities[0].start_ns < trace->processes[0].start_ns);
	assert_int_equal(trace->activities[1].start_ns, 3500);
	assert_int_equal(trace->activities[1].end_ns, 1000000500);
	assert_true(trace->activities[1].end_ns > trace->processes[0].end_ns);
	assert_int_not_equal(trace->activities[2].untimed, RECORD_UNTIMED_NO);
	assert_int_equal(trace->calls[0].activity_count, 3);
}

/* This launch call counts work-items, others count blocks; the device gets the same grid. */
static void grid_in_blocks_for_ext_module_launch(void **state)
{
	struct record_dispatch dispatch = {
		.kernel = 1,
		.grid = {65536, 2, 1},
		.workgroup = {256, 1, 1},
	};
	struct scene *scene = *state;
	struct trace *trace;

	dispatch.cid = EVENT_CALL(scene, .function = EVENT_FUNCTION_EXT_MODULE_LAUNCH,
				  .activities = 1, .args = {65536, 256, 0, 0});
	scene_put(scene, 0, RECORD_DISPATCH, 1, &dispatch, sizeof(dispatch));
	scene_done(scene, 0, 100, 200);
	dispatch.cid = scene_call(scene, SCENE_LAUNCH_KERNEL, 1, (uint64_t[]){0x101, 0}, 2);
	dispatch.packet_index = 1;
	scene_put(scene, 0, RECORD_DISPATCH, 1, &dispatch, sizeof(dispatch));
	scene_done(scene, 1, 300, 400);
	trace = event_scene_load(scene);
	assert_int_equal(trace->activities_count, 2);
	assert_int_equal(trace->activities[0].work, trace->activities[1].work);
	assert_int_equal(trace_work_of(trace, &trace->activities[0])->grid[0], 65536);
	assert_int_equal(trace_work_of(trace, &trace->activities[0])->workgroup[0], 256);
}

/* A recording with calls only is a trace, too. */
static void runtime_only_capture_not_empty(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, CREATE, 0xe100);
	CALL(scene, RECORD, 0xe100, 0);
	CALL(scene, DEVICE_SYNC, 0);
	trace = event_scene_load(scene);
	assert_int_equal(trace->activities_count, 0);
	assert_int_equal(trace->calls_count, 3);
	assert_int_equal(trace->event_records_count, 1);
	assert_int_equal(trace->waits_count, 1);
	assert_int_equal(trace->streams_count, 1);
	assert_true(ledger_is_closed(trace));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVENT_CASE(graph_launch_one_to_n),
		EVENT_CASE(window_boundary_kernel_kept),
		EVENT_CASE(grid_in_blocks_for_ext_module_launch),
		EVENT_CASE(runtime_only_capture_not_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
