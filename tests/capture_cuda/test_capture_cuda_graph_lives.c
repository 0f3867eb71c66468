/*
 * CUDA graphs whose parts are destroyed while they are in use, numbers that are used again, and
 * records that name only part of what they belong to.
 */
#include "cuda_scene.h"

#include "capture/capture_session.h"
#include "capture/process_recordings.h"
#include "capture/scope.h"
#include "trace/ledger/ledger.h"

static void node_gone(uint64_t graph, uint64_t node)
{
	struct cupti_graph_data gone = {.graph = (void *)graph, .node = (void *)node};

	model_resource(CUPTI_GRAPHNODE_DESTROY_STARTING, &gone);
}

static void replay_and_stop(void)
{
	play_instantiate();
	play_launch(1, EXEC);
	play_replay(1, EXEC, 101, "kernel");
	session_stop();
}

/* The middle node is destroyed, and a node in another scope gets its number. */
static void a_number_again(void)
{
	play_start();
	play_layers();
	node_gone(GRAPH, 12);
	scope_push(RECORD_SCOPE_DAGTAP, "again");
	play_node(GRAPH, 12, CUDA_NODE_KERNEL);
	scope_pop(RECORD_SCOPE_DAGTAP);
	replay_and_stop();
}

static void a_node_may_have_a_number_again(void **state)
{
	struct trace *trace = play_scene(*state, a_number_again);
	const struct trace_graph *graph = &trace->graphs[trace->execs[0].graph];
	uint32_t again = 0;

	assert_int_equal(graph->node_count, 3);
	/* The new node does not have the destroyed node's edges. */
	assert_int_equal(graph->edge_count, 0);
	for (uint32_t i = 0; i < 3; i++) {
		const struct trace_node *node = &trace->nodes[graph->node_first + i];

		again += node->handle == 12;
		assert_string_equal(trace_text(trace, trace->scopes[node->scope].text),
				    node->handle == 12	 ? "again"
				    : node->handle == 11 ? "embed"
							 : "project");
		assert_int_equal(trace->activities[i].confidence, TRACE_CONFIDENCE_EXACT);
	}
	assert_int_equal(again, 1);
	play_assert_closed(trace);
}

static void play_middle_behind_its_edges(void)
{
	play_edge(GRAPH, 11, 12);
	play_edge(GRAPH, 12, 13);
	play_node(GRAPH, 12, CUDA_NODE_KERNEL);
}

static void edges_first(void)
{
	play_start();
	play_graph(GRAPH);
	play_node(GRAPH, 11, CUDA_NODE_KERNEL);
	play_node(GRAPH, 13, CUDA_NODE_KERNEL);
	play_middle_behind_its_edges();
	node_gone(GRAPH, 12);
	play_middle_behind_its_edges();
	replay_and_stop();
}

/* A capture reports edges in this order (H200, CUDA 13.0), also where a number is used again. */
static void an_edge_may_come_before_its_node(void **state)
{
	struct trace *trace = play_scene(*state, edges_first);

	assert_int_equal(trace->graphs[trace->execs[0].graph].node_count, 3);
	assert_int_equal(trace->graphs[trace->execs[0].graph].edge_count, 2);
	assert_int_equal(play_source(trace, "graph")->expected, 3);
	assert_int_equal(play_source(trace, "graph")->received, 3);
	play_assert_closed(trace);
}

/*
 * The graph and its executable graph are destroyed during a replay, and a new graph gets their
 * numbers.
 */
static void a_graph_goes(void)
{
	struct cupti_graph_data graph = {.graph = (void *)GRAPH};
	struct cupti_graph_data exec = {.graphExec = (void *)EXEC};

	play_start_with_graph();
	play_launch(1, EXEC);
	model_resource(CUPTI_GRAPHEXEC_DESTROY_STARTING, &exec);
	model_resource(CUPTI_GRAPH_DESTROY_STARTING, &graph);
	play_graph(GRAPH);
	play_node(GRAPH, 14, CUDA_NODE_KERNEL);
	play_exec(EXEC + 1, GRAPH);
	play_launch(2, EXEC + 1);
	play_graph_kernel(2, EXEC + 1, 14, "alone");
	play_replay(1, EXEC, 101, "late");
	session_stop();
}

static void what_ran_keeps_the_graph_that_it_was_of(void **state)
{
	struct trace *trace = play_scene(*state, a_graph_goes);

	assert_int_equal(trace->graphs[trace->execs[0].graph].node_count, 3);
	assert_int_equal(trace->graphs[trace->execs[1].graph].node_count, 1);
	assert_int_equal(play_find_kernel(trace, "alone")->confidence, TRACE_CONFIDENCE_EXACT);
	assert_int_equal(play_find_kernel(trace, "late")->confidence, TRACE_CONFIDENCE_EXACT);
	play_assert_closed(trace);
}

/* A graph of an empty node is destroyed, and a graph of a kernel gets its numbers. */
static void another_kind(void)
{
	struct cupti_graph_data graph = {.graph = (void *)GRAPH};

	play_start();
	play_graph(GRAPH);
	play_node(GRAPH, 11, CUDA_NODE_EMPTY);
	model_resource(CUPTI_GRAPH_DESTROY_STARTING, &graph);
	play_graph(GRAPH);
	play_node(GRAPH, 11, CUDA_NODE_KERNEL);
	play_graph_clone(EXEC_GRAPH, GRAPH);
	play_node_clone(EXEC_GRAPH, 101, 11, CUDA_NODE_KERNEL);
	play_exec(EXEC, GRAPH);
	play_launch(1, EXEC);
	play_graph_kernel(1, EXEC, 101, "kernel");
	session_stop();
}

static void a_number_again_may_be_of_another_kind(void **state)
{
	struct trace *trace = play_scene(*state, another_kind);

	assert_int_equal(trace->nodes[play_find_kernel(trace, "kernel")->node].type,
			 RECORD_NODE_KERNEL);
	play_assert_closed(trace);
}

/* Records that name only part of what they belong to, or numbers that do not exist. */
static void halves(void)
{
	struct cupti_kernel kernel;

	play_start_with_graph();
	play_call(1);
	kernel = play_kernel(1, "no node");
	kernel.graphId = EXEC;
	PLAY_PUT(kernel);
	kernel = play_kernel(1, "no exec");
	kernel.graphNodeId = 101;
	PLAY_PUT(kernel);
	kernel = play_kernel(0, "no call");
	kernel.graphId = EXEC;
	kernel.graphNodeId = 102;
	PLAY_PUT(kernel);
	kernel = play_kernel(1, "nobody's");
	kernel.graphId = 77;
	kernel.graphNodeId = 7777;
	PLAY_PUT(kernel);
	session_stop();
}

static void what_is_not_known_has_no_node(void **state)
{
	struct trace *trace = play_scene(*state, halves);
	const struct trace_activity *no_call = play_find_kernel(trace, "no call");

	assert_int_equal(trace->activities_count, 4);
	assert_int_equal(play_find_kernel(trace, "no node")->node, TRACE_NONE);
	assert_int_equal(play_find_kernel(trace, "no exec")->node, TRACE_NONE);
	assert_int_equal(no_call->call, TRACE_NONE);
	assert_int_equal(trace->nodes[no_call->node].handle, 12);
	play_assert_closed(trace);
}

/* ---- types that CUPTI does not report ---- */

/* A node's parameters begin with its type; older functions have no edge data before them. */
static void add_node(bool is_old, uint32_t correlation, uint64_t node, int type)
{
	const struct cuda_node_params params = {.type = (uint32_t)type};
	const struct cupti_add_node_params old = {.graph = (void *)GRAPH, .parameters = &params};
	const struct cupti_add_node_v2_params later = {.graph = (void *)GRAPH,
						       .parameters = &params};
	struct cupti_graph_data data = {.graph = (void *)GRAPH, .node = (void *)node};
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_RUNTIME,
		    is_old ? CUPTI_cudaGraphAddNode_v12020 : CUPTI_cudaGraphAddNode_v12030,
		    correlation, "cudaGraphAddNode", is_old ? (const void *)&old : &later);
	model_resource(CUPTI_GRAPHNODE_CREATED, &data);
	model_leave(&call, 0);
}

static void capture_node(uint32_t correlation, uint64_t node, const char *call_name)
{
	struct cupti_graph_data data = {.graph = (void *)GRAPH, .node = (void *)node};
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_RUNTIME, (uint32_t)(100 + node), correlation, call_name,
		    NULL);
	model_resource(CUPTI_GRAPHNODE_CREATED, &data);
	model_leave(&call, 0);
}

static void nodes_of_many_types(void)
{
	play_start_with_all_calls();
	play_graph(GRAPH);
	add_node(true, 1, 11, CUDA_NODE_EMPTY);
	add_node(false, 2, 12, CUDA_NODE_MEM_ALLOC);
	capture_node(3, 13, "cudaMemcpyAsync");
	capture_node(4, 14, "cudaLaunchHostFunc");
	capture_node(5, 15, "cudaEventRecordWithFlags");
	capture_node(6, 16, "cudaLaunchKernelExC");
	play_exec(EXEC, GRAPH);
	/* The loop's body runs any number of times, without a call. */
	add_node(false, 7, 17, CUDA_NODE_CONDITIONAL);
	play_exec(EXEC + 1, GRAPH);
	play_launch(8, EXEC + 1);
	play_graph_kernel(8, EXEC + 1, 16, "before");
	play_graph_kernel(0, EXEC + 1, 99, "body");
	play_graph_kernel(0, EXEC + 1, 99, "body");
	session_stop();
}

static void types_are_told_by_calls(void **state)
{
	static const enum record_node_type types[] = {
		RECORD_NODE_EMPTY, RECORD_NODE_MEM_ALLOC,    RECORD_NODE_MEMCPY,
		RECORD_NODE_HOST,  RECORD_NODE_EVENT_RECORD, RECORD_NODE_KERNEL,
	};
	struct trace *trace = play_scene(*state, nodes_of_many_types);
	const struct trace_graph *graph = &trace->graphs[trace->execs[0].graph];

	assert_int_equal(graph->node_count, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(trace->nodes[graph->node_first + i].type, types[i]);
	graph = &trace->graphs[trace->execs[1].graph];
	assert_int_equal(graph->node_count, 7);
	assert_int_equal(trace->nodes[graph->node_first + 6].type, RECORD_NODE_CONDITIONAL);
	assert_int_equal(play_find_kernel(trace, "body")->call, TRACE_NONE);
	assert_null(strstr(trace_text(trace, play_source(trace, "graph")->text), "not judged:"));
	play_assert_closed(trace);
}

/* ---- updates ---- */

/* A node gets other parameters before each launch, for longer than the ring keeps. */
enum {
	UPDATES = 400000,
	PACE_UPDATES = 1000,
	PACE_READY = 128 /* chunks: half of what is kept ready */
};

static void updates_beyond_a_ring(void)
{
	struct cupti_graph_data update = {.graphExec = (void *)EXEC, .node = (void *)12};
	struct model_open call;

	setenv("DAGTAP_RING", "4M", 1);
	setenv("DAGTAP_READY", "16M", 1);
	play_start_with_graph();
	for (uint32_t i = 1; i <= UPDATES; i++) {
		model_enter(&call, CUPTI_DOMAIN_RUNTIME, 301, i, "cudaGraphExecKernelNodeSetParams",
			    NULL);
		model_resource(CUPTI_GRAPH_NODE_SET_PARAMS, &update);
		model_leave(&call, 0);
		if (i % PACE_UPDATES == 0)
			fixture_await_ready(recording_spooler(), PACE_READY);
	}
	session_stop();
}

static void a_ring_lets_go_of_updates(void **state)
{
	struct trace *trace = play_scene(*state, updates_beyond_a_ring);
	const struct trace_source *source = play_source(trace, "graph.record");
	uint64_t dropped = ledger_dropped(trace, source);

	assert_true(dropped > 0);
	assert_int_equal(trace->execs[0].update_count + dropped, UPDATES);
	assert_int_equal(trace->nodes[1].update_count, trace->execs[0].update_count);
	play_assert_closed(trace);
}

/* Returns how often an update of NODE asks CUPTI for an id. */
static uint32_t asked_by_update(uint32_t correlation, uint64_t node)
{
	struct cupti_graph_data update = {.graphExec = (void *)EXEC, .node = (void *)node};
	uint32_t before = model_count(MODEL_GET_ID);
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_RUNTIME, 301, correlation,
		    "cudaGraphExecKernelNodeSetParams", NULL);
	model_resource(CUPTI_GRAPH_NODE_SET_PARAMS, &update);
	model_leave(&call, 0);
	return model_count(MODEL_GET_ID) - before;
}

static void updates_of_two_nodes(void)
{
	play_start_with_graph();
	asked_by_update(1, 13); /* the executable graph's id */
	assert_int_equal(asked_by_update(2, 12), 1);
	for (uint32_t i = 3; i < 100; i++)
		assert_int_equal(asked_by_update(i, 12 + i % 2), 0);
	/* A handle may be used again after each of these. */
	node_gone(GRAPH, 12);
	assert_int_equal(asked_by_update(100, 13), 1);
	play_node(GRAPH, 12, CUDA_NODE_KERNEL);
	assert_int_equal(asked_by_update(101, 12), 1);
	play_node_clone(GRAPH, 14, 12, CUDA_NODE_KERNEL);
	assert_int_equal(asked_by_update(102, 12), 1);
	play_move_child(GRAPH, 15, GRAPH + 1, 0);
	assert_int_equal(asked_by_update(103, 12), 1);
	assert_int_equal(asked_by_update(104, 12), 0);
	session_stop();
}

static void ids_of_updated_nodes_are_asked_once(void **state)
{
	struct trace *trace = play_scene(*state, updates_of_two_nodes);

	assert_int_equal(trace->execs[0].update_count, 104);
	play_assert_closed(trace);
}

/* CUDA makes no such graphs, but a damaged recording may contain them. */
static void graphs_in_a_ring(void)
{
	struct model_open call;

	play_start();
	play_graph(GRAPH);
	for (uint32_t i = 0; i < 8; i++) {
		model_enter(&call, CUPTI_DOMAIN_RUNTIME, 300, 1 + i, "cudaGraphAddChildGraphNode",
			    NULL);
		play_graph_clone(GRAPH, GRAPH);
		play_node(GRAPH, 11 + i, CUDA_NODE_GRAPH);
		model_leave(&call, 0);
	}
	for (uint64_t i = 0; i < 3; i++)
		play_node_clone(GRAPH, 21 + i, 21 + (i + 1) % 3, CUDA_NODE_KERNEL);
	play_exec(EXEC, GRAPH);
	play_launch(20, EXEC);
	play_graph_kernel(20, EXEC, 22, "kernel");
	session_stop();
}

static void rings_come_to_an_end(void **state)
{
	struct trace *trace = play_scene(*state, graphs_in_a_ring);

	assert_int_equal(trace->graphs_count, 1);
	assert_int_equal(play_find_kernel(trace, "kernel")->confidence, TRACE_CONFIDENCE_EXACT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(a_node_may_have_a_number_again),
		PLAY_CASE(a_number_again_may_be_of_another_kind),
		PLAY_CASE(an_edge_may_come_before_its_node),
		PLAY_CASE(what_ran_keeps_the_graph_that_it_was_of),
		PLAY_CASE(what_is_not_known_has_no_node),
		PLAY_CASE(a_ring_lets_go_of_updates),
		PLAY_CASE(ids_of_updated_nodes_are_asked_once),
		PLAY_CASE(types_are_told_by_calls),
		PLAY_CASE(rings_come_to_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
