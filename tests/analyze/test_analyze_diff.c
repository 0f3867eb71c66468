/* Compares two traces made by hand, whose rows are matched by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/diff.h"

enum { TEXT_EMPTY, TEXT_X, TEXT_Y, TEXT_Z };

#define NOWHERE                                                                                    \
	.call = TRACE_NONE, .stream = TRACE_NONE, .scope = TRACE_NONE, .launch = TRACE_NONE,       \
	.node = TRACE_NONE, .agent = TRACE_NONE
#define RUN(of_work, start, end)                                                                   \
	{                                                                                          \
		.work = (of_work), .start_ns = (start), .end_ns = (end), NOWHERE                   \
	}

/* The same names at other indices of the two tables of texts. */
static const char *a_texts[] = {"", "same", "gone", "slower"};
static const char *b_texts[] = {"", "slower", "same", "new"};

static struct trace_work works[] = {
	{.name = TEXT_X}, {.name = TEXT_Y}, {.name = TEXT_Z}, {.kind = TRACE_COPY, .bytes = 64}};
static struct trace_activity a_rows[] = {RUN(0, 100, 110), RUN(1, 200, 205), RUN(2, 300, 400),
					 RUN(2, 500, 600), RUN(3, 0, 7)};
static struct trace_activity b_rows[] = {RUN(0, 100, 350), RUN(1, 400, 410), RUN(2, 500, 503)};

static const struct trace a = {
	.strings = a_texts,
	.strings_count = 4,
	.works = works,
	.works_count = 4,
	.activities = a_rows,
	.activities_count = 5,
};
static const struct trace b = {
	.strings = b_texts,
	.strings_count = 4,
	.works = works,
	.works_count = 4,
	.activities = b_rows,
	.activities_count = 3,
};

static void expect_row(const struct diff_table *table, uint32_t row, const char *name,
		       int64_t change_ns)
{
	assert_string_equal(table->rows[row].name, name);
	assert_int_equal(table->rows[row].change_ns, change_ns);
}

static void rows_meet_by_name(void **state)
{
	struct diff_table table;

	assert_int_equal(diff_make(&a, &b, &(struct diff_query){.by = SUMMARY_BY_KERNEL}, &table),
			 0);
	assert_int_equal(table.count, 4);
	expect_row(&table, 0, "slower", 250 - 200);
	assert_int_equal(table.rows[0].a.count, 2);
	assert_int_equal(table.rows[0].b.count, 1);
	assert_int_equal(table.rows[0].b.max_ns, 250);
	expect_row(&table, 1, "gone", -5);
	assert_int_equal(table.rows[1].b.count, 0);
	expect_row(&table, 2, "new", 3);
	assert_int_equal(table.rows[2].a.count, 0);
	expect_row(&table, 3, "same", 0);
	assert_int_equal(table.base_ns, 10 + 5 + 200);
	assert_int_equal(table.unchanged_base_ns, 10);
	assert_int_equal(table.unchanged_change_ns, 0);
	diff_release(&table);
}

static void copies_stand_alone(void **state)
{
	struct diff_table table;

	assert_int_equal(diff_make(&a, &b, &(struct diff_query){.by = SUMMARY_BY_COPY}, &table), 0);
	assert_int_equal(table.count, 1);
	assert_int_equal(table.rows[0].a.count, 1);
	assert_int_equal(table.rows[0].a_bytes, 64);
	assert_int_equal(table.rows[0].b.count, 0);
	diff_release(&table);
}

/* What only one trace has is notable, however small; the rest by its part of A's total. */
static void thresholds(void **state)
{
	struct diff_table table;

	assert_int_equal(diff_make(&a, &b, &(struct diff_query){.by = SUMMARY_BY_KERNEL}, &table),
			 0);
	assert_true(diff_is_notable(&table.rows[0], 25));
	assert_false(diff_is_notable(&table.rows[0], 25.1));
	assert_true(diff_is_notable(&table.rows[1], 1000));
	assert_true(diff_is_notable(&table.rows[2], 1000));
	assert_true(diff_is_notable(&table.rows[3], 0));
	assert_false(diff_is_notable(&table.rows[3], 0.001));
	diff_release(&table);
}

static void an_empty_trace(void **state)
{
	static const struct trace nothing = {.strings = a_texts, .strings_count = 1};
	struct diff_table table;

	assert_int_equal(diff_make(&nothing, &nothing,
				   &(struct diff_query){.by = SUMMARY_BY_KERNEL}, &table),
			 0);
	assert_int_equal(table.count, 0);
	diff_release(&table);
	assert_int_equal(
		diff_make(&nothing, &b, &(struct diff_query){.by = SUMMARY_BY_KERNEL}, &table), 0);
	assert_int_equal(table.count, 3);
	diff_release(&table);
}

/*
 * Nodes are matched by graph id and place, not by pid; an activity without a known node is listed
 * apart.
 */
static void nodes_are_named_by_graph_and_place(void **state)
{
	static struct trace_process process = {.pid = 77};
	static struct trace_graph graph = {.id = 3, .node_count = 2};
	static struct trace_node nodes[] = {{.index = 0, .name = TEXT_X},
					    {.index = 1, .name = TEXT_X}};
	static struct trace_exec exec = {.id = 9};
	static struct trace_launch launch;
	static struct trace_activity rows[] = {
		{.start_ns = 10, .end_ns = 12, .node = 0},
		{.start_ns = 20, .end_ns = 23, .node = 1},
		{.start_ns = 30, .end_ns = 34, .node = TRACE_NONE},
		RUN(0, 40, 45),
	};
	static const struct trace trace = {
		.strings = a_texts,
		.strings_count = 4,
		.processes = &process,
		.processes_count = 1,
		.graphs = &graph,
		.graphs_count = 1,
		.nodes = nodes,
		.nodes_count = 2,
		.execs = &exec,
		.execs_count = 1,
		.launches = &launch,
		.launches_count = 1,
		.works = works,
		.works_count = 4,
		.activities = rows,
		.activities_count = 4,
	};
	struct diff_table table;

	assert_int_equal(
		diff_make(&trace, &trace, &(struct diff_query){.by = SUMMARY_BY_NODE}, &table), 0);
	assert_int_equal(table.count, 3);
	assert_string_equal(table.rows[0].name, "graph 3 (node not known)");
	assert_string_equal(table.rows[1].name, "graph 3 node 0: same");
	assert_string_equal(table.rows[2].name, "graph 3 node 1: same");
	assert_int_equal(table.rows[2].b.total_ns, 3);
	diff_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_meet_by_name),
		cmocka_unit_test(copies_stand_alone),
		cmocka_unit_test(thresholds),
		cmocka_unit_test(an_empty_trace),
		cmocka_unit_test(nodes_are_named_by_graph_and_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
