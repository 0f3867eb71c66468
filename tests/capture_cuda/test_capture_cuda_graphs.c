/*
 * CUDA graphs: templates, nodes and replays, from the steps of their lives and from activities
 * alone.
 */
#include "cuda_scene.h"

#include <semaphore.h>
#include <time.h>

#include "analyze/advise.h"
#include "capture/capture_session.h"
#include "capture/process_recordings.h"
#include "capture/scope.h"
#include "record/spooler.h"
#include "trace/load.h"

enum { CLONE = 6, CHILD = 8, CHILD_CLONE = 9 };

static void three_replays(void)
{
	static const char *const names[] = {"gather", "softmax", "gemm"};

	play_start();
	play_layers();
	play_instantiate();
	for (uint32_t launch = 1; launch <= 3; launch++)
		play_launch(launch, EXEC);
	/* The later replay is delivered first, its nodes in any order. */
	for (uint32_t launch = 3; launch >= 1; launch--) {
		for (uint32_t i = 3; i-- > 0;)
			play_graph_kernel(launch, EXEC, 101 + (i + launch) % 3,
					  names[(i + launch) % 3]);
	}
	session_stop();
}

static void assert_three_replays(const struct trace *trace)
{
	assert_int_equal(trace->execs_count, 1);
	assert_int_equal(trace->execs[0].id, EXEC);
	assert_int_equal(trace->execs[0].launch_count, 3);
	assert_int_equal(trace->launches_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(trace->launches[i].replay, i);
		assert_int_equal(trace->launches[i].activity_count, 3);
		assert_true(trace->launches[i].exact);
	}
	assert_int_equal(trace->activities_count, 9);
	for (uint32_t i = 0; i < 9; i++) {
		const struct trace_activity *row = &trace->activities[i];

		assert_int_equal(row->confidence, TRACE_CONFIDENCE_EXACT);
		assert_int_equal(row->launch, i / 3);
		assert_int_equal(row->queue, TRACE_NONE);
		assert_int_equal(trace->nodes[row->node].index, i % 3);
	}
}

static void replay_node_ordinal_stable(void **state)
{
	static const char *const names[] = {"gather", "softmax", "gemm"};
	static const char *const layers[] = {"embed", "attend", "project"};
	struct trace *trace = play_scene(*state, three_replays);
	const struct trace_source *source = play_source(trace, "graph");

	assert_int_equal(trace->graphs_count, 1);
	assert_int_equal(trace->nodes_count, 3);
	assert_int_equal(trace->edges_count, 2);
	assert_three_replays(trace);
	for (uint32_t i = 0; i < 3; i++) {
		const struct trace_node *node = &trace->nodes[i];

		assert_string_equal(trace_text(trace, node->name), names[i]);
		assert_string_equal(trace_text(trace, trace->scopes[node->scope].text), layers[i]);
		assert_int_equal(node->grid[0], 640);
	}
	assert_int_equal(source->expected, 9);
	assert_int_equal(source->received, 9);
	play_assert_closed(trace);
	trace_close(trace);
}

static void graph_launch_one_to_n(void **state)
{
	struct trace *trace = play_scene(*state, three_replays);

	assert_int_equal(trace->activities_count, 9);
	for (uint32_t i = 0; i < 9; i++) {
		const struct trace_activity *row = &trace->activities[i];
		const struct trace_call *call = &trace->calls[trace->launches[i / 3].call];

		assert_ptr_equal(&trace->calls[row->call], call);
		assert_int_equal(row->cid, call->cid);
		assert_int_equal(row->launch, i / 3);
		assert_int_equal(call->activity_count, 3);
		assert_int_equal(call->activities_expected, 3);
	}
	trace_close(trace);
}

/* ---- a lost kernel ---- */

static void one_is_missing(void)
{
	play_start();
	play_layers();
	play_instantiate();
	play_launch(1, EXEC);
	play_graph_kernel(1, EXEC, 101, "gather");
	play_graph_kernel(1, EXEC, 103, "gemm");
	play_device_wait(2);
	session_stop();
}

static void partial_replay_reported(void **state)
{
	struct trace *trace = play_scene(*state, one_is_missing);

	assert_int_equal(play_source(trace, "graph")->expected, 3);
	assert_int_equal(play_source(trace, "graph")->received, 2);
	assert_int_equal(play_source(trace, "graph")->unexplained, 1);
	assert_int_equal(trace->calls[trace->launches[0].call].activities_expected, 3);
	trace_close(trace);
}

/*
 * Two of three launches are still on the GPU when the recording stops; part of the first one has
 * ended.
 */
static void some_have_not_ended(void)
{
	play_start();
	play_layers();
	play_instantiate();
	play_launch(1, EXEC);
	for (uint64_t i = 0; i < 3; i++)
		play_graph_kernel(1, EXEC, 101 + i, "kernel");
	play_device_wait(2);
	play_launch(3, EXEC);
	play_graph_kernel(3, EXEC, 101, "gather");
	play_launch(4, EXEC);
	session_stop();
}

static void what_has_not_ended_is_not_missed(void **state)
{
	struct trace *trace = play_scene(*state, some_have_not_ended);
	const struct trace_source *source = play_source(trace, "graph");

	assert_int_equal(source->expected, 9);
	assert_int_equal(source->received, 4);
	assert_int_equal(source->drop_count, 1);
	assert_int_equal(trace->drops[source->drop_first].count, 5);
	assert_string_equal(trace_text(trace, trace->drops[source->drop_first].cause),
			    "not finished when tracing ended");
	play_assert_closed(trace);
	trace_close(trace);
}

/* Eager work has run after it on the stream that the launch was submitted to. */
static void one_is_passed_by_its_stream(void)
{
	struct cupti_kernel kernel;

	play_start();
	play_layers();
	play_instantiate();
	play_launch(1, EXEC);
	play_graph_kernel(1, EXEC, 101, "gather");
	play_call(2);
	kernel = play_kernel(2, "eager");
	PLAY_PUT(kernel);
	session_stop();
}

static void what_its_stream_has_passed_is_missed(void **state)
{
	struct trace *trace = play_scene(*state, one_is_passed_by_its_stream);

	assert_int_equal(play_source(trace, "graph")->unexplained, 2);
	trace_close(trace);
}

/*
 * Nothing comes of the first launch; a conditional's body brings kernels without a correlation id.
 */
static void a_replay_is_missing(void)
{
	play_start();
	play_layers();
	play_instantiate();
	play_launch(1, EXEC);
	play_launch(2, EXEC);
	for (uint64_t i = 0; i < 3; i++) {
		play_graph_kernel(2, EXEC, 101 + i, "kernel");
		play_graph_kernel(0, EXEC + 1, 301 + i, "body");
	}
	session_stop();
}

static void what_has_no_call_does_not_stand_in_for_what_is_lost(void **state)
{
	struct trace *trace = play_scene(*state, a_replay_is_missing);

	assert_int_equal(play_source(trace, "graph")->unexplained, 3);
	trace_close(trace);
}

static void killed_before_delivery(void)
{
	play_start();
	play_layers();
	play_instantiate();
	play_launch(1, EXEC);
	play_launch(2, EXEC);
	for (uint64_t i = 0; i < 3; i++)
		play_graph_kernel(1, EXEC, 101 + i, "kernel");
	model_deliver(0);
	_exit(0);
}

static void what_was_not_delivered_is_put_down(void **state)
{
	struct trace *trace = play_scene(*state, killed_before_delivery);
	const struct trace_source *source = play_source(trace, "graph");

	assert_true(trace->truncated);
	assert_int_equal(source->expected, 6);
	assert_int_equal(source->received, 3);
	assert_int_equal(source->drop_count, 1);
	assert_int_equal(trace->drops[source->drop_first].count, 3);
	play_assert_closed(trace);
	trace_close(trace);
}

static sem_t is_ticking, never;

/* Never returns: the process ends first. */
static void tick_for_long(void)
{
	sem_post(&is_ticking);
	for (;;)
		sem_wait(&never);
}

static const struct capture_source slow_part = {.name = "slow", .tick = tick_for_long};

/* The tool does not ask for what CUPTI still has. */
static void stopped_during_a_tick(void)
{
	setenv("DAGTAP_TIMERS", "limits=never,part_hook=0,thread_end=0", 1);
	expect(!sem_init(&is_ticking, 0, 0) && !sem_init(&never, 0, 0));
	session_add_source(&slow_part);
	play_start();
	play_layers();
	play_instantiate();
	while (sem_wait(&is_ticking))
		;
	play_launch(1, EXEC);
	play_launch(2, EXEC);
	for (uint64_t i = 0; i < 3; i++)
		play_graph_kernel(1, EXEC, 101 + i, "kernel");
	model_deliver(0);
	for (uint64_t i = 0; i < 3; i++)
		play_graph_kernel(2, EXEC, 101 + i, "kernel");
	session_stop();
	_exit(0);
}

static void what_was_not_asked_for_is_put_down(void **state)
{
	struct trace *trace = play_scene(*state, stopped_during_a_tick);
	const struct trace_source *source = play_source(trace, "graph");

	assert_false(trace->truncated);
	assert_int_equal(source->expected, 6);
	assert_int_equal(source->received, 3);
	assert_int_equal(source->drop_count, 1);
	assert_int_equal(trace->drops[source->drop_first].count, 3);
	play_assert_closed(trace);
	trace_close(trace);
}

/* ---- nodes that are disabled ---- */

static void play_switch(uint32_t correlation, uint64_t exec, uint64_t node, int result)
{
	const struct cupti_set_enabled_params params = {.graphExec = (void *)exec,
							.node = (void *)node};
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaGraphNodeSetEnabled, correlation,
		    "cudaGraphNodeSetEnabled", &params);
	model_leave(&call, result);
}

/* A node of one executable graph is disabled; the same call fails for the other one. */
static void without_a_node(void)
{
	play_start();
	play_layers();
	play_instantiate();
	for (uint64_t i = 0; i < 3; i++)
		play_node_clone(EXEC_GRAPH + 1, 201 + i, 11 + i, CUDA_NODE_KERNEL);
	play_exec(EXEC + 1, GRAPH);
	play_switch(1, EXEC, 12, 0);
	play_switch(2, EXEC + 1, 12, 1);
	play_launch(3, EXEC);
	play_graph_kernel(3, EXEC, 101, "gather");
	play_graph_kernel(3, EXEC, 103, "gemm");
	play_launch(4, EXEC + 1);
	for (uint64_t i = 0; i < 3; i++)
		play_graph_kernel(4, EXEC + 1, 201 + i, "kernel");
}

static void a_node_that_is_switched_off(void)
{
	without_a_node();
	session_stop();
}

static void a_node_that_is_switched_off_is_not_missed(void **state)
{
	struct trace *trace = play_scene(*state, a_node_that_is_switched_off);
	const struct trace_source *source = play_source(trace, "graph");

	assert_int_equal(source->expected, 3);
	assert_int_equal(source->received, 3);
	assert_non_null(strstr(trace_text(trace, source->text),
			       "1 launches not judged: the program switches nodes"));
	play_assert_closed(trace);
	trace_close(trace);
}

static void one_of_the_others_is_lost(void)
{
	without_a_node();
	play_launch(5, EXEC + 1);
	play_graph_kernel(5, EXEC + 1, 201, "kernel");
	play_device_wait(6);
	session_stop();
}

/*
 * Expected activities are not judged for the executable graph whose nodes are disabled, and are for
 * others.
 */
static void other_execs_are_judged_beside_it(void **state)
{
	struct trace *trace = play_scene(*state, one_of_the_others_is_lost);

	assert_int_equal(play_source(trace, "graph")->unexplained, 2);
	trace_close(trace);
}

static void switched_without_ids(void)
{
	play_start();
	play_layers();
	play_instantiate();
	model_fail(MODEL_GET_ID, 0, CUPTI_NOT_SUPPORTED);
	play_switch(1, EXEC + 7, 12, 0);
	model_fail(MODEL_GET_ID, UINT32_MAX, CUPTI_OK);
	play_launch(2, EXEC);
	play_graph_kernel(2, EXEC, 101, "gather");
	session_stop();
}

static void of_an_unknown_exec_it_may_be_any(void **state)
{
	struct trace *trace = play_scene(*state, switched_without_ids);

	play_assert_closed(trace);
	trace_close(trace);
}

/* ---- made before the recording ---- */

static void only_activities(void)
{
	static const char *const names[] = {"gather", "softmax", "gemm"};

	play_start();
	for (uint32_t launch = 1; launch <= 3; launch++)
		play_launch(launch, EXEC);
	for (uint32_t launch = 1; launch <= 3; launch++) {
		for (uint32_t i = 0; i < 3; i++)
			play_graph_kernel(launch, EXEC, 101 + i, names[i]);
	}
	session_stop();
}

static void a_graph_shows_in_its_activities(void **state)
{
	struct trace *trace = play_scene(*state, only_activities);

	assert_int_equal(trace->graphs_count, 1);
	assert_int_equal(trace->nodes_count, 3);
	assert_int_equal(trace->edges_count, 0);
	assert_string_equal(trace_text(trace, trace->nodes[1].name), "softmax");
	assert_three_replays(trace);
	play_assert_closed(trace);
	trace_close(trace);
}

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
	for (uint64_t i = 0; i < 3; i++)
		play_graph_kernel(1, EXEC, 101 + i, "kernel");
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
	trace_close(trace);
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
	trace_close(trace);
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
	trace_close(trace);
}

/* ---- a graph that changes between two executable graphs ---- */

static void changing_graph(void)
{
	struct cupti_graph_data gone = {.graph = (void *)GRAPH, .node = (void *)12};

	play_start();
	play_layers();
	play_instantiate();
	model_resource(CUPTI_GRAPHNODE_DESTROY_STARTING, &gone);
	play_graph_clone(EXEC_GRAPH + 1, GRAPH);
	play_node_clone(EXEC_GRAPH + 1, 201, 11, CUDA_NODE_KERNEL);
	play_node_clone(EXEC_GRAPH + 1, 203, 13, CUDA_NODE_KERNEL);
	play_exec(EXEC + 1, GRAPH);
	play_launch(1, EXEC + 1);
	play_graph_kernel(1, EXEC + 1, 201, "gather");
	play_graph_kernel(1, EXEC + 1, 203, "gemm");
	play_launch(2, EXEC);
	for (uint64_t i = 0; i < 3; i++)
		play_graph_kernel(2, EXEC, 101 + i, "old");
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
	trace_close(trace);
}

static void two_execs(void)
{
	play_start();
	play_layers();
	play_instantiate();
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
	trace_close(trace);
}

/* ---- a ring (DAGTAP_RING) ---- */

enum { RINGED_LAUNCHES = 100000, LOST_FIRST = 5000, LOST_LAUNCHES = 1000 };
/*
 * Chunks: half of what is kept ready, more than the launches in between and one CUPTI buffer fill.
 */
enum { PACE_READY = 128, PACE_LAUNCHES = 1000 };

static enum story { ALL_COME, CUPTI_LOSES, LAUNCHES_FAIL, ONE_IS_OPEN } story;

static void stop_within_a_launch(uint32_t correlation)
{
	const struct cupti_graph_launch_params params = {.graphExec = (void *)EXEC};
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaGraphLaunch, correlation,
		    "cudaGraphLaunch", &params);
	session_stop();
	model_leave(&call, 0);
}

/*
 * More launches than the ring holds. For some early launches CUPTI brings nothing without reporting
 * a drop, or there is nothing to bring.
 */
static void launches_beyond_a_ring(void)
{
	/* No more is kept ready than the launches fill, however busy the machine is. */
	setenv("DAGTAP_RING", "4M", 1);
	setenv("DAGTAP_READY", "16M", 1);
	play_start();
	play_graph(GRAPH);
	for (uint64_t i = 0; i < 3; i++)
		play_node(GRAPH, 11 + i, CUDA_NODE_KERNEL);
	play_exec(EXEC, GRAPH);
	for (uint32_t launch = 1; launch <= RINGED_LAUNCHES; launch++) {
		bool comes = story == ALL_COME || story == ONE_IS_OPEN || launch < LOST_FIRST ||
			     launch >= LOST_FIRST + LOST_LAUNCHES;

		play_launch_with(launch, EXEC, !comes && story == LAUNCHES_FAIL ? 1 : 0);
		for (uint64_t i = 0; i < 3 && comes; i++)
			play_graph_kernel(launch, EXEC, 11 + i, "kernel");
		if (launch % PACE_LAUNCHES == 0)
			fixture_await_ready(recording_spooler(), PACE_READY);
	}
	if (story == ONE_IS_OPEN)
		stop_within_a_launch(RINGED_LAUNCHES + 1);
	session_stop();
}

static void what_cupti_loses_beside_a_ring_is_missed(void **state)
{
	for (story = ALL_COME; story <= ONE_IS_OPEN; story++) {
		bool loses = story == CUPTI_LOSES;
		struct trace *trace = play_scene(*state, launches_beyond_a_ring);
		const struct trace_source *source = play_source(trace, "graph");

		assert_true(trace->launches_count < RINGED_LAUNCHES - LOST_FIRST - LOST_LAUNCHES);
		assert_int_equal(source->unexplained, loses ? 3 * LOST_LAUNCHES : 0);
		trace_close(trace);
		fixture_teardown(state);
		fixture_setup(state);
	}
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
	trace_close(trace);
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
	trace_close(trace);
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
	trace_close(trace);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		CASE(replay_node_ordinal_stable),
		CASE(graph_launch_one_to_n),
		CASE(partial_replay_reported),
		CASE(what_has_not_ended_is_not_missed),
		CASE(what_its_stream_has_passed_is_missed),
		CASE(what_has_no_call_does_not_stand_in_for_what_is_lost),
		CASE(what_was_not_delivered_is_put_down),
		CASE(what_was_not_asked_for_is_put_down),
		CASE(a_node_that_is_switched_off_is_not_missed),
		CASE(other_execs_are_judged_beside_it),
		CASE(of_an_unknown_exec_it_may_be_any),
		CASE(a_graph_shows_in_its_activities),
		CASE(a_clone_has_the_edges_and_scopes_of_its_original),
		CASE(kernels_of_a_child_graph_are_its_nodes),
		CASE(nodes_of_inlined_children_are_known_by_their_order),
		CASE(an_exec_has_the_graph_as_it_was),
		CASE(execs_of_an_unchanged_graph_share_it),
		CASE(what_cupti_loses_beside_a_ring_is_missed),
		CASE(copies_and_fills_are_nodes),
		CASE(updates_are_of_nodes),
		CASE(without_ids_the_kernels_are_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
