/* Per-node times, gaps and the critical path of a diamond that contains a child graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/graph_stats.h"

/* Graph 0: 0 -> {1, 2} -> 3; node 2 is a child graph (graph 1: 4 -> 5). */
static struct trace_graph graphs[] = {
	{.id = 1,
	 .node_first = 0,
	 .node_count = 4,
	 .edge_first = 0,
	 .edge_count = 4,
	 .parent = TRACE_NONE},
	{.id = 2,
	 .node_first = 4,
	 .node_count = 2,
	 .edge_first = 4,
	 .edge_count = 1,
	 .parent = 0,
	 .parent_node = 2},
};
static struct trace_node nodes[] = {
	{.graph = 0, .child = TRACE_NONE},
	{.graph = 0, .child = TRACE_NONE},
	{.graph = 0, .type = RECORD_NODE_CHILD, .child = 1},
	{.graph = 0, .child = TRACE_NONE},
	{.graph = 1, .child = TRACE_NONE},
	{.graph = 1, .child = TRACE_NONE},
};
static struct trace_edge edges[] = {{0, 1, RECORD_EDGE_PLAIN},
				    {0, 2, RECORD_EDGE_PLAIN},
				    {1, 3, RECORD_EDGE_PLAIN},
				    {2, 3, RECORD_EDGE_PLAIN},
				    {4, 5, RECORD_EDGE_PLAIN}};
static struct trace_exec execs[] = {{.id = 1, .graph = 0}};
static struct trace_launch launches[] = {{.exec = 0}, {.exec = 0, .replay = 1}};

#define ROW(l, n, s, e)                                                                            \
	{                                                                                          \
		.launch = l, .node = n, .start_ns = s, .end_ns = e,                                \
		.confidence = TRACE_CONFIDENCE_EXACT                                               \
	}

static struct trace_activity activities[] = {
	ROW(0, 0, 100, 110),
	ROW(0, 1, 115, 120),
	ROW(0, 4, 110, 130),
	ROW(0, 5, 131, 141),
	ROW(0, 3, 150, 152),
	ROW(1, 0, 200, 210),
	ROW(1, 1, 217, 224),
	ROW(1, 4, 210, 230),
	ROW(1, 5, 233, 243),
	{.launch = 1,
	 .node = TRACE_NONE,
	 .confidence = TRACE_CONFIDENCE_UNKNOWN,
	 .untimed = RECORD_UNTIMED_ZERO_TICK},
};

static const struct trace trace = {
	.graphs = graphs,
	.graphs_count = 2,
	.nodes = nodes,
	.nodes_count = 6,
	.edges = edges,
	.edges_count = 5,
	.execs = execs,
	.execs_count = 1,
	.launches = launches,
	.launches_count = 2,
	.activities = activities,
	.activities_count = 10,
};

static int setup(void **state)
{
	struct graph_analysis *analysis = malloc(sizeof(*analysis));

	*state = analysis;
	return analysis ? graph_analysis_make(&trace, NULL, analysis) : -1;
}

static int teardown(void **state)
{
	graph_analysis_release(*state);
	free(*state);
	return 0;
}

static void nodes_have_times_of_all_replays(void **state)
{
	const struct graph_analysis *analysis = *state;

	assert_int_equal(analysis->nodes[0].duration.count, 2);
	assert_int_equal(analysis->nodes[0].duration.total_ns, 20);
	assert_int_equal(analysis->nodes[1].duration.min_ns, 5);
	assert_int_equal(analysis->nodes[1].duration.max_ns, 7);
	assert_int_equal(analysis->nodes[3].duration.count, 1);
	assert_int_equal(analysis->nodes[0].uncertain, 0);
}

static void gaps_are_to_the_last_predecessor_of_the_same_replay(void **state)
{
	const struct graph_analysis *analysis = *state;

	assert_int_equal(analysis->nodes[0].gap.timed, 0);
	assert_int_equal(analysis->nodes[1].gap.timed, 2);
	assert_int_equal(analysis->nodes[1].gap.min_ns, 5);
	assert_int_equal(analysis->nodes[1].gap.max_ns, 7);
	assert_int_equal(analysis->nodes[5].gap.min_ns, 1);
	assert_int_equal(analysis->nodes[3].gap.min_ns, 30);
}

static void replays_and_spans(void **state)
{
	const struct graph_analysis *analysis = *state;

	assert_int_equal(analysis->graphs[0].replays, 2);
	assert_int_equal(analysis->graphs[1].replays, 2);
	assert_int_equal(analysis->graphs[0].activities, 10);
	assert_int_equal(analysis->graphs[0].unknown, 1);
	assert_int_equal(analysis->graphs[0].span.timed, 2);
	assert_int_equal(analysis->graphs[0].span.min_ns, 43);
	assert_int_equal(analysis->graphs[0].span.max_ns, 52);
}

static void critical_path_goes_through_the_child(void **state)
{
	const struct graph_analysis *analysis = *state;

	assert_true(analysis->graphs[1].critical_ns == 30);
	assert_int_equal(analysis->graphs[1].critical_count, 2);
	assert_true(analysis->graphs[0].critical_ns == 10 + 30 + 2);
	assert_int_equal(analysis->graphs[0].critical_count, 3);
	assert_true(analysis->nodes[2].is_critical);
	assert_false(analysis->nodes[1].is_critical);
}

static void parallelism_is_work_by_span(void **state)
{
	const struct graph_analysis *analysis = *state;

	assert_int_equal(analysis->graphs[0].work_ns, 47 + 47);
	assert_true(graph_parallelism(&analysis->graphs[0]) == 94.0 / (52 + 43));
	assert_true(graph_parallelism_possible(&analysis->graphs[0]) == 94.0 / (2 * 42));
	assert_true(graph_parallelism(&analysis->graphs[1]) == 0);
	/* Nodes 4 and 5: 5 began 1 and 3 ns after 4 in the two replays. */
	assert_true(analysis->graphs[1].critical_gap_ns == 2);
}

static void graph_that_is_its_own_child_ends(void **state)
{
	struct trace_graph ring[] = {
		{.id = 1, .node_count = 1, .parent = 0, .parent_node = 0},
	};
	struct trace_node node[] = {{.graph = 0, .type = RECORD_NODE_CHILD, .child = 0}};
	const struct trace own = {
		.graphs = ring, .graphs_count = 1, .nodes = node, .nodes_count = 1};
	struct graph_analysis analysis;

	assert_int_equal(graph_analysis_make(&own, NULL, &analysis), 0);
	graph_analysis_release(&analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_have_times_of_all_replays),
		cmocka_unit_test(gaps_are_to_the_last_predecessor_of_the_same_replay),
		cmocka_unit_test(replays_and_spans),
		cmocka_unit_test(critical_path_goes_through_the_child),
		cmocka_unit_test(parallelism_is_work_by_span),
		cmocka_unit_test(graph_that_is_its_own_child_ends),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
