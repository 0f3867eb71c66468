/*
 * Critical paths that go from one rank to another, worked out by hand.
 *
 * rank 0   [500 gemm 1000)[1000  all-reduce  3000)   [4000  all-gather 5000)
 * rank 1   [500      gemm      2000)[2000 a-r 3000)     [4100 a-gather 5000)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/path_jumps.h"
#include "analyze/path_report.h"
#include "collective_scene.h"
#include "trace/create.h"

/* The next number of the generator (splitmix64). */
static uint64_t next_random(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* A step that is expected. */
struct expected {
	enum path_kind kind;
	uint32_t process;
	int64_t begin_ns;
};

static struct dependencies deps;
static struct path_jumps jumps;
static struct path path;
static struct path_report report;

static void play(enum scene_api second, uint64_t error_ns)
{
	scene_create();
	for (uint32_t rank = 0; rank < 2; rank++) {
		scene_process(rank ? "another" : "one");
		scene_run("gemm", TRACE_NONE, 100, 500, rank ? 2000 : 1000);
		scene_operate(ALL_REDUCE, 1000, FLOAT32, 1, 120, rank ? 2000 : 1000, 3000);
		scene_operate(second, 1000, FLOAT16, 2, 160, rank ? 4100 : 4000, 5000);
	}
	scene_merge(error_ns);
}

static void find(void)
{
	struct path_windows windows = {0};
	const struct path_query query = {.begin_ns = INT64_MIN, .end_ns = INT64_MAX};

	assert_int_equal(trace_seal(scene_trace), 0);
	assert_int_equal(dependencies_make(scene_trace, &deps), 0);
	assert_int_equal(path_jumps_find(&deps, &jumps), 0);
	assert_int_equal(path_windows_find(scene_trace, &query, &windows), 0);
	assert_int_equal(windows.count, 1);
	assert_int_equal(path_find_across(&deps, &jumps, &windows.rows[0], &path), 0);
	path_report_init(&report, &deps);
	assert_int_equal(path_report_add(&report, &windows, 0, &path), 0);
	path_report_finish(&report);
	path_windows_release(&windows);
}

/* Compares the last COUNT steps, the last first. */
static void expect(const struct expected *steps, uint32_t count)
{
	assert_true(path.count >= count);
	for (uint32_t i = 0; i < count; i++) {
		const struct path_step *step = &path.steps[path.count - 1 - i];

		assert_int_equal(step->kind, steps[i].kind);
		assert_int_equal(step->begin_ns, steps[i].begin_ns);
		assert_int_equal(scene_trace->activities[step->activity].process, steps[i].process);
	}
}

static int leave(void **state)
{
	path_report_release(&report);
	path_release(&path);
	path_jumps_release(&jumps);
	dependencies_release(&deps);
	trace_close(scene_trace);
	return 0;
}

static void the_path_goes_to_the_last_rank(void **state)
{
	const struct path_step *last;

	play(ALL_GATHER, 50);
	find();
	expect((struct expected[]){{PATH_KERNEL, 0, 4100},
				   {PATH_DISPATCH, 1, 3000},
				   {PATH_KERNEL, 1, 2000},
				   {PATH_KERNEL, 1, 500}},
	       4);
	last = &path.steps[path.count - 1];
	assert_int_equal(last->cause, DEPENDENCY_COLLECTIVE);
	assert_int_equal(scene_trace->activities[last->from].process, 1);
	assert_int_equal(scene_trace->activities[last->from].start_ns, 4100);
	assert_int_equal(last->lead_ns, 100);
	assert_int_equal(jumps.unsure, 0);
	assert_int_equal(jumps.rows_count, 2);
	assert_in_range(jumps.worst_error_ns, 50, 52);
}

/* By 100 ns, of which 200 may be wrong, rank 1 was not surely later. By 1000 it was. */
static void the_path_stays_if_the_clocks_do_not_tell(void **state)
{
	play(ALL_GATHER, 200);
	find();
	expect((struct expected[]){{PATH_KERNEL, 0, 4000},
				   {PATH_DISPATCH, 0, 3000},
				   {PATH_KERNEL, 0, 2000},
				   {PATH_KERNEL, 1, 500}},
	       4);
	assert_int_equal(path.steps[path.count - 3].cause, DEPENDENCY_COLLECTIVE);
	assert_int_equal(path.steps[path.count - 3].lead_ns, 1000);
	assert_int_equal(jumps.unsure, 1);
	assert_int_equal(jumps.rows_count, 1);
}

static void the_report_has_the_time_on_each_rank(void **state)
{
	int64_t total_ns = 0;

	play(ALL_GATHER, 200);
	find();
	assert_int_equal(report.processes_count, 2);
	assert_int_equal(report.processes[0].last, 0);
	assert_int_equal(report.processes[1].last, 1);
	assert_int_equal(report.processes[1].held_up_ns, 1000);
	assert_true(report.processes[0].total_ns >= 3000);
	assert_true(report.processes[1].total_ns >= 1500);
	for (uint32_t i = 0; i < 2; i++)
		total_ns += report.processes[i].total_ns;
	assert_int_equal(total_ns, report.total_ns);
	assert_int_equal(report.waits_count, 1);
	assert_int_equal(report.waits[0].cause, DEPENDENCY_COLLECTIVE);
	assert_int_equal(report.waits[0].total_ns, 1000);
}

/* The gap before the all-gather of rank 1, whose kernel is on the path as rank 0's. */
static void the_gap_before_a_jump_is_the_last_rank_s(void **state)
{
	const struct path_segment *row;

	play(ALL_GATHER, 50);
	find();
	row = &report.segments[report.segments_count - 2];
	assert_int_equal(scene_trace->activities[row->activity].process, 1);
	assert_int_equal(row->begin_ns, 3000);
	assert_int_equal(row->end_ns, 4100);
	assert_int_equal(row->gap_ns, 1100);
	row = &report.segments[report.segments_count - 1];
	assert_int_equal(scene_trace->activities[row->activity].process, 0);
	assert_int_equal(row->begin_ns, 4100);
	assert_int_equal(row->cause, DEPENDENCY_COLLECTIVE);
}

/* Ranks whose kernels start and end at any time, also before other ranks have begun, as on clocks
 * that are wrong, and groups of two operations that share a kernel. */
static void play_random(uint64_t seed)
{
	enum { RANKS = 4, OPERATIONS = 30 };

	scene_create();
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		int64_t ns = 0;

		scene_process("one");
		for (uint32_t i = 0; i < OPERATIONS; i++) {
			int64_t start_ns = 5000 + ns + (int64_t)(next_random(&seed) % 90);
			uint32_t end;

			scene_call(GROUP_START, TRACE_NONE, ns, ns + 1);
			scene_operation(ALL_REDUCE, 8, FLOAT32, i + 1, ns + 2, ID);
			if (next_random(&seed) % 2)
				scene_operation(ALL_GATHER, 8, FLOAT32, i + 1, ns + 25, ID + 1);
			end = scene_call(GROUP_END, TRACE_NONE, ns + 50, ns + 60);
			scene_run("ncclDevKernel_Operation(ncclDevKernelArgs)", end, ns + 51,
				  start_ns, start_ns + (int64_t)(next_random(&seed) % 200));
			ns += 100;
		}
	}
}

static void each_path_covers_its_window(void **state)
{
	int jumped = 0;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		int64_t ns;

		play_random(seed);
		find();
		ns = path.steps[0].begin_ns;
		for (uint32_t i = 0; i < path.count; i++) {
			assert_int_equal(path.steps[i].begin_ns, ns);
			assert_true(path.steps[i].end_ns > ns);
			ns = path.steps[i].end_ns;
			jumped += path.steps[i].cause == DEPENDENCY_COLLECTIVE;
		}
		assert_int_equal(ns - path.steps[0].begin_ns, report.total_ns);
		if (seed < 200)
			leave(state);
	}
	assert_in_range(jumped, 1000, 200 * 120);
}

/* A send needs its receiver alone, and ranks do not number them equally. */
static void only_ranks_that_wait_for_all_are_followed(void **state)
{
	play(SEND, 50);
	find();
	assert_int_equal(jumps.rows_count, 1);
	expect((struct expected[]){{PATH_KERNEL, 0, 4000}, {PATH_DISPATCH, 0, 3000}}, 2);
}

static void without_jumps_the_path_is_the_rank_s_own(void **state)
{
	struct path own;

	play(ALL_GATHER, INT64_MAX);
	find();
	assert_int_equal(jumps.rows_count, 0);
	assert_int_equal(
		path_find(&deps,
			  &(struct path_window){100, 5000, TRACE_NONE, TRACE_NONE,
						path.steps[path.count - 1].activity, TRACE_NONE},
			  &own),
		0);
	assert_int_equal(own.count, path.count);
	for (uint32_t i = 0; i < own.count; i++)
		assert_memory_equal(&own.steps[i], &path.steps[i], sizeof(own.steps[i]));
	path_release(&own);
}

#define CASE(name) cmocka_unit_test_teardown(name, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_path_goes_to_the_last_rank),
		CASE(the_path_stays_if_the_clocks_do_not_tell),
		CASE(the_report_has_the_time_on_each_rank),
		CASE(the_gap_before_a_jump_is_the_last_rank_s),
		CASE(each_path_covers_its_window),
		CASE(only_ranks_that_wait_for_all_are_followed),
		CASE(without_jumps_the_path_is_the_rank_s_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
