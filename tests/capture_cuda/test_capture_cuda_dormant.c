/*
 * CUDA graphs that are made while nothing is recorded: the next recording has their names, nodes
 * and edges. CUPTI is played.
 */
#include <stdlib.h>

#include "dormant_scene.h"

#include "capture/cuda/cuda_graph_notes.h"
#include "capture/scope.h"

/* ---- identity ---- */

static void made_before(void)
{
	dormant_start();
	play_layers();
	play_instantiate();
	dormant_record(2);
}

static void a_graph_that_was_made_before_is_known(void **state)
{
	struct trace *trace = play_scene(*state, made_before);

	dormant_assert_known(trace, 6);
	assert_int_equal(play_source(trace, "graph")->expected, 6);
}

/* The graph goes when its exec is made, as in most programs. */
static void made_between(void)
{
	dormant_start();
	dormant_record(0);
	play_layers();
	play_instantiate();
	dormant_graph_gone(GRAPH);
	dormant_record(1);
	dormant_record(3);
}

static void each_later_recording_has_it(void **state)
{
	struct trace *trace = play_scene(*state, made_between);

	assert_int_equal(trace->processes_count, 3);
	dormant_assert_known(trace, 12);
	assert_int_equal(trace->graphs_count, 2);
}

static void made_within(void)
{
	dormant_start();
	scope_push_nvtx(0, "step", NULL, 0);
	play_layers();
	scope_pop_nvtx(0);
	play_instantiate();
	dormant_record(1);
}

static void a_graph_of_an_earlier_recording_is_known(void **state)
{
	dormant_assert_known(play_scene(*state, made_within), 3);
}

static void destroyed_between(void)
{
	dormant_start();
	play_layers();
	play_instantiate();
	dormant_exec_gone(EXEC);
	dormant_graph_gone(EXEC_GRAPH);
	dormant_graph_gone(GRAPH);
	scope_push_nvtx(0, "step", NULL, 0);
	/* The same numbers stand for another graph. */
	play_graph(GRAPH);
	play_node(GRAPH, 11, CUDA_NODE_KERNEL);
	play_graph_clone(EXEC_GRAPH, GRAPH);
	play_node_clone(EXEC_GRAPH, 101, 11, CUDA_NODE_KERNEL);
	play_exec(EXEC + 1, GRAPH);
	play_launch(1, EXEC + 1);
	play_graph_kernel(1, EXEC + 1, 101, "kernel");
	scope_pop_nvtx(0);
}

static void a_number_that_is_used_again_is_of_the_new_graph(void **state)
{
	struct trace *trace = play_scene(*state, destroyed_between);
	const struct trace_activity *row = play_find_kernel(trace, "kernel");

	assert_int_equal(row->confidence, TRACE_CONFIDENCE_EXACT);
	assert_int_equal(trace->graphs[trace->nodes[row->node].graph].node_count, 1);
	play_assert_closed(trace);
}

enum { TOP = 51, MOVED, CLONED, CLONE };

#define NODE(graph, index) ((uint64_t)(graph) << 32 | (index))

/* A child graph that only the call's parameters tell, and one that is cloned within its call. The
 * exec has their nodes after its own. */
static void play_children(void)
{
	play_graph(TOP);
	play_graph(MOVED);
	play_add_kernel(MOVED, NODE(MOVED, 0), 0);
	play_move_child(TOP, NODE(TOP, 0), MOVED, 0);
	play_graph(CLONED);
	play_add_kernel(CLONED, NODE(CLONED, 0), 0);
	play_clone_child(TOP, NODE(TOP, 1), CLONED, CLONE, NODE(CLONE, 0), 1, NODE(TOP, 0));
	play_graph(EXEC);
	for (uint32_t i = 0; i < 2; i++)
		play_node_clone(EXEC, NODE(EXEC, i), NODE(TOP, i), CUDA_NODE_KERNEL);
	play_exec(EXEC, TOP);
}

static void record_children(void)
{
	scope_push_nvtx(0, "step", NULL, 0);
	play_launch(1, EXEC);
	play_graph_kernel(1, EXEC, NODE(EXEC, 2), "moved");
	play_graph_kernel(1, EXEC, NODE(EXEC, 3), "cloned");
	play_device_wait(2);
	scope_pop_nvtx(0);
}

static void with_children(void)
{
	dormant_start();
	play_children();
	record_children();
}

/* The graphs are destroyed, the clone in the node with the graph around it, and the steps of others
 * are discarded. */
static void with_children_of_destroyed_graphs(void)
{
	dormant_start();
	play_children();
	for (uint32_t graph = TOP; graph <= CLONE; graph++)
		dormant_graph_gone(graph);
	for (uint32_t i = 0; i < 5000; i++) {
		play_graph(1000 + i);
		dormant_graph_gone(1000 + i);
	}
	expect(cuda_notes_count() < 10000);
	record_children();
}

static void assert_held(struct trace *trace)
{
	assert_int_equal(trace->graphs_count, 3);
	assert_int_equal(trace->nodes[play_find_kernel(trace, "moved")->node].handle,
			 NODE(MOVED, 0));
	assert_int_equal(trace->nodes[play_find_kernel(trace, "cloned")->node].handle,
			 NODE(CLONE, 0));
	assert_int_equal(play_source(trace, "graph")->expected, 2);
	play_assert_closed(trace);
}

static void what_nodes_hold_is_known(void **state)
{
	assert_held(play_scene(*state, with_children));
}

static void what_nodes_of_destroyed_graphs_hold_is_known(void **state)
{
	assert_held(play_scene(*state, with_children_of_destroyed_graphs));
}

/* ---- a child graph that has a child graph (H100, CUDA 13.0) ---- */

enum { INNER = 61, OUTER, HELD_INNER, AROUND, HELD_OUTER, HELD_TWICE };

/* Within the call of the runtime's function for kernels, which does not tell the node's type. */
static void add_untold(uint32_t graph, uint64_t node, uint64_t dependency)
{
	struct model_open call;

	play_enter(&call, 689, "cuGraphAddKernelNode_v2");
	play_new_node(graph, node, CUDA_NODE_KERNEL, dependency);
	model_leave(&call, 0);
}

static void clone_inner(uint32_t clone, uint32_t original)
{
	play_graph(clone);
	for (uint32_t i = 0; i < 2; i++)
		play_node_clone(clone, NODE(clone, i), NODE(original, i), CUDA_NODE_KERNEL);
	play_edge(clone, NODE(clone, 0), NODE(clone, 1));
}

/* The clone of a held graph comes after that of the node before the one that holds it. */
static void clone_outer(uint32_t clone, uint32_t original, uint32_t inner, uint32_t inner_original)
{
	play_graph(clone);
	play_node_clone(clone, NODE(clone, 0), NODE(original, 0), CUDA_NODE_KERNEL);
	clone_inner(inner, inner_original);
	play_node_clone(clone, NODE(clone, 1), NODE(original, 1), CUDA_NODE_KERNEL);
	play_node_clone(clone, NODE(clone, 2), NODE(original, 2), CUDA_NODE_KERNEL);
	play_edge(clone, NODE(clone, 0), NODE(clone, 1));
	play_edge(clone, NODE(clone, 1), NODE(clone, 2));
}

static void add_children(void)
{
	struct model_open call;

	play_graph(INNER);
	play_graph(OUTER);
	play_graph(AROUND);
	add_untold(INNER, NODE(INNER, 0), 0);
	add_untold(INNER, NODE(INNER, 1), NODE(INNER, 0));
	add_untold(OUTER, NODE(OUTER, 0), 0);
	play_enter(&call, 525, "cuGraphAddChildGraphNode");
	play_edge(OUTER, NODE(OUTER, 0), NODE(OUTER, 1));
	clone_inner(HELD_INNER, INNER);
	play_new_node(OUTER, NODE(OUTER, 1), CUDA_NODE_GRAPH, 0);
	model_leave(&call, 0);
	add_untold(OUTER, NODE(OUTER, 2), NODE(OUTER, 1));
	add_untold(AROUND, NODE(AROUND, 0), 0);
	play_enter(&call, 525, "cuGraphAddChildGraphNode");
	play_edge(AROUND, NODE(AROUND, 0), NODE(AROUND, 1));
	clone_outer(HELD_OUTER, OUTER, HELD_TWICE, HELD_INNER);
	play_new_node(AROUND, NODE(AROUND, 1), CUDA_NODE_GRAPH, 0);
	model_leave(&call, 0);
	add_untold(AROUND, NODE(AROUND, 2), NODE(AROUND, 1));
}

/* The driver clones all of it, then makes graphs of its own for the children, and a node that comes
 * before all others. */
static void instantiate_children(void)
{
	enum { OUTER_COPY = EXEC + 1, INNER_COPY, OWN_TOP, OWN_OUTER, OWN_INNER };
	struct model_open call;

	play_enter(&call, 656, "cuGraphInstantiateWithParams");
	play_graph(EXEC);
	play_node_clone(EXEC, NODE(EXEC, 0), NODE(AROUND, 0), CUDA_NODE_KERNEL);
	clone_outer(OUTER_COPY, HELD_OUTER, INNER_COPY, HELD_TWICE);
	play_node_clone(EXEC, NODE(EXEC, 1), NODE(AROUND, 1), CUDA_NODE_KERNEL);
	play_node_clone(EXEC, NODE(EXEC, 2), NODE(AROUND, 2), CUDA_NODE_KERNEL);
	play_graph(OWN_TOP);
	play_graph(OWN_OUTER);
	play_graph(OWN_INNER);
	play_new_node(OWN_OUTER, NODE(OWN_OUTER, 1), CUDA_NODE_KERNEL, 0);
	play_new_node(OWN_TOP, NODE(OWN_TOP, 1), CUDA_NODE_KERNEL, 0);
	play_new_node(EXEC, NODE(EXEC, 8), CUDA_NODE_KERNEL, 0);
	play_edge(EXEC, NODE(EXEC, 8), NODE(EXEC, 0));
	play_exec(EXEC, AROUND);
	model_leave(&call, 0);
}

static void with_a_child_of_a_child(void)
{
	static const struct {
		uint32_t node;
		const char *name;
	} ran[] = {{0, "top_first"},  {3, "outer_first"}, {6, "inner_first"},
		   {7, "inner_last"}, {5, "outer_last"},  {2, "top_last"}};

	dormant_start();
	add_children();
	instantiate_children();
	dormant_graph_gone(INNER);
	dormant_graph_gone(OUTER);
	dormant_graph_gone(HELD_INNER);
	scope_push_nvtx(0, "step", NULL, 0);
	play_launch(1, EXEC);
	for (size_t i = 0; i < sizeof(ran) / sizeof(*ran); i++)
		play_graph_kernel(1, EXEC, NODE(EXEC, ran[i].node), ran[i].name);
	play_device_wait(2);
	scope_pop_nvtx(0);
}

static uint64_t handle_of(const struct trace *trace, const char *kernel)
{
	const struct trace_activity *row = play_find_kernel(trace, kernel);

	assert_int_not_equal(row->node, TRACE_NONE);
	return trace->nodes[row->node].handle;
}

static void what_a_child_of_a_child_holds_is_known(void **state)
{
	struct trace *trace = play_scene(*state, with_a_child_of_a_child);

	assert_int_equal(handle_of(trace, "top_last"), NODE(AROUND, 2));
	assert_int_equal(handle_of(trace, "outer_first"), NODE(HELD_OUTER, 0));
	assert_int_equal(handle_of(trace, "outer_last"), NODE(HELD_OUTER, 2));
	assert_int_equal(handle_of(trace, "inner_first"), NODE(HELD_TWICE, 0));
	assert_int_equal(handle_of(trace, "inner_last"), NODE(HELD_TWICE, 1));
	assert_int_equal(play_source(trace, "graph")->expected, 6);
	play_assert_closed(trace);
}

/* The second node is off: without this knowledge its kernel would be missing. */
static void switched_before(void)
{
	struct cupti_set_enabled_params params = {.graphExec = (void *)EXEC, .node = (void *)12};
	struct model_open call;

	dormant_start();
	play_layers();
	play_instantiate();
	model_enter(&call, CUPTI_DOMAIN_DRIVER, CUPTI_cuGraphNodeSetEnabled, 77,
		    "cuGraphNodeSetEnabled", &params);
	model_leave(&call, 0);
	scope_push_nvtx(0, "step", NULL, 0);
	for (uint32_t i = 1; i <= 2; i++) {
		play_launch(i, EXEC);
		play_graph_kernel(i, EXEC, 101, "first");
		play_graph_kernel(i, EXEC, 103, "third");
	}
	scope_pop_nvtx(0);
}

static void a_node_that_was_switched_before_is_not_missing(void **state)
{
	struct trace *trace = play_scene(*state, switched_before);

	assert_int_equal(trace->activities_count, 4);
	play_assert_closed(trace);
}

/* ---- what CUPTI is asked for ---- */

static void ask_for_little(void)
{
	dormant_start();
	expect(model_is_subscribed());
	expect(model_is_asked(CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPHNODE_CREATED));
	expect(model_is_asked(CUPTI_DOMAIN_DRIVER, CUPTI_cuGraphNodeSetEnabled));
	expect(!model_is_asked(CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPH_NODE_UPDATED));
	expect(!model_is_asked(CUPTI_DOMAIN_RESOURCE, CUPTI_STREAM_CREATED));
	expect(!model_is_asked(CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL));
	expect(!model_is_asked(CUPTI_DOMAIN_DRIVER, CUPTI_cuGraphLaunch));
	/* A program without graphs is as before after a recording. */
	dormant_record(0);
	expect(model_is_subscribed());
	expect(!model_is_asked(CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL));
	/* Of callbacks that stay enabled, those of other calls change nothing. */
	play_layers();
	play_instantiate();
	dormant_record(1);
	expect(model_is_asked(CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL));
	play_call(70);
	play_launch(71, EXEC);
	dormant_launches = 71;
	dormant_record(1);
}

static void launches_bring_no_callbacks(void **state)
{
	struct trace *trace = play_scene(*state, ask_for_little);

	dormant_assert_known(trace, 6);
	assert_int_equal(trace->launches_count, 2);
}

static void leave_cupti_alone(void)
{
	setenv("DAGTAP_CUDA_DORMANT", "0", 1);
	dormant_start();
	expect(!model_is_subscribed());
	play_layers();
	play_instantiate();
	dormant_record(1);
	expect(!model_is_subscribed() && !model_is_enabled());
}

static void without_the_option_graphs_are_unseen(void **state)
{
	struct trace *trace = play_scene(*state, leave_cupti_alone);

	assert_int_equal(trace->activities_count, 3);
	for (uint32_t i = 0; i < trace->graphs_count; i++)
		assert_int_equal(trace->graphs[i].edge_count, 0);
	play_assert_closed(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(a_graph_that_was_made_before_is_known),
		PLAY_CASE(each_later_recording_has_it),
		PLAY_CASE(a_graph_of_an_earlier_recording_is_known),
		PLAY_CASE(a_number_that_is_used_again_is_of_the_new_graph),
		PLAY_CASE(what_nodes_hold_is_known),
		PLAY_CASE(what_nodes_of_destroyed_graphs_hold_is_known),
		PLAY_CASE(what_a_child_of_a_child_holds_is_known),
		PLAY_CASE(a_node_that_was_switched_before_is_not_missing),
		PLAY_CASE(launches_bring_no_callbacks),
		PLAY_CASE(without_the_option_graphs_are_unseen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
