/*
 * Calls that are newer than CUDA 13.0, each treated as the older call that it follows.
 */
#include "cuda_scene.h"

#include "capture/capture_session.h"
#include "played_driver.h"

enum { A = 0x5100, CONTEXT_HANDLE = 0xc100, E = 0xe100, F = 0xe200 };

/* ---- events of execution contexts ---- */

static void events_of_a_context(void)
{
	play_start();
	model_make_stream(A);
	play_call_with(CUPTI_cudaExecutionCtxRecordEvent, 1, "cudaExecutionCtxRecordEvent",
		       CONTEXT_HANDLE, E);
	driver_number_from(2);
	driver_record(F, A, DRIVER_PLAIN);
	driver_stream_wait(A, E, DRIVER_PLAIN);
	play_call_with(CUPTI_cudaExecutionCtxWaitEvent, 4, "cudaExecutionCtxWaitEvent",
		       CONTEXT_HANDLE, F);
	session_stop();
}

static void a_context_records_and_waits_for_events(void **state)
{
	struct trace *trace = play_scene(*state, events_of_a_context);

	assert_int_equal(trace->event_records_count, 2);
	assert_int_equal(trace->waits_count, 2);
	assert_int_equal(trace->waits[0].cid, 3);
	assert_int_equal(play_producer(trace, 0)->cid, 1);
	assert_int_equal(play_producer(trace, 0)->stream, TRACE_NONE);
	assert_int_equal(trace->waits[1].cid, 4);
	assert_int_equal(trace->waits[1].stream, TRACE_NONE);
	assert_int_equal(play_producer(trace, 1)->cid, 2);
	play_assert_closed(trace);
}

/* ---- a capture into a graph that exists ---- */

static void record_in_a_recapture(uint32_t domain, uint32_t cbid, const char *name)
{
	const uint64_t params[] = {A, 0, GRAPH, 0, 0};
	struct model_open call;

	play_start();
	model_make_stream(A);
	model_enter(&call, domain, cbid, 1, name, params);
	model_leave(&call, 0);
	driver_number_from(2);
	driver_record(E, A, DRIVER_PLAIN);
	driver_end_capture(A);
	driver_record(F, A, DRIVER_PLAIN);
	session_stop();
}

static void in_a_recapture(void)
{
	record_in_a_recapture(CUPTI_DOMAIN_RUNTIME, CUPTI_cudaStreamBeginRecaptureToGraph,
			      "cudaStreamBeginRecaptureToGraph");
}

static void in_the_drivers(void)
{
	record_in_a_recapture(CUPTI_DOMAIN_DRIVER, CUPTI_cuStreamBeginRecaptureToGraph,
			      "cuStreamBeginRecaptureToGraph");
}

static void a_recaptured_stream_is_captured(void **state)
{
	struct trace *trace = play_scene(*state, in_a_recapture);

	assert_int_equal(trace->event_records_count, 1);
	assert_int_equal(trace->event_records[0].cid, 4);
	trace = play_scene(*state, in_the_drivers);
	assert_int_equal(trace->event_records_count, 1);
	assert_int_equal(trace->event_records[0].cid, 4);
}

/* ---- a node with parameters of any kind ---- */

static void add_a_node(void)
{
	const struct cuda_node_params params = {.type = CUDA_NODE_MEM_ALLOC};
	const struct cupti_add_node_v2_params call_params = {.graph = (void *)GRAPH,
							     .parameters = &params};
	struct cupti_graph_data data = {.graph = (void *)GRAPH, .node = (void *)11};
	struct model_open call;

	play_start();
	play_graph(GRAPH);
	model_enter(&call, CUPTI_DOMAIN_DRIVER, CUPTI_cuGraphAddNode_v3, 1, "cuGraphAddNode_v3",
		    &call_params);
	model_resource(CUPTI_GRAPHNODE_CREATED, &data);
	model_leave(&call, 0);
	play_exec(EXEC, GRAPH);
	session_stop();
}

static void a_node_has_its_type(void **state)
{
	struct trace *trace = play_scene(*state, add_a_node);
	const struct trace_graph *graph = &trace->graphs[trace->execs[0].graph];

	assert_int_equal(graph->node_count, 1);
	assert_int_equal(trace->nodes[graph->node_first].type, RECORD_NODE_MEM_ALLOC);
	play_assert_closed(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(a_context_records_and_waits_for_events),
		PLAY_CASE(a_recaptured_stream_is_captured),
		PLAY_CASE(a_node_has_its_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
