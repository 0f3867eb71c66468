/* Child graphs that are moved into their nodes, cloned into them or assigned later (H200, CUDA
 * 13.0). */
#include "nested_scene.h"

#include "capture/capture_session.h"

static bool says_not_judged(const struct trace *trace)
{
	return strstr(trace_text(trace, play_source(trace, "graph")->text), "launches not judged");
}

/*
 * As XLA makes them: the graph of a copy is moved into its node; the launches of a library are
 * captured and cloned.
 */
static void children(void)
{
	play_start();
	play_graph(TOP);
	play_graph(MOVED);
	play_add_copy(MOVED, NODE(MOVED, 0), 0);
	play_add_kernel(MOVED, NODE(MOVED, 1), NODE(MOVED, 0));
	play_move_child(TOP, NODE(TOP, 0), MOVED, 0);
	play_graph(CLONED);
	play_add_kernel(CLONED, NODE(CLONED, 0), 0);
	play_clone_child(TOP, NODE(TOP, 1), CLONED, CLONE, NODE(CLONE, 0), 1, NODE(TOP, 0));
	play_add_kernel(TOP, NODE(TOP, 2), NODE(TOP, 1));
	nested_instantiate(3);
	for (uint32_t launch = 1; launch <= 3; launch++) {
		play_launch(launch, EXEC);
		nested_put_copy(launch, NODE(EXEC, 3));
		nested_put_kernel(launch, NODE(EXEC, 4), "moved");
		nested_put_kernel(launch, NODE(EXEC, 5), "cloned");
		nested_put_kernel(launch, NODE(EXEC, 2), "last");
	}
	play_device_wait(4);
	session_stop();
}

static void a_moved_child_is_its_nodes_graph(void **state)
{
	struct trace *trace = play_scene(*state, children);
	const struct trace_source *source = play_source(trace, "graph");

	assert_int_equal(source->expected, 12);
	assert_int_equal(source->received, 12);
	assert_false(says_not_judged(trace));
	play_assert_closed(trace);
	assert_int_equal(trace->graphs_count, 3);
	for (uint32_t i = 0; i < trace->activities_count; i++)
		assert_int_not_equal(trace->activities[i].node, TRACE_NONE);
	assert_int_equal(trace->nodes[play_find_kernel(trace, "moved")->node].type,
			 RECORD_NODE_KERNEL);
}

static void a_lost_kernel(void)
{
	play_start();
	play_graph(TOP);
	play_graph(MOVED);
	play_add_kernel(MOVED, NODE(MOVED, 0), 0);
	play_add_kernel(MOVED, NODE(MOVED, 1), NODE(MOVED, 0));
	play_move_child(TOP, NODE(TOP, 0), MOVED, 0);
	nested_instantiate(1);
	play_launch(1, EXEC);
	nested_put_kernel(1, NODE(EXEC, 1), "moved");
	play_device_wait(2);
	session_stop();
}

static void what_a_moved_child_lacks_is_missed(void **state)
{
	struct trace *trace = play_scene(*state, a_lost_kernel);

	assert_int_equal(play_source(trace, "graph")->unexplained, 1);
}

/*
 * While an executable graph is made the driver replaces nodes of it: the new node first has a
 * number of its own, then that of the replaced node (H200, CUDA 13.0, for small copies in a row).
 */
static void a_replaced_node(void)
{
	struct cupti_graph_data gone = {.graph = (void *)EXEC, .node = (void *)NODE(EXEC, 0)};
	struct model_open call;

	play_start();
	play_graph(TOP);
	play_add_copy(TOP, NODE(TOP, 0), 0);
	play_add_kernel(TOP, NODE(TOP, 1), NODE(TOP, 0));
	model_enter(&call, CUPTI_DOMAIN_DRIVER, 643, 50, "cuGraphInstantiateWithFlags", NULL);
	play_graph(EXEC);
	for (uint32_t i = 0; i < 2; i++)
		play_node_clone(EXEC, NODE(EXEC, i), NODE(TOP, i), CUDA_NODE_KERNEL);
	play_edge(EXEC, NODE(EXEC, 0), NODE(EXEC, 1));
	play_node(EXEC, NODE(EXEC, 2), CUDA_NODE_MEMCPY);
	play_edge(EXEC, NODE(EXEC, 2), NODE(EXEC, 1));
	model_resource(CUPTI_GRAPHNODE_DESTROY_STARTING, &gone);
	play_node(EXEC, NODE(EXEC, 3), CUDA_NODE_EMPTY);
	play_edge(EXEC, NODE(EXEC, 3), NODE(EXEC, 0));
	play_exec(EXEC, TOP);
	model_leave(&call, 0);
	play_launch(51, EXEC);
	nested_put_copy(51, NODE(EXEC, 0));
	nested_put_kernel(51, NODE(EXEC, 1), "kernel");
	session_stop();
}

static void a_replaced_node_keeps_its_number(void **state)
{
	struct trace *trace = play_scene(*state, a_replaced_node);

	assert_int_equal(trace->activities_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(trace->activities[i].confidence, TRACE_CONFIDENCE_EXACT);
		assert_int_equal(trace->nodes[trace->activities[i].node].index, i);
	}
	play_assert_closed(trace);
}

/*
 * The child is captured again: CUPTI names the node that the parameters come from, then the
 * executable graph's (H200, CUDA 13.0).
 */
static void a_child_is_updated(void)
{
	struct cupti_graph_data source = {.graphExec = (void *)EXEC,
					  .node = (void *)NODE(FRESH, 0)};
	struct cupti_graph_data updated = {.graphExec = (void *)EXEC,
					   .node = (void *)NODE(EXEC, 1)};
	struct model_open call;

	play_start();
	play_graph(TOP);
	play_graph(CLONED);
	play_add_kernel(CLONED, NODE(CLONED, 0), 0);
	play_clone_child(TOP, NODE(TOP, 0), CLONED, CLONE, NODE(CLONE, 0), 1, 0);
	nested_instantiate(1);
	play_graph(FRESH);
	play_add_kernel(FRESH, NODE(FRESH, 0), 0);
	for (uint32_t launch = 1; launch <= 2; launch++) {
		model_enter(&call, CUPTI_DOMAIN_DRIVER, 586, 10 * launch,
			    "cuGraphExecChildGraphNodeSetParams", NULL);
		model_resource(CUPTI_GRAPH_NODE_UPDATED, &source);
		model_resource(CUPTI_GRAPH_NODE_SET_PARAMS, &updated);
		model_leave(&call, 0);
		play_launch(10 * launch + 1, EXEC);
		nested_put_kernel(10 * launch + 1, NODE(EXEC, 1), "gemm");
	}
	session_stop();
}

static void an_updated_child_keeps_its_nodes(void **state)
{
	struct trace *trace = play_scene(*state, a_child_is_updated);
	const struct trace_activity *row = play_find_kernel(trace, "gemm");

	assert_int_equal(trace->nodes[row->node].update_count, 2);
	assert_int_equal(trace->execs[0].update_count, 2);
	assert_int_equal(trace->execs[0].unplaced_count, 0);
	assert_false(says_not_judged(trace));
	play_assert_closed(trace);
}

/* An update of a whole executable graph names both nodes of each pair, too. */
static void a_whole_update(void)
{
	struct cupti_graph_data source = {.graphExec = (void *)EXEC, .node = (void *)NODE(TOP, 0)};
	struct cupti_graph_data updated = {.graphExec = (void *)EXEC,
					   .node = (void *)NODE(EXEC, 0)};
	struct model_open call;

	play_start();
	play_graph(TOP);
	play_add_kernel(TOP, NODE(TOP, 0), 0);
	nested_instantiate(1);
	model_enter(&call, CUPTI_DOMAIN_DRIVER, 696, 1, "cuGraphExecUpdate_v2", NULL);
	model_resource(CUPTI_GRAPH_NODE_UPDATED, &source);
	model_resource(CUPTI_GRAPH_NODE_SET_PARAMS, &updated);
	model_leave(&call, 0);
	play_launch(2, EXEC);
	session_stop();
}

static void a_whole_update_counts_each_node_once(void **state)
{
	struct trace *trace = play_scene(*state, a_whole_update);

	assert_int_equal(trace->execs[0].update_count, 1);
	assert_int_equal(trace->execs[0].whole_update_count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(a_moved_child_is_its_nodes_graph),
		PLAY_CASE(what_a_moved_child_lacks_is_missed),
		PLAY_CASE(a_replaced_node_keeps_its_number),
		PLAY_CASE(an_updated_child_keeps_its_nodes),
		PLAY_CASE(a_whole_update_counts_each_node_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
