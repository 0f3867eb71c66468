/* Which graph node an activity belongs to, and how certain that is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "scene.h"
#include "trace/ledger/ledger.h"
#include "trace/load.h"

#define EXEC 31

static const uint64_t functions[] = {0x101, 0x102, 0x101};
static const uint32_t grids[] = {4, 4, 8};

static const struct trace_options without_nodes = {
	.is_brief = true,
	.without_waits = true,
	.without_ledger = true,
	.without_nodes = true,
};

static uint64_t begin_launch(struct scene *scene, uint64_t replay, uint32_t activities)
{
	uint64_t cid = scene_reserve_cid(scene);

	scene_graph_launch(scene, EXEC, replay, cid);
	scene_put_call(scene, 0, cid, SCENE_GRAPH_LAUNCH, activities, (uint64_t[]){1, 0}, 2);
	return cid;
}

static void run_nodes(struct scene *scene, uint64_t cid, uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++)
		scene_run(scene, cid, i, functions[i] - 0x100, grids[i]);
}

static void replay_node_ordinal_stable(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_graph(scene, 7, EXEC, 3, functions, grids);
	for (uint64_t replay = 0; replay < 2; replay++)
		run_nodes(scene, begin_launch(scene, replay, 3), 0, 3);
	scene_close(scene);
	trace = scene_take(scene);
	assert_int_equal(trace->launches_count, 2);
	assert_int_equal(trace->launches[1].replay, 1);
	assert_int_equal(trace->launches[1].activities_expected, 3);
	assert_true(trace->launches[1].exact);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(trace->activities[i].confidence, TRACE_CONFIDENCE_EXACT);
		assert_int_equal(trace->activities[i].launch, i / 3);
		assert_int_equal(trace->nodes[trace->activities[i].node].index, i % 3);
	}
	assert_int_equal(scene_source(trace, "graph")->expected, 6);
	assert_int_equal(scene_source(trace, "graph")->received, 6);
	assert_true(ledger_is_closed(trace));
}

static void activities_have_their_launch_without_nodes(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_graph(scene, 7, EXEC, 3, functions, grids);
	for (uint64_t replay = 0; replay < 2; replay++)
		run_nodes(scene, begin_launch(scene, replay, 3), 0, 3);
	scene_run_calls(scene, 1);
	scene_close(scene);
	trace = scene_load_with(scene, &without_nodes);
	assert_int_equal(trace->activities_count, 7);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(trace->activities[i].launch, i / 3);
		assert_int_equal(trace->activities[i].node, TRACE_NONE);
	}
	assert_int_equal(trace->activities[6].launch, TRACE_NONE);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(trace->launches[i].activity_count, 3);
	trace_close(trace);
}

/* The work of the second process has the numbers that the first one's has. */
static void two_processes_have_their_launches_without_nodes(void **state)
{
	char folder[TEST_PATH_BYTES];
	struct dagtap_error error;
	struct trace *trace;

	assert_non_null(mkdtemp(test_path(folder, "naming")));
	for (uint32_t pid = 1; pid <= 2; pid++) {
		struct scene scene;

		scene_init(&scene, pid);
		scene_graph(&scene, 7, EXEC, 3, functions, grids);
		run_nodes(&scene, begin_launch(&scene, 0, 3), 0, 3);
		scene_close(&scene);
		scene_put_spool(&scene, folder);
		scene_release(&scene);
	}
	if (trace_open(folder, &without_nodes, &trace, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(trace->processes_count, 2);
	assert_int_equal(trace->activities_count, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(trace->activities[i].launch, i / 3);
	trace_close(trace);
	for (uint32_t pid = 1; pid <= 2; pid++)
		scene_remove_spool(folder, pid);
	assert_int_equal(rmdir(folder), 0);
}

static void another_grid_is_not_exact(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cid;

	scene_graph(scene, 7, EXEC, 3, functions, grids);
	cid = begin_launch(scene, 0, 3);
	run_nodes(scene, cid, 0, 2);
	scene_run(scene, cid, 2, 1, 999);
	scene_close(scene);
	trace = scene_take(scene);
	assert_false(trace->launches[0].exact);
	assert_int_equal(trace->activities[0].confidence, TRACE_CONFIDENCE_ORDER);
	assert_int_equal(trace->activities[2].confidence, TRACE_CONFIDENCE_UNKNOWN);
	assert_int_equal(trace->activities[2].node, TRACE_NONE);
}

static void exec_update_changes_what_is_expected_from_then_on(void **state)
{
	struct record_graph_node update = {
		.graph_id = EXEC,
		.type = RECORD_NODE_KERNEL,
		.function = 0x102,
		.grid = {16, 1, 1},
		.block = {1, 1, 1},
	};
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cid;

	scene_graph(scene, 7, EXEC, 3, functions, grids);
	run_nodes(scene, begin_launch(scene, 0, 3), 0, 3);
	update.cid = scene_reserve_cid(scene);
	scene_put(scene, 0, RECORD_GRAPH_EXEC_UPDATE, 2, &update, sizeof(update));
	cid = begin_launch(scene, 1, 3);
	run_nodes(scene, cid, 0, 2);
	scene_run(scene, cid, 2, 2, 16);
	scene_close(scene);
	trace = scene_take(scene);
	assert_true(trace->launches[0].exact);
	assert_true(trace->launches[1].exact);
	assert_int_equal(trace->execs[0].update_count, 1);
}

/* Graph 7 is a kernel and a child node; the child is graph 8 with the other two kernels. */
static void put_graph_with_child(struct scene *scene)
{
	struct record_graph parent = {.graph_id = 7, .node_count = 2, .edge_count = 1};
	struct record_graph child = {.graph_id = 8,
				     .node_count = 2,
				     .edge_count = 1,
				     .parent_graph_id = 7,
				     .parent_node = 1};
	struct record_graph_exec exec = {.exec_id = EXEC, .graph_id = 7};
	static const uint64_t graphs[] = {7, 8, 8};

	scene_put(scene, 0, RECORD_GRAPH, 0, &parent, sizeof(parent));
	scene_put(scene, 0, RECORD_GRAPH, 0, &child, sizeof(child));
	for (uint32_t i = 0; i < 3; i++) {
		struct record_graph_node node = {
			.graph_id = graphs[i],
			.type = RECORD_NODE_KERNEL,
			.function = functions[i],
			.grid = {grids[i], 1, 1},
			.block = {1, 1, 1},
		};

		scene_put(scene, 0, RECORD_GRAPH_NODE, i == 2, &node, sizeof(node));
	}
	for (uint64_t graph = 7; graph <= 8; graph++) {
		struct record_graph_node node = {
			.graph_id = 7, .type = RECORD_NODE_CHILD, .child_graph_id = 8};
		struct record_graph_edge edge = {.graph_id = graph, .from = 0, .to = 1};

		if (graph == 7)
			scene_put(scene, 0, RECORD_GRAPH_NODE, 1, &node, sizeof(node));
		scene_put(scene, 0, RECORD_GRAPH_EDGE, 0, &edge, sizeof(edge));
	}
	scene_put(scene, 0, RECORD_GRAPH_EXEC, 0, &exec, sizeof(exec));
}

static void exec_update_of_a_child_graph_changes_the_child(void **state)
{
	struct record_graph_node update = {
		.graph_id = EXEC,
		.child_graph_id = 8,
		.type = RECORD_NODE_KERNEL,
		.function = 0x102,
		.grid = {16, 1, 1},
		.block = {1, 1, 1},
	};
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cid;

	put_graph_with_child(scene);
	run_nodes(scene, begin_launch(scene, 0, 3), 0, 3);
	update.cid = scene_reserve_cid(scene);
	scene_put(scene, 0, RECORD_GRAPH_EXEC_UPDATE, 0, &update, sizeof(update));
	cid = begin_launch(scene, 1, 3);
	run_nodes(scene, cid, 0, 1);
	scene_run(scene, cid, 1, 2, 16);
	run_nodes(scene, cid, 2, 1);
	/*
	 * For a graph that is not this executable graph's, and for a node that the graph does not
	 * have.
	 */
	update.cid = scene_reserve_cid(scene);
	update.grid[0] = 32;
	update.child_graph_id = 9;
	scene_put(scene, 0, RECORD_GRAPH_EXEC_UPDATE, 0, &update, sizeof(update));
	update.child_graph_id = 8;
	scene_put(scene, 0, RECORD_GRAPH_EXEC_UPDATE, 2, &update, sizeof(update));
	cid = begin_launch(scene, 2, 3);
	run_nodes(scene, cid, 0, 1);
	scene_run(scene, cid, 1, 2, 16);
	run_nodes(scene, cid, 2, 1);
	scene_close(scene);
	trace = scene_take(scene);
	assert_int_equal(trace->launches_count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(trace->launches[i].exact);
	assert_int_equal(trace->graphs[trace->nodes[trace->activities[4].node].graph].id, 8);
	assert_int_equal(trace->nodes[trace->activities[4].node].index, 0);
}

static void partial_replay_reported(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cid;

	scene_graph(scene, 7, EXEC, 3, functions, grids);
	cid = begin_launch(scene, 0, 3);
	run_nodes(scene, cid, 1, 2);
	scene_close(scene);
	trace = scene_take(scene);
	/* "two" with grid 4 and "one" with grid 8 occur once each, which identifies them. */
	assert_int_equal(trace->activities[0].confidence, TRACE_CONFIDENCE_SIGNATURE);
	assert_int_equal(trace->nodes[trace->activities[0].node].index, 1);
	assert_int_equal(trace->nodes[trace->activities[1].node].index, 2);
	assert_int_equal(scene_source(trace, "graph")->unexplained, 1);
	assert_false(ledger_is_closed(trace));
}

static void dropped_row_is_explained(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	scene_graph(scene, 7, EXEC, 3, functions, grids);
	run_nodes(scene, begin_launch(scene, 0, 3), 1, 2);
	scene_drop(scene, RECORD_CLASS_DISPATCH, RECORD_DROP_FULL);
	scene_close(scene);
	trace = scene_take(scene);
	assert_int_equal(scene_source(trace, "graph")->unexplained, 0);
	assert_true(ledger_is_closed(trace));
}

static void nodes_that_look_alike_stay_unknown_when_one_is_missing(void **state)
{
	static const uint64_t same[] = {0x101, 0x101, 0x101};
	static const uint32_t same_grids[] = {4, 4, 4};
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cid;

	scene_graph(scene, 7, EXEC, 3, same, same_grids);
	cid = begin_launch(scene, 0, 3);
	scene_run(scene, cid, 0, 1, 4);
	scene_run(scene, cid, 1, 1, 4);
	scene_close(scene);
	trace = scene_take(scene);
	assert_int_equal(trace->activities[0].confidence, TRACE_CONFIDENCE_UNKNOWN);
	assert_int_equal(trace->activities[0].node, TRACE_NONE);
}

static void launch_cut_off_by_a_kill_keeps_its_first_nodes(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cid;

	scene_graph(scene, 7, EXEC, 3, functions, grids);
	cid = scene_reserve_cid(scene);
	scene_graph_launch(scene, EXEC, 0, cid);
	run_nodes(scene, cid, 0, 2);
	trace = scene_take(scene);
	assert_true(trace->truncated);
	assert_int_equal(trace->activities[0].confidence, TRACE_CONFIDENCE_ORDER);
	assert_int_equal(trace->nodes[trace->activities[1].node].index, 1);
	assert_true(ledger_is_closed(trace));
}

static void fill_in_pieces_is_one_node(void **state)
{
	struct record_graph graph = {.graph_id = 7, .node_count = 2, .edge_count = 1};
	struct record_graph_node nodes[] = {
		{.graph_id = 7, .type = RECORD_NODE_MEMSET, .bytes = 513, .height = 1},
		{.graph_id = 7, .type = RECORD_NODE_MEMSET, .bytes = 512, .height = 1},
	};
	struct record_graph_edge edge = {.graph_id = 7, .from = 0, .to = 1};
	struct record_graph_exec exec = {.exec_id = EXEC, .graph_id = 7};
	static const uint32_t expected[] = {0, 0, 1};
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cid;

	scene_put(scene, 0, RECORD_GRAPH, 0, &graph, sizeof(graph));
	for (uint32_t i = 0; i < 2; i++)
		scene_put(scene, 0, RECORD_GRAPH_NODE, i, &nodes[i], sizeof(nodes[i]));
	scene_put(scene, 0, RECORD_GRAPH_EDGE, 0, &edge, sizeof(edge));
	scene_put(scene, 0, RECORD_GRAPH_EXEC, 0, &exec, sizeof(exec));
	cid = begin_launch(scene, 0, 3);
	for (uint32_t i = 0; i < 3; i++)
		scene_run(scene, cid, i, 3, 256);
	scene_close(scene);
	trace = scene_load_with(scene, &without_nodes);
	assert_int_equal(trace_work_of(trace, &trace->activities[2])->bytes, 512);
	trace_close(trace);
	trace = scene_take(scene);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(trace->nodes[trace->activities[i].node].index, expected[i]);
	assert_int_equal(trace_work_of(trace, &trace->activities[0])->bytes, 0);
	assert_int_equal(trace_work_of(trace, &trace->activities[2])->bytes, 512);
	assert_int_equal(scene_source(trace, "graph")->expected, 2);
	assert_true(ledger_is_closed(trace));
}

/*
 * The edge 0 -> 3 was added first, but 3 is a level below 1 and 2; of those, 2 has the earlier
 * edge.
 */
static void order_is_by_level_and_edge(void **state)
{
	static const uint32_t edges[][2] = {{0, 3}, {0, 2}, {0, 1}, {2, 3}, {1, 3}};
	static const uint32_t order[] = {0, 2, 1, 3};
	struct record_graph graph = {.graph_id = 7, .node_count = 4, .edge_count = 5};
	struct record_graph_exec exec = {.exec_id = EXEC, .graph_id = 7};
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t cid;

	scene_put(scene, 0, RECORD_GRAPH, 0, &graph, sizeof(graph));
	for (uint32_t i = 0; i < 4; i++) {
		struct record_graph_node node = {
			.graph_id = 7,
			.type = RECORD_NODE_KERNEL,
			.function = 0x101,
			.grid = {i + 1, 1, 1},
			.block = {1, 1, 1},
			.ns = scene->ns,
		};

		scene_put(scene, 0, RECORD_GRAPH_NODE, i, &node, sizeof(node));
	}
	for (uint32_t i = 0; i < 5; i++) {
		struct record_graph_edge edge = {
			.graph_id = 7,
			.from = edges[i][0],
			.to = edges[i][1],
		};

		scene_put(scene, 0, RECORD_GRAPH_EDGE, 0, &edge, sizeof(edge));
	}
	scene_put(scene, 0, RECORD_GRAPH_EXEC, 0, &exec, sizeof(exec));
	cid = begin_launch(scene, 0, 4);
	for (uint32_t i = 0; i < 4; i++)
		scene_run(scene, cid, i, 1, order[i] + 1);
	scene_close(scene);
	trace = scene_take(scene);
	assert_true(trace->launches[0].exact);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(trace->nodes[trace->activities[i].node].index, order[i]);
}

/* The node's handle belonged to another node before, and to a third one afterwards. */
static void node_keeps_the_scope_under_which_it_was_recorded(void **state)
{
	static const uint64_t times[] = {100, 200, 300};
	struct record_graph graph = {.graph_id = 7, .node_count = 1};
	struct record_graph_node node = {
		.graph_id = 7,
		.handle = 0x700,
		.type = RECORD_NODE_EMPTY,
		.ns = 250,
	};
	struct scene *scene = *state;
	struct trace *trace;

	for (uint64_t i = 0; i < 3; i++) {
		struct record_scope scope = {.id = i + 1, .ns = times[i]};
		struct record_node_recorded recorded = {
			.node = 0x700,
			.scope = i + 1,
			.ns = times[i],
		};

		scene_put(scene, 0, RECORD_SCOPE, RECORD_SCOPE_DAGTAP, &scope, sizeof(scope));
		scene_put(scene, 0, RECORD_NODE_RECORDED, 0, &recorded, sizeof(recorded));
	}
	scene_put(scene, 0, RECORD_GRAPH, 0, &graph, sizeof(graph));
	scene_put(scene, 0, RECORD_GRAPH_NODE, 0, &node, sizeof(node));
	scene_close(scene);
	trace = scene_take(scene);
	assert_int_equal(trace->nodes_count, 1);
	assert_int_equal(trace->scopes[trace->nodes[0].scope].id, 2);
}

static void edges_in_a_ring_tell_nothing_and_harm_nothing(void **state)
{
	struct record_graph_edge back = {.graph_id = 7, .from = 2, .to = 0};
	struct scene *scene = *state;
	struct trace *trace;

	scene_graph(scene, 7, EXEC, 3, functions, grids);
	scene_put(scene, 0, RECORD_GRAPH_EDGE, 0, &back, sizeof(back));
	run_nodes(scene, begin_launch(scene, 0, 3), 0, 3);
	scene_close(scene);
	trace = scene_take(scene);
	assert_false(trace->launches[0].exact);
	assert_int_equal(trace->launches[0].activities_expected, TRACE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_CASE(replay_node_ordinal_stable),
		SCENE_CASE(activities_have_their_launch_without_nodes),
		cmocka_unit_test(two_processes_have_their_launches_without_nodes),
		SCENE_CASE(another_grid_is_not_exact),
		SCENE_CASE(exec_update_changes_what_is_expected_from_then_on),
		SCENE_CASE(exec_update_of_a_child_graph_changes_the_child),
		SCENE_CASE(partial_replay_reported),
		SCENE_CASE(dropped_row_is_explained),
		SCENE_CASE(nodes_that_look_alike_stay_unknown_when_one_is_missing),
		SCENE_CASE(launch_cut_off_by_a_kill_keeps_its_first_nodes),
		SCENE_CASE(fill_in_pieces_is_one_node),
		SCENE_CASE(order_is_by_level_and_edge),
		SCENE_CASE(node_keeps_the_scope_under_which_it_was_recorded),
		SCENE_CASE(edges_in_a_ring_tell_nothing_and_harm_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
