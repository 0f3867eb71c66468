/*
 * Waits and event records that have to do with graphs: those in a stream capture, which become
 * edges, and the records that nodes of a graph make. Cases that exist in other projects' tests have
 * the same names here.
 */
#include "cuda_scene.h"

#include "capture/capture_session.h"

/* ---- captures ---- */

/*
 * What CUPTI reports on an H200 with CUDA 13.0: no records of the events, but each wait, with the
 * number that its event had before.
 */
static void captured(void)
{
	enum { A = STREAM, B = OTHER_STREAM, E = 0xe100, F = 0xe200 };

	play_start_with_all_calls();
	play_call_with(CUPTI_cudaEventRecord, 1, "cudaEventRecord", F, B);
	play_record(OTHER_EVENT, 1, OTHER_STREAM, 4);
	play_call_with(CUPTI_cudaStreamBeginCapture, 2, "cudaStreamBeginCapture", A, 0);
	play_call_with(CUPTI_cudaEventRecord, 3, "cudaEventRecord", E, A);
	play_call_with(CUPTI_cudaStreamWaitEvent, 4, "cudaStreamWaitEvent", B, E);
	play_wait(4, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	play_call_with(CUPTI_cudaEventRecord, 5, "cudaEventRecord", F, B);
	play_call_with(CUPTI_cudaStreamWaitEvent, 6, "cudaStreamWaitEvent", A, F);
	play_wait(6, RECORD_CUDA_SYNC_STREAM_WAIT, STREAM, OTHER_EVENT, 4);
	play_call_with(CUPTI_cudaStreamEndCapture, 7, "cudaStreamEndCapture", A, 0);
	play_call_with(CUPTI_cudaEventRecord, 8, "cudaEventRecord", E, A);
	play_record(EVENT, 8, STREAM, 5);
	play_call_with(CUPTI_cudaStreamWaitEvent, 9, "cudaStreamWaitEvent", B, E);
	play_wait(9, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 5);
	session_stop();
}

static void capture_wait_becomes_graph_edge(void **state)
{
	struct trace *trace = play_scene(*state, captured);
	const struct trace_call *call;

	assert_int_equal(trace->event_records_count, 2);
	assert_int_equal(trace->waits_count, 1);
	assert_int_equal(trace->waits[0].cid, 9);
	assert_int_equal(play_producer(trace, 0)->cid, 8);
	/* The arguments that identify the stream are kept, and add no streams to CUPTI's. */
	call = &trace->calls[trace->waits[0].call];
	assert_int_equal(trace->words[call->arg_first], OTHER_STREAM);
	assert_int_equal(trace->words[call->arg_first + 1], 0xe100);
	assert_int_equal(trace->streams_count, 2);
	play_assert_closed(trace);
}

/*
 * On the thread's own default stream, which is 0 for functions of this kind; and a capture that
 * began before.
 */
static void captured_on_own_stream(void)
{
	enum { A = STREAM, E = 0xe100 };

	play_start_with_all_calls();
	play_call_with(CUPTI_cudaStreamBeginCapture_ptsz, 1, "cudaStreamBeginCapture_ptsz", 0, 0);
	play_call_with(CUPTI_cudaEventRecord_ptsz, 2, "cudaEventRecord_ptsz", E, 0);
	play_call_with(CUPTI_cudaStreamWaitEvent, 3, "cudaStreamWaitEvent", A, E);
	play_wait(3, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	play_call_with(CUPTI_cudaStreamEndCapture_ptsz, 4, "cudaStreamEndCapture_ptsz", 0, 0);
	play_call_with(CUPTI_cudaStreamWaitEvent, 5, "cudaStreamWaitEvent", A, E);
	play_wait(5, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	session_stop();
	expect(session_start_again());
	play_call_with(CUPTI_cudaEventRecord, 6, "cudaEventRecord", E, A);
	play_call_with(CUPTI_cudaStreamWaitEvent, 7, "cudaStreamWaitEvent", 0, E);
	play_wait(7, RECORD_CUDA_SYNC_STREAM_WAIT, STREAM, EVENT, 0);
	play_call_with(CUPTI_cudaStreamEndCapture, 8, "cudaStreamEndCapture", A, 0);
	session_stop();
}

static void captures_on_other_streams(void **state)
{
	struct trace *trace = play_scene(*state, captured_on_own_stream);

	assert_int_equal(trace->waits_count, 1);
	assert_int_equal(trace->waits[0].cid, 5);
	play_assert_closed(trace);
}

/* ---- events that graphs record ---- */

/*
 * As on an H200 with CUDA 13.0: a record has the launch's correlation id and the event's number,
 * but not its node; its stream may be one of the driver's own.
 */
enum { NODE_KERNEL = 11, NODE_E, NODE_F, THIRD_EVENT = 5 };
enum { E_POINTER = 0xe100, F_POINTER = 0xe200, H_POINTER = 0xe300 };

static void add_recorder(uint32_t correlation, uint64_t node, uint64_t event)
{
	const uint64_t parameters[] = {0, GRAPH, 0, 1, event};
	struct cupti_graph_data data = {
		.graph = (void *)GRAPH,
		.node = (void *)(uintptr_t)node,
	};
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaGraphAddEventRecordNode, correlation,
		    "cudaGraphAddEventRecordNode", parameters);
	model_resource(CUPTI_GRAPHNODE_CREATED, &data);
	model_leave(&call, 0);
}

/* A kernel, followed by two nodes that record E and F. */
static void make_recorders(void)
{
	play_graph(GRAPH);
	play_node(GRAPH, NODE_KERNEL, CUDA_NODE_KERNEL);
	add_recorder(50, NODE_E, E_POINTER);
	add_recorder(51, NODE_F, F_POINTER);
	play_edge(GRAPH, NODE_KERNEL, NODE_E);
	play_edge(GRAPH, NODE_KERNEL, NODE_F);
	play_exec(EXEC, GRAPH);
}

static void launch_recorders(uint32_t correlation)
{
	play_launch(correlation, EXEC);
	play_graph_kernel(correlation, EXEC, NODE_KERNEL, "k");
}

static void wait_by(uint32_t correlation, uint64_t pointer, uint32_t event, uint64_t order)
{
	play_call_with(CUPTI_cudaStreamWaitEvent, correlation, "cudaStreamWaitEvent", OTHER_STREAM,
		       pointer);
	play_wait(correlation, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, event, order);
}

static void recorded_by_nodes(void)
{
	const uint64_t set[] = {EXEC, NODE_E, H_POINTER};
	struct model_open call;

	play_start_with_all_calls();
	make_recorders();
	play_call_with(CUPTI_cudaEventRecord, 99, "cudaEventRecord", E_POINTER, OTHER_STREAM);
	play_record(EVENT, 99, OTHER_STREAM, 1);
	launch_recorders(100);
	/* Not in the order of the nodes. */
	play_record(OTHER_EVENT, 100, 22, 3);
	play_record(EVENT, 100, STREAM, 2);
	wait_by(101, E_POINTER, EVENT, 2);
	wait_by(102, F_POINTER, OTHER_EVENT, 3);
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaGraphExecEventRecordNodeSetEvent, 103,
		    "cudaGraphExecEventRecordNodeSetEvent", set);
	model_leave(&call, 0);
	launch_recorders(104);
	play_record(THIRD_EVENT, 104, STREAM, 4);
	play_record(OTHER_EVENT, 104, 22, 5);
	wait_by(105, H_POINTER, THIRD_EVENT, 4);
	session_stop();
}

static void expect_recorder(const struct trace *trace, uint32_t wait, uint64_t cid, uint64_t replay,
			    uint32_t index)
{
	const struct trace_event_record *record = play_producer(trace, wait);

	assert_int_equal(trace->waits[wait].known, TRACE_KNOWN_NUMBER);
	assert_int_equal(record->cid, cid);
	assert_int_not_equal(record->node, TRACE_NONE);
	assert_int_equal(trace->nodes[record->node].type, RECORD_NODE_EVENT_RECORD);
	assert_int_equal(trace->nodes[record->node].index, index);
	assert_int_equal(trace->launches[trace->calls[record->call].launch].replay, replay);
}

static void graph_node_records_the_event(void **state)
{
	struct trace *trace = play_scene(*state, recorded_by_nodes);

	assert_int_equal(trace->event_records_count, 5);
	assert_int_equal(trace->event_records[0].node, TRACE_NONE);
	for (uint32_t i = 2; i < 5; i += 2)
		assert_true(trace->event_records[i - 1].node < trace->event_records[i].node);
	assert_int_equal(trace->waits_count, 3);
	expect_recorder(trace, 0, 100, 0, 1);
	expect_recorder(trace, 1, 100, 0, 2);
	/* CUPTI reports the new event's pointer only at the wait, and nothing of the node. */
	expect_recorder(trace, 2, 104, 1, 1);
	play_assert_closed(trace);
}

/* CUPTI brings no records of events here, and no update of the node (H100, CUDA 13.0). */
static void recorded_by_nodes_as_the_calls_tell(void)
{
	const uint64_t set[] = {EXEC, NODE_E, H_POINTER};
	const uint64_t waits[][2] = {{101, E_POINTER}, {105, H_POINTER}, {106, E_POINTER}};
	struct model_open call;

	play_start();
	make_recorders();
	launch_recorders(100);
	play_call_with(CUPTI_cudaStreamWaitEvent, waits[0][0], "cudaStreamWaitEvent", OTHER_STREAM,
		       waits[0][1]);
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaGraphExecEventRecordNodeSetEvent, 103,
		    "cudaGraphExecEventRecordNodeSetEvent", set);
	model_leave(&call, 0);
	launch_recorders(104);
	for (int i = 1; i < 3; i++)
		play_call_with(CUPTI_cudaStreamWaitEvent, waits[i][0], "cudaStreamWaitEvent",
			       OTHER_STREAM, waits[i][1]);
	session_stop();
}

static void a_node_records_the_event_that_was_set(void **state)
{
	static const struct {
		uint64_t cid, replay;
	} launches[] = {{100, 0}, {104, 1}, {100, 0}};
	struct trace *trace = play_scene(*state, recorded_by_nodes_as_the_calls_tell);

	assert_int_equal(trace->waits_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct trace_event_record *record = play_producer(trace, i);

		assert_int_equal(record->cid, launches[i].cid);
		assert_int_not_equal(record->node, TRACE_NONE);
		assert_int_equal(trace->nodes[record->node].handle, NODE_E);
		assert_int_equal(trace->launches[trace->calls[record->call].launch].replay,
				 launches[i].replay);
	}
	play_assert_closed(trace);
}

/* No call names either event, so the records cannot be matched with the nodes. */
static void recorded_by_nobody_knows_which(void)
{
	play_start_with_all_calls();
	make_recorders();
	launch_recorders(100);
	play_record(OTHER_EVENT, 100, 22, 3);
	play_record(EVENT, 100, STREAM, 2);
	play_wait(101, RECORD_CUDA_SYNC_EVENT, RECORD_CUDA_NONE, EVENT, 2);
	session_stop();
}

static void a_node_is_not_guessed(void **state)
{
	struct trace *trace = play_scene(*state, recorded_by_nobody_knows_which);

	assert_int_equal(play_producer(trace, 0)->cid, 100);
	assert_int_equal(play_producer(trace, 0)->node, TRACE_NONE);
}

/* An older CUPTI gives no numbers and may report nothing of what the nodes record. */
static void recorded_in_silence(void)
{
	model_set_version(24);
	play_start_with_all_calls();
	make_recorders();
	play_record(EVENT, 99, STREAM, 0);
	play_wait(100, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	launch_recorders(101);
	play_wait(102, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	play_record(EVENT, 103, STREAM, 0);
	play_wait(104, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	session_stop();
}

static void silent_nodes_leave_a_doubt(void **state)
{
	struct trace *trace = play_scene(*state, recorded_in_silence);

	assert_int_equal(trace->waits_count, 3);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_ORDER);
	assert_int_equal(trace->waits[1].known, TRACE_KNOWN_LIKELY);
	assert_int_equal(play_producer(trace, 1)->cid, 99);
	assert_int_equal(trace->waits[2].known, TRACE_KNOWN_ORDER);
}

/*
 * Captured with cudaEventRecordExternal: the record becomes a node, and a wait for the event during
 * the capture is a real wait.
 */
static void captured_as_a_node(void)
{
	enum { A = STREAM, B = OTHER_STREAM };
	const uint64_t external[] = {E_POINTER, A, 1 | 0x7f00000000};
	struct cupti_graph_data data = {.graph = (void *)GRAPH, .node = (void *)NODE_E};
	struct model_open call;

	play_start_with_all_calls();
	play_call_with(CUPTI_cudaEventRecord, 1, "cudaEventRecord", E_POINTER, B);
	play_record(EVENT, 1, OTHER_STREAM, 4);
	play_graph(GRAPH);
	play_call_with(CUPTI_cudaStreamBeginCapture, 2, "cudaStreamBeginCapture", A, 0);
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaEventRecordWithFlags, 3,
		    "cudaEventRecordWithFlags", external);
	model_resource(CUPTI_GRAPHNODE_CREATED, &data);
	model_leave(&call, 0);
	wait_by(4, E_POINTER, EVENT, 4);
	play_call_with(CUPTI_cudaStreamEndCapture, 5, "cudaStreamEndCapture", A, 0);
	play_exec(EXEC, GRAPH);
	play_launch(6, EXEC);
	play_record(EVENT, 6, STREAM, 5);
	wait_by(7, E_POINTER, EVENT, 5);
	session_stop();
}

static void captured_external_record_is_a_node(void **state)
{
	struct trace *trace = play_scene(*state, captured_as_a_node);

	assert_int_equal(trace->waits_count, 2);
	assert_int_equal(play_producer(trace, 0)->cid, 1);
	expect_recorder(trace, 1, 6, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(capture_wait_becomes_graph_edge),
		PLAY_CASE(graph_node_records_the_event),
		PLAY_CASE(a_node_records_the_event_that_was_set),
		PLAY_CASE(a_node_is_not_guessed),
		PLAY_CASE(silent_nodes_leave_a_doubt),
		PLAY_CASE(captured_external_record_is_a_node),
		PLAY_CASE(captures_on_other_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
