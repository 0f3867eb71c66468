/*
 * What CUDA graphs consist of: clones, child graphs, graphs that change between two executable
 * graphs, copies, memsets, and updates of nodes.
 */
#include "cuda_scene.h"

#include "analyze/advise.h"
#include "capture/capture_session.h"
#include "capture/scope.h"

enum { CLONE = 6, CHILD = 8, CHILD_CLONE = 9 };

/* ---- clones ---- */

static void clone_of_a_graph(void)
{
	play_start();
	play_layers();
	play_graph_clone(CLONE, GRAPH);
	for (uint64_t i = 0; i < 3; i++)
		play_node_clone(CLONE, 51 + i, 11 + i, CUDA_NODE_KERNEL);
	play_graph_clone(EXEC_GRAPH, CLONE);
	for (uint64_t i = 0; i < 3; i++)
		play_node_clone(EXEC_GRAPH, 101 + i, 51 + i, CUDA_NODE_KERNEL);
	play_exec(EXEC, CLONE);
	play_launch(1, EXEC);
	play_replay(1, EXEC, 101, "kernel");
	session_stop();
}

static void a_clone_has_the_edges_and_scopes_of_its_original(void **state)
{
	struct trace *trace = play_scene(*state, clone_of_a_graph);
	const struct trace_node *node = &trace->nodes[2];

	assert_int_equal(trace->graphs_count, 1);
	assert_int_equal(trace->nodes_count, 3);
	assert_int_equal(trace->nodes[0].handle, 51);
	assert_int_equal(trace->edges_count, 2);
	assert_int_equal(trace->edges[1].from, 1);
	assert_int_equal(trace->edges[1].to, 2);
	assert_string_equal(trace_text(trace, trace->scopes[node->scope].text), "project");
	assert_true(trace->launches[0].exact);
	play_assert_closed(trace);
}

/* ---- child graphs ---- */

static void child_graph(void)
{
	struct model_open call;

	play_start();
	play_graph(CHILD);
	scope_push(RECORD_SCOPE_DAGTAP, "inside");
	play_node(CHILD, 41, CUDA_NODE_KERNEL);
	scope_pop(RECORD_SCOPE_DAGTAP);
	play_graph(GRAPH);
	play_node(GRAPH, 11, CUDA_NODE_KERNEL);
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, 300, 1, "cudaGraphAddChildGraphNode", NULL);
	play_graph_clone(CHILD_CLONE, CHILD);
	play_node_clone(CHILD_CLONE, 46, 41, CUDA_NODE_KERNEL);
	play_node(GRAPH, 12, CUDA_NODE_GRAPH);
	model_leave(&call, 0);
	play_edge(GRAPH, 11, 12);
	play_graph_clone(EXEC_GRAPH, GRAPH);
	play_node_clone(EXEC_GRAPH, 101, 11, CUDA_NODE_KERNEL);
	play_node_clone(EXEC_GRAPH, 102, 12, CUDA_NODE_GRAPH);
	play_node_clone(EXEC_GRAPH + 1, 103, 46, CUDA_NODE_KERNEL);
	play_exec(EXEC, GRAPH);
	play_launch(2, EXEC);
	play_graph_kernel(2, EXEC, 101, "outer");
	play_graph_kernel(2, EXEC, 103, "inner");
	session_stop();
}

static void kernels_of_a_child_graph_are_its_nodes(void **state)
{
	struct trace *trace = play_scene(*state, child_graph);
	const struct trace_activity *inner = play_find_kernel(trace, "inner");
	const struct trace_node *node;
	const struct trace_graph *child;

	assert_int_equal(trace->graphs_count, 2);
	assert_int_equal(inner->confidence, TRACE_CONFIDENCE_EXACT);
	node = &trace->nodes[inner->node];
	child = &trace->graphs[node->graph];
	assert_int_not_equal(child->parent, TRACE_NONE);
	assert_int_equal(child->parent_node, 1);
	assert_int_equal(trace->nodes[trace->graphs[child->parent].node_first + 1].child,
			 node->graph);
	assert_string_equal(trace_text(trace, trace->scopes[node->scope].text), "inside");
	assert_int_equal(play_source(trace, "graph")->expected, 2);
	play_assert_closed(trace);
}

/*
 * When the driver takes a child's nodes into the executable graph, CUPTI does not report them: 10
 * to 12 are the first child's, of which 11 is a child graph with 13 and 14; 15 is the second
 * child's.
 */
static void add_child(uint32_t correlation, uint32_t graph, uint64_t node, uint32_t clone,
		      const uint64_t *originals, uint32_t count)
{
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_RUNTIME, 300, correlation, "cudaGraphAddChildGraphNode",
		    NULL);
	play_graph(clone);
	for (uint32_t i = 0; i < count; i++)
		play_node_clone(clone, clone * 100 + i, originals[i], CUDA_NODE_KERNEL);
	play_node(graph, node, CUDA_NODE_GRAPH);
	model_leave(&call, 0);
}

enum { INNER = 50, OUTER, SECOND, INNER_CLONE, OUTER_CLONE, SECOND_CLONE };

static const char *const inlined[] = {"first 0", NULL, "first 2", "inner 0", "inner 1", "second"};

static void inlined_children(void)
{
	static const uint64_t inner[] = {501, 502}, outer[] = {511, 512, 513}, second[] = {521};

	play_start();
	play_graph(INNER);
	play_node(INNER, 501, CUDA_NODE_KERNEL);
	play_node(INNER, 502, CUDA_NODE_KERNEL);
	play_graph(OUTER);
	play_node(OUTER, 511, CUDA_NODE_KERNEL);
	add_child(1, OUTER, 512, INNER_CLONE, inner, 2);
	play_node(OUTER, 513, CUDA_NODE_KERNEL);
	play_graph(SECOND);
	play_node(SECOND, 521, CUDA_NODE_KERNEL);
	play_graph(GRAPH);
	add_child(2, GRAPH, 12, OUTER_CLONE, outer, 3);
	add_child(3, GRAPH, 13, SECOND_CLONE, second, 1);
	play_exec(EXEC, GRAPH);
	play_launch(4, EXEC);
	for (uint32_t i = 0; i < 6; i++) {
		if (inlined[i])
			play_graph_kernel(4, EXEC, ((uint64_t)EXEC << 32) + 2 + i, inlined[i]);
	}
	session_stop();
}

static void nodes_of_inlined_children_are_known_by_their_order(void **state)
{
	struct trace *trace = play_scene(*state, inlined_children);
	static const uint64_t handles[] = {OUTER_CLONE * 100,	  0,
					   OUTER_CLONE * 100 + 2, INNER_CLONE * 100,
					   INNER_CLONE * 100 + 1, SECOND_CLONE * 100};

	for (uint32_t i = 0; i < 6; i++) {
		const struct trace_activity *row =
			inlined[i] ? play_find_kernel(trace, inlined[i]) : NULL;

		if (!row)
			continue;
		assert_int_equal(row->confidence, TRACE_CONFIDENCE_ORDER);
		assert_int_equal(trace->nodes[row->node].handle, handles[i]);
		assert_string_equal(trace_text(trace, trace->nodes[row->node].name), inlined[i]);
	}
	assert_int_equal(play_source(trace, "graph")->expected, 5);
	play_assert_closed(trace);
}

/* ---- a graph that changes between two executable graphs ---- */

static void changing_graph(void)
{
	struct cupti_graph_data gone = {.graph = (void *)GRAPH, .node = (void *)12};

	play_start_with_graph();
	model_resource(CUPTI_GRAPHNODE_DESTROY_STARTING, &gone);
	play_graph_clone(EXEC_GRAPH + 1, GRAPH);
	play_node_clone(EXEC_GRAPH + 1, 201, 11, CUDA_NODE_KERNEL);
	play_node_clone(EXEC_GRAPH + 1, 203, 13, CUDA_NODE_KERNEL);
	play_exec(EXEC + 1, GRAPH);
	play_launch(1, EXEC + 1);
	play_graph_kernel(1, EXEC + 1, 201, "gather");
	play_graph_kernel(1, EXEC + 1, 203, "gemm");
	play_launch(2, EXEC);
	play_replay(2, EXEC, 101, "old");
	session_stop();
}

static void an_exec_has_the_graph_as_it_was(void **state)
{
	struct trace *trace = play_scene(*state, changing_graph);

	assert_int_equal(trace->graphs_count, 2);
	assert_int_equal(trace->graphs[trace->execs[0].graph].node_count, 3);
	assert_int_equal(trace->graphs[trace->execs[1].graph].node_count, 2);
	assert_int_equal(trace->graphs[trace->execs[1].graph].edge_count, 0);
	assert_true(trace->launches[0].exact && trace->launches[1].exact);
	play_assert_closed(trace);
}

static void two_execs(void)
{
	play_start_with_graph();
	for (uint64_t i = 0; i < 3; i++)
		play_node_clone(EXEC_GRAPH + 1, 201 + i, 11 + i, CUDA_NODE_KERNEL);
	play_exec(EXEC + 1, GRAPH);
	play_launch(1, EXEC + 1);
	play_launch(2, EXEC);
	for (uint64_t i = 0; i < 3; i++) {
		play_graph_kernel(1, EXEC + 1, 201 + i, "kernel");
		play_graph_kernel(2, EXEC, 101 + i, "kernel");
	}
	session_stop();
}

static void execs_of_an_unchanged_graph_share_it(void **state)
{
	struct trace *trace = play_scene(*state, two_execs);

	assert_int_equal(trace->execs_count, 2);
	assert_int_equal(trace->graphs_count, 1);
	assert_int_equal(trace->execs[0].graph, trace->execs[1].graph);
	assert_true(trace->launches[0].exact && trace->launches[1].exact);
	play_assert_closed(trace);
}

/* ---- copies and fills, updates, odd data ---- */

static void copies_in_a_graph(void)
{
	struct cupti_graph_data update = {.graphExec = (void *)EXEC};
	struct cupti_memcpy copy;
	struct cupti_memset fill;

	play_start();
	play_graph(GRAPH);
	play_node(GRAPH, 11, CUDA_NODE_MEMCPY);
	play_node(GRAPH, 12, CUDA_NODE_MEMSET);
	play_node(GRAPH, 13, CUDA_NODE_HOST);
	play_exec(EXEC, GRAPH);
	model_resource(CUPTI_GRAPH_NODE_SET_PARAMS, &update);
	play_launch(1, EXEC);
	copy = play_copy(1, 1000);
	copy.graphId = EXEC;
	copy.graphNodeId = 11;
	PLAY_PUT(copy);
	fill = play_fill(1, 64);
	fill.graphId = EXEC;
	fill.graphNodeId = 12;
	PLAY_PUT(fill);
	/* Of a graph, but of a node that is not known. */
	play_launch(2, EXEC);
	play_graph_kernel(2, EXEC, 999, "stranger");
	session_stop();
}

static void copies_and_fills_are_nodes(void **state)
{
	struct trace *trace = play_scene(*state, copies_in_a_graph);

	assert_int_equal(trace->execs[0].update_count, 1);
	assert_int_equal(trace->nodes_count, 3);
	assert_int_equal(trace->nodes[0].bytes, 1000);
	assert_int_equal(trace->nodes[0].direction, TRACE_H2D);
	assert_int_equal(trace->nodes[1].bytes, 64);
	assert_true(trace->launches[0].exact);
	assert_false(trace->launches[1].exact);
	assert_int_equal(play_find_kernel(trace, "stranger")->confidence, TRACE_CONFIDENCE_UNKNOWN);
	assert_int_equal(play_find_kernel(trace, "stranger")->node, TRACE_NONE);
}

/*
 * Updates nodes of the template, of a clone of one, and of an unknown one; then all nodes at once.
 */
static void updated_nodes(void)
{
	static const uint64_t updated[] = {12, 12, 103, 999};
	struct model_open call;

	play_start_with_all_calls();
	play_layers();
	play_instantiate();
	for (uint32_t i = 0; i < 4; i++) {
		struct cupti_graph_data update = {.graphExec = (void *)EXEC,
						  .node = (void *)updated[i]};

		model_enter(&call, CUPTI_DOMAIN_RUNTIME, 301, 1 + i,
			    "cudaGraphExecKernelNodeSetParams", NULL);
		model_resource(CUPTI_GRAPH_NODE_SET_PARAMS, &update);
		model_leave(&call, 0);
	}
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, 302, 5, "cudaGraphExecUpdate", NULL);
	for (uint64_t i = 0; i < 3; i++) {
		struct cupti_graph_data update = {.graphExec = (void *)EXEC,
						  .node = (void *)(11 + i)};

		model_resource(CUPTI_GRAPH_NODE_UPDATED, &update);
	}
	model_leave(&call, 0);
	play_launch(6, EXEC);
	session_stop();
}

static void updates_are_of_nodes(void **state)
{
	struct trace *trace = play_scene(*state, updated_nodes);
	struct advice advice;

	assert_int_equal(trace->execs[0].update_count, 7);
	assert_int_equal(trace->nodes[0].update_count, 0);
	assert_int_equal(trace->nodes[1].update_count, 2);
	assert_int_equal(trace->nodes[2].update_count, 1);
	assert_int_equal(advise(trace, &advice), 0);
	assert_int_equal(advice.graph_count, 1);
	assert_int_equal(advice.graphs[0].node_count, 3);
	assert_int_equal(advice.graphs[0].changed, 2);
	assert_int_equal(advice.graphs[0].unplaced, 1);
	assert_int_equal(advice.graphs[0].whole_updates, 1);
	assert_int_equal(advice.graphs[0].calls, 5);
	assert_true(advice.graphs[0].host_ns > 0);
	assert_int_equal(advice.unplaced_calls, 0);
	advice_release(&advice);
}

static void failing_ids(void)
{
	play_start();
	model_fail(MODEL_GET_ID, 0, CUPTI_NOT_SUPPORTED);
	play_layers();
	play_instantiate();
	play_launch(1, EXEC);
	play_graph_kernel(1, EXEC, 101, "kernel");
	session_stop();
}

static void without_ids_the_kernels_are_there(void **state)
{
	struct trace *trace = play_scene(*state, failing_ids);
	const struct trace_activity *kernel = play_find_kernel(trace, "kernel");

	assert_int_equal(kernel->cid, 1);
	assert_int_not_equal(kernel->node, TRACE_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(a_clone_has_the_edges_and_scopes_of_its_original),
		PLAY_CASE(kernels_of_a_child_graph_are_its_nodes),
		PLAY_CASE(nodes_of_inlined_children_are_known_by_their_order),
		PLAY_CASE(an_exec_has_the_graph_as_it_was),
		PLAY_CASE(execs_of_an_unchanged_graph_share_it),
		PLAY_CASE(copies_and_fills_are_nodes),
		PLAY_CASE(updates_are_of_nodes),
		PLAY_CASE(without_ids_the_kernels_are_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
