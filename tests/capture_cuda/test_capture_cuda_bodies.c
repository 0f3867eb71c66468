/*
 * Nodes that contain graphs: child graphs that are moved into their nodes, cloned into them or
 * assigned later, and bodies of conditional nodes, whose kernels come without a correlation id
 * (H200, CUDA 13.0).
 */
#include "cuda_scene.h"

#include "analyze/dependencies.h"
#include "capture/capture_session.h"

enum {
	TOP = 1,
	MOVED = 2,
	CLONED = 3,
	CLONE = 4,
	BODY = 5,
	OTHER_BODY = 6,
	INNER = 7,
	FRESH = 8,
	BODY_STREAM = 84,
};

#define NODE(graph, index) ((uint64_t)(graph) << 32 | (index))

static uint64_t last_start;

/* Activities follow each other; each lasts 100 ns. */
static uint64_t next_start(void)
{
	uint64_t now = model_now();

	last_start = now > last_start + 1000 ? now : last_start + 1000;
	return last_start;
}

/* Returns when the last activity has ended, of which the played times may be ahead. */
static void await_activities(void)
{
	while (model_now() < last_start + 100)
		;
}

static void put_kernel(uint32_t correlation, uint64_t node, const char *name)
{
	struct cupti_kernel kernel = play_kernel(correlation, name);

	kernel.graphId = (uint32_t)(node >> 32);
	kernel.graphNodeId = node;
	kernel.streamId = correlation ? STREAM : BODY_STREAM;
	kernel.start = next_start();
	kernel.end = kernel.start + 100;
	PLAY_PUT(kernel);
}

/* CUPTI reports clones for the executable graph's own nodes, not for the nodes inside them. */
static void instantiate(uint32_t count)
{
	play_graph(EXEC);
	for (uint32_t i = 0; i < count; i++)
		play_node_clone(EXEC, NODE(EXEC, i), NODE(TOP, i), CUDA_NODE_KERNEL);
	play_exec(EXEC, TOP);
}

static void put_copy(uint32_t correlation, uint64_t node)
{
	struct cupti_memcpy copy = play_copy(correlation, 1024);

	copy.graphId = (uint32_t)(node >> 32);
	copy.graphNodeId = node;
	copy.streamId = correlation ? STREAM : BODY_STREAM;
	copy.start = next_start();
	copy.end = copy.start + 100;
	PLAY_PUT(copy);
}

static uint64_t rows_of(const struct trace *trace, uint32_t launch,
			enum trace_confidence confidence)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < trace->activities_count; i++)
		count += trace->activities[i].launch == launch &&
			 trace->activities[i].confidence == confidence;
	return count;
}

static bool says_not_judged(const struct trace *trace)
{
	return strstr(trace_text(trace, play_source(trace, "graph")->text), "launches not judged");
}

/* ---- children ---- */

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
	instantiate(3);
	for (uint32_t launch = 1; launch <= 3; launch++) {
		play_launch(launch, EXEC);
		put_copy(launch, NODE(EXEC, 3));
		put_kernel(launch, NODE(EXEC, 4), "moved");
		put_kernel(launch, NODE(EXEC, 5), "cloned");
		put_kernel(launch, NODE(EXEC, 2), "last");
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
	instantiate(1);
	play_launch(1, EXEC);
	put_kernel(1, NODE(EXEC, 1), "moved");
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
	put_copy(51, NODE(EXEC, 0));
	put_kernel(51, NODE(EXEC, 1), "kernel");
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
	instantiate(1);
	play_graph(FRESH);
	play_add_kernel(FRESH, NODE(FRESH, 0), 0);
	for (uint32_t launch = 1; launch <= 2; launch++) {
		model_enter(&call, CUPTI_DOMAIN_DRIVER, 586, 10 * launch,
			    "cuGraphExecChildGraphNodeSetParams", NULL);
		model_resource(CUPTI_GRAPH_NODE_UPDATED, &source);
		model_resource(CUPTI_GRAPH_NODE_SET_PARAMS, &updated);
		model_leave(&call, 0);
		play_launch(10 * launch + 1, EXEC);
		put_kernel(10 * launch + 1, NODE(EXEC, 1), "gemm");
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
	instantiate(1);
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

/* ---- bodies ---- */

/*
 * A kernel, a loop with an inner graph in its body, a kernel: the executable graph has 3 nodes,
 * then the body's 3, then the inner graph's.
 */
static void make_loop(void)
{
	const uint32_t body = BODY;

	play_graph(TOP);
	play_add_kernel(TOP, NODE(TOP, 0), 0);
	play_add_conditional(TOP, NODE(TOP, 1), &body, 1, NODE(TOP, 0));
	play_add_kernel(TOP, NODE(TOP, 2), NODE(TOP, 1));
	play_graph(INNER);
	play_add_copy(INNER, NODE(INNER, 0), 0);
	play_add_kernel(BODY, NODE(BODY, 0), 0);
	play_move_child(BODY, NODE(BODY, 1), INNER, NODE(BODY, 0));
	play_add_kernel(BODY, NODE(BODY, 2), NODE(BODY, 1));
	instantiate(3);
}

static void put_turn(void)
{
	put_kernel(0, NODE(EXEC, 3), "work");
	put_copy(0, NODE(EXEC, 6));
	put_kernel(0, NODE(EXEC, 5), "condition");
}

/*
 * All launches are submitted before the first runs, so only the times of the kernels around a loop
 * tell which launch the loop's kernels belong to.
 */
static void loops(void)
{
	play_start();
	make_loop();
	for (uint32_t launch = 1; launch <= 3; launch++)
		play_launch(launch, EXEC);
	for (uint32_t launch = 1; launch <= 3; launch++) {
		put_kernel(launch, NODE(EXEC, 0), "first");
		for (uint32_t turn = 0; turn < launch; turn++)
			put_turn();
		put_kernel(launch, NODE(EXEC, 2), "last");
	}
	await_activities();
	play_device_wait(4);
	session_stop();
}

static void a_body_is_of_its_replay(void **state)
{
	struct trace *trace = play_scene(*state, loops);
	const struct trace_source *source = play_source(trace, "graph");
	const struct trace_activity *work = play_find_kernel(trace, "work");

	assert_int_equal(trace->launches_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(rows_of(trace, i, TRACE_CONFIDENCE_TIME), 3 * (i + 1));
		assert_int_equal(trace->launches[i].body_count, 3 * (i + 1));
		assert_int_equal(trace->launches[i].activity_count, 2 + 3 * (i + 1));
		assert_int_equal(trace->calls[trace->launches[i].call].activity_count,
				 2 + 3 * (i + 1));
	}
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		assert_int_not_equal(row->node, TRACE_NONE);
		assert_int_equal(row->call, trace->launches[row->launch].call);
		assert_int_equal(row->cid, trace->calls[row->call].cid);
	}
	assert_int_equal(trace->nodes[work->node].type, RECORD_NODE_KERNEL);
	assert_int_equal(trace->nodes[trace->graphs[trace->nodes[work->node].graph].parent_node +
				      trace->graphs[trace->execs[0].graph].node_first]
				 .type,
			 RECORD_NODE_CONDITIONAL);
	/*
	 * The nodes around the loop are expected activities; only the device knows how often a body
	 * runs.
	 */
	assert_int_equal(source->expected, 6);
	assert_int_equal(source->received, 6);
	assert_non_null(
		strstr(trace_text(trace, source->text), "18 activities of conditional bodies"));
	assert_null(strstr(trace_text(trace, source->text), "launches not judged"));
	play_assert_closed(trace);
}

/*
 * What waits for a loop waits for the last activity that ran in it, and that one for what ran
 * before.
 */
static void a_path_leads_through_the_bodies(void **state)
{
	struct trace *trace = play_scene(*state, loops);
	struct dependencies deps;
	uint32_t at = (uint32_t)(play_find_kernel(trace, "last") - trace->activities);
	uint32_t steps = 0;

	assert_int_equal(dependencies_make(trace, &deps), 0);
	for (int kind = 0; kind < DEPENDENCY_KIND_COUNT; kind++)
		assert_int_equal(deps.contradicted[kind], 0);
	assert_int_equal(deps.nodes_unknown, 0);
	while (steps < 100) {
		struct dependency_list list = dependencies_of_activity(&deps, at);
		struct dependency_choice choice =
			dependencies_choose(&deps, list, trace->activities[at].start_ns);

		if (choice.source.kind == DEPENDENCY_NONE)
			break;
		at = choice.source.activity;
		steps++;
	}
	/* last, three in the body, first */
	assert_int_equal(steps, 4);
	assert_string_equal(trace_text(trace, trace_work_of(trace, &trace->activities[at])->name),
			    "first");
	dependencies_release(&deps);
}

static void a_kernel_beside_a_loop_is_lost(void)
{
	play_start();
	make_loop();
	play_launch(1, EXEC);
	put_kernel(1, NODE(EXEC, 0), "first");
	put_turn();
	play_device_wait(2);
	session_stop();
}

static void a_body_does_not_stand_in_for_what_is_lost(void **state)
{
	struct trace *trace = play_scene(*state, a_kernel_beside_a_loop_is_lost);

	assert_int_equal(play_source(trace, "graph")->expected, 2);
	assert_int_equal(play_source(trace, "graph")->unexplained, 1);
}

/* The loop is the first node: activities between two replays belong to the later one. */
static void loops_that_come_first(void)
{
	const uint32_t body = BODY;

	play_start();
	play_graph(TOP);
	play_add_conditional(TOP, NODE(TOP, 0), &body, 1, 0);
	play_add_kernel(BODY, NODE(BODY, 0), 0);
	play_add_kernel(TOP, NODE(TOP, 1), NODE(TOP, 0));
	instantiate(2);
	play_launch(1, EXEC);
	play_launch(2, EXEC);
	for (uint32_t launch = 1; launch <= 2; launch++) {
		for (uint32_t turn = 0; turn < launch; turn++)
			put_kernel(0, NODE(EXEC, 2), "work");
		put_kernel(launch, NODE(EXEC, 1), "last");
	}
	session_stop();
}

static void a_body_before_its_replays_kernels_is_of_it(void **state)
{
	struct trace *trace = play_scene(*state, loops_that_come_first);

	assert_int_equal(trace->launches[0].body_count, 1);
	assert_int_equal(trace->launches[1].body_count, 2);
}

/*
 * The graph has only a loop and is launched twice before the first replay ends: nothing tells which
 * replay an activity belongs to.
 */
static bool waits_between;

static void loops_alone(void)
{
	const uint32_t body = BODY;

	play_start();
	play_graph(TOP);
	play_add_conditional(TOP, NODE(TOP, 0), &body, 1, 0);
	play_add_kernel(BODY, NODE(BODY, 0), 0);
	instantiate(1);
	play_launch(1, EXEC);
	if (waits_between)
		put_kernel(0, NODE(EXEC, 1), "work");
	play_launch(2, EXEC);
	put_kernel(0, NODE(EXEC, 1), "work");
	session_stop();
}

static void what_no_time_tells_has_no_replay(void **state)
{
	struct trace *trace = play_scene(*state, loops_alone);
	const struct trace_activity *row = play_find_kernel(trace, "work");

	assert_int_equal(row->launch, TRACE_NONE);
	assert_int_not_equal(row->node, TRACE_NONE);
	assert_non_null(strstr(trace_text(trace, play_source(trace, "graph")->text),
			       "1 activity of a conditional body"));
	play_assert_closed(trace);
}

static void before_the_next_call_it_is_the_last_launchs(void **state)
{
	struct trace *trace;

	waits_between = true;
	trace = play_scene(*state, loops_alone);
	assert_int_equal(trace->launches[0].body_count, 1);
}

/*
 * With two bodies, the second one's nodes are numbered after the first one's, and what these nodes
 * contain after both.
 */
static void two_bodies(void)
{
	const uint32_t bodies[] = {BODY, OTHER_BODY};

	play_start();
	play_graph(TOP);
	play_add_kernel(TOP, NODE(TOP, 0), 0);
	play_add_conditional(TOP, NODE(TOP, 1), bodies, 2, NODE(TOP, 0));
	play_graph(INNER);
	play_add_kernel(INNER, NODE(INNER, 0), 0);
	play_move_child(BODY, NODE(BODY, 0), INNER, 0);
	play_add_kernel(OTHER_BODY, NODE(OTHER_BODY, 0), 0);
	instantiate(2);
	play_launch(1, EXEC);
	put_kernel(1, NODE(EXEC, 0), "choose");
	put_kernel(0, NODE(EXEC, 3), "second");
	put_kernel(0, NODE(EXEC, 4), "inner");
	session_stop();
}

static void each_body_is_a_graph_of_its_node(void **state)
{
	struct trace *trace = play_scene(*state, two_bodies);
	const struct trace_activity *row = play_find_kernel(trace, "second");
	uint32_t top = trace->execs[0].graph, held = 0;

	for (uint32_t i = 0; i < trace->graphs_count; i++)
		held += trace->graphs[i].parent == top && trace->graphs[i].parent_node == 1;
	assert_int_equal(held, 2);
	assert_int_equal(trace->nodes[row->node].index, 0);
	assert_int_equal(trace->graphs[trace->nodes[row->node].graph].parent_node, 1);
	assert_int_not_equal(trace->nodes[row->node].graph,
			     trace->nodes[trace->graphs[top].node_first + 1].child);
	assert_int_equal(row->launch, 0);
	row = play_find_kernel(trace, "inner");
	assert_int_equal(trace->graphs[trace->nodes[row->node].graph].parent,
			 trace->nodes[trace->graphs[top].node_first + 1].child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(a_moved_child_is_its_nodes_graph),
		PLAY_CASE(what_a_moved_child_lacks_is_missed),
		PLAY_CASE(a_replaced_node_keeps_its_number),
		PLAY_CASE(an_updated_child_keeps_its_nodes),
		PLAY_CASE(a_whole_update_counts_each_node_once),
		PLAY_CASE(a_body_is_of_its_replay),
		PLAY_CASE(a_path_leads_through_the_bodies),
		PLAY_CASE(a_body_does_not_stand_in_for_what_is_lost),
		PLAY_CASE(a_body_before_its_replays_kernels_is_of_it),
		PLAY_CASE(what_no_time_tells_has_no_replay),
		PLAY_CASE(before_the_next_call_it_is_the_last_launchs),
		PLAY_CASE(each_body_is_a_graph_of_its_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
