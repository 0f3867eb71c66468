/* Totals and groups of a trace made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/summary.h"
#include "trace/occupancy.h"

enum { TEXT_EMPTY, TEXT_A, TEXT_B, TEXT_STEP, TEXT_LAYER, TEXT_CALL };

static const char *texts[] = {"", "a", "b", "step", "layer", "hipLaunchKernel"};

static struct trace_process process = {.pid = 9};

/*
 * Two pushes of "step", each with a "layer" in it: four scopes, two paths. The second "layer" comes
 * before its parent in the array.
 */
static struct trace_scope scopes[] = {
	{.id = 1, .parent = TRACE_NONE, .text = TEXT_STEP},
	{.id = 2, .parent = 0, .text = TEXT_LAYER},
	{.id = 3, .parent = 3, .text = TEXT_LAYER},
	{.id = 4, .parent = TRACE_NONE, .text = TEXT_STEP},
};

static struct trace_graph graphs[] = {{.id = 5, .parent = TRACE_NONE}};
static struct trace_exec execs[] = {{.id = 6, .graph = 0}, {.id = 7, .graph = TRACE_NONE}};
static struct trace_launch launches[] = {{.exec = 0}, {.exec = 1}};
static struct trace_stream streams[] = {{.agent = TRACE_NONE}};
static struct trace_api apis[] = {{.name = TEXT_CALL}};
static struct trace_call calls[] = {{.begin_ns = 10, .end_ns = 15}, {.begin_ns = 20, .end_ns = 27}};

#define NOWHERE .call = TRACE_NONE, .stream = TRACE_NONE, .node = TRACE_NONE, .agent = TRACE_NONE

enum work { WORK_A, WORK_B, WORK_COPY, WORK_MEMSET };

static struct trace_work works[] = {
	[WORK_A] = {.name = TEXT_A},
	[WORK_B] = {.name = TEXT_B},
	[WORK_COPY] = {.kind = TRACE_COPY, .bytes = 64, .direction = TRACE_H2D},
	[WORK_MEMSET] = {.kind = TRACE_MEMSET},
};

static struct trace_activity activities[] = {
	{.work = WORK_A, .start_ns = 100, .end_ns = 110, .scope = 1, .launch = TRACE_NONE, NOWHERE},
	{.work = WORK_A,
	 .start_ns = 200,
	 .end_ns = 230,
	 .scope = 2,
	 .launch = 0,
	 .stream = 0,
	 .agent = TRACE_NONE,
	 .node = TRACE_NONE},
	{.work = WORK_B,
	 .start_ns = 300,
	 .end_ns = 305,
	 .scope = 3,
	 .launch = 1,
	 .stream = 0,
	 .agent = TRACE_NONE,
	 .node = TRACE_NONE},
	{.work = WORK_B,
	 .untimed = RECORD_UNTIMED_ZERO_TICK,
	 .scope = TRACE_NONE,
	 .launch = TRACE_NONE,
	 NOWHERE},
	{.work = WORK_COPY,
	 .start_ns = 90,
	 .end_ns = 95,
	 .scope = TRACE_NONE,
	 .launch = TRACE_NONE,
	 NOWHERE},
	{.work = WORK_MEMSET,
	 .start_ns = 400,
	 .end_ns = 402,
	 .scope = TRACE_NONE,
	 .launch = 0,
	 NOWHERE},
};

static const struct trace trace = {
	.strings = texts,
	.strings_count = 6,
	.processes = &process,
	.processes_count = 1,
	.scopes = scopes,
	.scopes_count = 4,
	.works = works,
	.works_count = 4,
	.graphs = graphs,
	.graphs_count = 1,
	.execs = execs,
	.execs_count = 2,
	.launches = launches,
	.launches_count = 2,
	.streams = streams,
	.streams_count = 1,
	.apis = apis,
	.apis_count = 1,
	.calls = calls,
	.calls_count = 2,
	.activities = activities,
	.activities_count = 6,
};

static void totals_count_kinds(void **state)
{
	struct summary_totals totals = summary_count(&trace);

	assert_int_equal(totals.kernels, 4);
	assert_int_equal(totals.graph_kernels, 2);
	assert_int_equal(totals.copies, 1);
	assert_int_equal(totals.memsets, 1);
	assert_int_equal(totals.api_calls, 2);
	assert_int_equal(totals.graph_launches, 2);
	assert_int_equal(totals.untimed, 1);
	assert_int_equal(totals.orphans, 4);
	assert_int_equal(totals.copied_bytes, 64);
	assert_int_equal(totals.kernel_ns, 45);
	assert_int_equal(totals.begin_ns, 90);
	assert_int_equal(totals.end_ns, 402);
}

static void kernels_come_longest_first(void **state)
{
	struct summary_table table;

	assert_int_equal(summary_make(&trace, SUMMARY_BY_KERNEL, &table), 0);
	assert_int_equal(table.count, 2);
	assert_string_equal(table.rows[0].name, "a");
	assert_int_equal(table.rows[0].tally.count, 2);
	assert_int_equal(table.rows[0].tally.total_ns, 40);
	assert_int_equal(table.rows[0].tally.min_ns, 10);
	assert_int_equal(table.rows[0].tally.max_ns, 30);
	assert_string_equal(table.rows[1].name, "b");
	assert_int_equal(table.rows[1].tally.count, 2);
	assert_int_equal(table.rows[1].tally.timed, 1);
	assert_int_equal(table.rows[1].tally.total_ns, 5);
	summary_release(&table);
}

/* One kernel with two configurations: all warps fit for 30 ns, 8 of 64 for 10 ns. */
static void a_kernel_has_its_mean_occupancy(void **state)
{
	static const char *const strings[] = {"", "a", "sm_90"};
	static struct trace_agent agent = {.name = 2};
	static struct trace_work both[] = {
		{.name = TEXT_A, .workgroup = {256, 1, 1}, .registers = 32},
		{.name = TEXT_A, .workgroup = {16, 16, 1}, .registers = 255},
	};
	static struct trace_activity rows[] = {
		{.work = 0, .start_ns = 0, .end_ns = 30},
		{.work = 1, .start_ns = 40, .end_ns = 50},
		{.work = 1, .untimed = RECORD_UNTIMED_ZERO_TICK},
	};
	const struct trace one = {
		.strings = (const char **)strings,
		.strings_count = 3,
		.agents = &agent,
		.agents_count = 1,
		.works = both,
		.works_count = 2,
		.activities = rows,
		.activities_count = 3,
	};
	struct summary_table table;

	assert_int_equal(summary_make(&one, SUMMARY_BY_KERNEL, &table), 0);
	assert_true(table.rows[0].occupancy == 0.78125);
	assert_int_equal(table.rows[0].occupancy_limits,
			 1u << OCCUPANCY_WAVES | 1u << OCCUPANCY_REGISTERS);
	summary_release(&table);
	assert_int_equal(summary_make(&trace, SUMMARY_BY_KERNEL, &table), 0);
	assert_int_equal(table.rows[0].occupancy_limits, 0);
	summary_release(&table);
}

static void copies_are_told_by_direction(void **state)
{
	struct summary_table table;

	assert_int_equal(summary_make(&trace, SUMMARY_BY_COPY, &table), 0);
	assert_int_equal(table.count, 2);
	assert_string_equal(table.rows[0].name, "copy host to device");
	assert_int_equal(table.rows[0].bytes, 64);
	assert_string_equal(table.rows[1].name, "memset");
	summary_release(&table);
}

static void pushes_of_one_path_are_one_row(void **state)
{
	struct summary_table table;

	assert_int_equal(summary_make(&trace, SUMMARY_BY_SCOPE, &table), 0);
	assert_int_equal(table.count, 3);
	assert_string_equal(table.rows[0].name, "step/layer");
	assert_int_equal(table.rows[0].tally.count, 2);
	assert_string_equal(table.rows[1].name, "(no scope)");
	assert_string_equal(table.rows[2].name, "step");
	summary_release(&table);
}

static void graphs_that_were_not_recorded_have_a_row(void **state)
{
	struct summary_table table;

	assert_int_equal(summary_make(&trace, SUMMARY_BY_GRAPH, &table), 0);
	assert_int_equal(table.count, 2);
	assert_string_equal(table.rows[0].name, "process 9 graph 5");
	assert_int_equal(table.rows[0].tally.count, 2);
	assert_string_equal(table.rows[1].name, "(graph not recorded)");
	summary_release(&table);
}

static void streams_and_calls(void **state)
{
	struct summary_table table;

	assert_int_equal(summary_make(&trace, SUMMARY_BY_STREAM, &table), 0);
	assert_int_equal(table.count, 2);
	assert_string_equal(table.rows[0].name, "process 9 GPU ? stream 0 (null)");
	summary_release(&table);
	assert_int_equal(summary_make(&trace, SUMMARY_BY_API, &table), 0);
	assert_int_equal(table.count, 1);
	assert_string_equal(table.rows[0].name, "hipLaunchKernel");
	assert_int_equal(table.rows[0].tally.total_ns, 12);
	summary_release(&table);
}

/* Another tool's times may count from its own start, so that 0 is a valid time. */
static void a_start_at_zero_counts(void **state)
{
	struct trace_activity rows[] = {activities[0], activities[0]};
	struct trace early = trace;
	struct summary_totals totals;

	early.activities = rows;
	early.activities_count = 2;
	rows[0].start_ns = 0;
	totals = summary_count(&early);
	assert_int_equal(totals.begin_ns, 0);
	assert_int_equal(totals.end_ns, 110);
	rows[0].start_ns = -20;
	rows[0].end_ns = rows[1].end_ns = -10;
	rows[1].start_ns = -15;
	totals = summary_count(&early);
	assert_int_equal(totals.begin_ns, -20);
	assert_int_equal(totals.end_ns, -10);
}

static void empty_trace_has_empty_tables(void **state)
{
	static const struct trace nothing = {.strings = texts, .strings_count = 1};
	struct summary_table table;

	for (int by = SUMMARY_BY_KERNEL; by <= SUMMARY_BY_API; by++) {
		assert_int_equal(summary_make(&nothing, (enum summary_by)by, &table), 0);
		assert_int_equal(table.count, 0);
		summary_release(&table);
	}
	assert_int_equal(summary_count(&nothing).kernels, 0);
}

static void sums_saturate(void **state)
{
	struct tally tally = {0};

	tally_add(&tally, INT64_MAX);
	tally_add(&tally, INT64_MAX);
	assert_true(tally.total_ns == INT64_MAX);
	assert_true(tally_span(INT64_MIN, INT64_MAX) == INT64_MAX);
	assert_true(tally_span(INT64_MAX, INT64_MIN) == INT64_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_count_kinds),
		cmocka_unit_test(kernels_come_longest_first),
		cmocka_unit_test(a_kernel_has_its_mean_occupancy),
		cmocka_unit_test(copies_are_told_by_direction),
		cmocka_unit_test(pushes_of_one_path_are_one_row),
		cmocka_unit_test(graphs_that_were_not_recorded_have_a_row),
		cmocka_unit_test(streams_and_calls),
		cmocka_unit_test(a_start_at_zero_counts),
		cmocka_unit_test(empty_trace_has_empty_tables),
		cmocka_unit_test(sums_saturate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
