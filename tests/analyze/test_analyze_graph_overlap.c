/* Which nodes of a diamond could have run at the same time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/graph_overlap.h"

enum { R, P, Q, J, NODES, REPLAYS = 2 };

static struct trace_agent agent;
static struct trace_graph graph;
static struct trace_node nodes[NODES];
static struct trace_edge edges[] = {{R, P, RECORD_EDGE_PLAIN},
				    {R, Q, RECORD_EDGE_PLAIN},
				    {P, J, RECORD_EDGE_PLAIN},
				    {Q, J, RECORD_EDGE_PLAIN}};
static struct trace_exec execs[1];
static struct trace_launch launches[REPLAYS];
static struct trace_activity rows[REPLAYS * NODES];

static const struct trace trace = {
	.agents = &agent,
	.agents_count = 1,
	.graphs = &graph,
	.graphs_count = 1,
	.nodes = nodes,
	.nodes_count = NODES,
	.edges = edges,
	.edges_count = 4,
	.execs = execs,
	.execs_count = 1,
	.launches = launches,
	.launches_count = REPLAYS,
	.activities = rows,
	.activities_count = REPLAYS * NODES,
};

/*
 * In each replay r runs from 0 to 10, p 10 to 40, q 40 to 50, j 60 to 65; p and q have eight
 * workgroups each.
 */
static int setup(void **state)
{
	static const int64_t times[NODES][2] = {{0, 10}, {10, 40}, {40, 50}, {60, 65}};

	agent = (struct trace_agent){.is_gpu = true, .compute_units = 16};
	graph = (struct trace_graph){
		.id = 1, .node_count = NODES, .edge_count = 4, .parent = TRACE_NONE};
	for (uint32_t i = 0; i < NODES; i++)
		nodes[i] = (struct trace_node){
			.index = i,
			.child = TRACE_NONE,
			.grid = {512, 1, 1},
			.workgroup = {64, 1, 1},
		};
	for (uint32_t i = 0; i < REPLAYS * NODES; i++)
		rows[i] = (struct trace_activity){
			.launch = i / NODES,
			.node = i % NODES,
			.start_ns = 100 * (int64_t)(i / NODES) + times[i % NODES][0],
			.end_ns = 100 * (int64_t)(i / NODES) + times[i % NODES][1],
		};
	return 0;
}

static struct graph_overlap find(void)
{
	struct graph_analysis analysis;
	struct graph_overlap *overlaps, overlap;

	assert_int_equal(graph_analysis_make(&trace, NULL, &analysis), 0);
	assert_int_equal(graph_overlap_make(&trace, &analysis, &overlaps), 0);
	overlap = overlaps[0];
	assert_true(overlap.is_known);
	free(overlaps);
	graph_analysis_release(&analysis);
	return overlap;
}

static void branches_that_ran_in_a_row(void **state)
{
	struct graph_overlap overlap = find();

	assert_int_equal(overlap.count, 1);
	assert_int_equal(overlap.pairs[0].a, P);
	assert_int_equal(overlap.pairs[0].b, Q);
	assert_true(overlap.pairs[0].saving_ns == 10);
}

static void once_side_by_side_is_enough(void **state)
{
	rows[NODES + Q].start_ns -= 5;
	assert_int_equal(find().count, 0);
}

static void what_does_not_fit_is_not_said(void **state)
{
	agent.compute_units = 15;
	assert_int_equal(find().count, 0);
	nodes[Q].type = RECORD_NODE_MEMCPY;
	assert_int_equal(find().count, 1);
}

static void what_never_ran_is_not_said(void **state)
{
	for (uint32_t i = Q; i < REPLAYS * NODES; i += NODES)
		rows[i].untimed = RECORD_UNTIMED_ZERO_TICK;
	assert_int_equal(find().count, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, setup)
	const struct CMUnitTest tests[] = {
		CASE(branches_that_ran_in_a_row),
		CASE(once_side_by_side_is_enough),
		CASE(what_does_not_fit_is_not_said),
		CASE(what_never_ran_is_not_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
