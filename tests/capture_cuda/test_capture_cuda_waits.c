/*
 * Which work waits for which on CUDA: events and waits, matched by CUPTI's numbers or, with an
 * older CUPTI that gives none, by the order of calls. Cases that exist in other projects' tests
 * have the same names here.
 */
#include "cuda_scene.h"

#include <pthread.h>

#include "capture/capture_session.h"
#include "trace/load.h"

enum { EVENT = 3, OTHER_EVENT = 4, OTHER_STREAM = 21 };

static void record_event_of(uint32_t event_id, uint32_t correlation, uint32_t stream,
			    uint64_t order)
{
	struct cupti_cuda_event event = {
		.kind = CUPTI_KIND_CUDA_EVENT,
		.correlationId = correlation,
		.contextId = CONTEXT,
		.streamId = stream,
		.eventId = event_id,
		.deviceId = DEVICE,
		.deviceTimestamp = model_now(),
		.cudaEventSyncId = order,
	};

	PLAY_PUT(event);
}

static void record_event(uint32_t correlation, uint32_t stream, uint64_t order)
{
	record_event_of(EVENT, correlation, stream, order);
}

static void wait_for(uint32_t correlation, enum record_cuda_sync_type type, uint32_t stream,
		     uint32_t event, uint64_t order)
{
	struct cupti_synchronization sync = {
		.kind = CUPTI_KIND_SYNCHRONIZATION,
		.type = type,
		.start = model_now(),
		.end = model_now(),
		.correlationId = correlation,
		.contextId = CONTEXT,
		.streamId = stream,
		.cudaEventId = event,
		.cudaEventSyncId = order,
	};

	PLAY_PUT(sync);
}

static const struct trace_event_record *producer_of(const struct trace *trace, uint32_t wait)
{
	assert_true(wait < trace->waits_count);
	assert_int_not_equal(trace->waits[wait].producer, TRACE_NONE);
	return &trace->event_records[trace->waits[wait].producer];
}

/* ---- matched by number ---- */

static void ordered(void)
{
	play_start_with_all_calls();
	for (uint32_t call = 100; call <= 104; call++)
		play_call(call);
	/*
	 * The wait's record comes first, and the order of calls would mislead: event 102 is
	 * recorded again in between.
	 */
	wait_for(103, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 1);
	record_event(102, STREAM, 2);
	record_event(100, STREAM, 1);
	wait_for(104, RECORD_CUDA_SYNC_STREAM, STREAM, RECORD_CUDA_NONE, UINT32_MAX);
	session_stop();
}

static void inter_stream_dependency(void **state)
{
	struct trace *trace = play_scene(*state, ordered);

	assert_int_equal(trace->event_records_count, 2);
	assert_int_equal(trace->waits_count, 2);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_NUMBER);
	assert_int_equal(producer_of(trace, 0)->cid, 100);
	assert_int_equal(trace->streams[producer_of(trace, 0)->stream].handle, STREAM);
	assert_int_equal(trace->streams[trace->waits[0].stream].handle, OTHER_STREAM);
	assert_int_equal(trace->calls[trace->waits[0].call].cid, 103);
	assert_true(trace->event_records[0].device_ns > trace->processes[0].start_ns);
	assert_int_equal(trace->waits[1].type, TRACE_WAIT_STREAM);
	assert_int_equal(trace->waits[1].producer, TRACE_NONE);
	play_assert_closed(trace);
	trace_close(trace);
}

/*
 * The event's record is not in the recording: the wait has no producer, and does not get the
 * nearest record.
 */
static void record_missing(void)
{
	play_start_with_all_calls();
	record_event(4, STREAM, 5);
	record_event(5, STREAM, 7);
	wait_for(9, RECORD_CUDA_SYNC_EVENT, RECORD_CUDA_NONE, EVENT, 6);
	session_stop();
}

static void unresolved_wait_still_emits_event_id(void **state)
{
	struct trace *trace = play_scene(*state, record_missing);

	assert_int_equal(trace->waits[0].producer, TRACE_NONE);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_NOT);
	assert_int_equal(trace->events[trace->waits[0].event].handle, EVENT);
	assert_int_equal(trace->waits[0].order, 6);
	trace_close(trace);
}

static void never_recorded(void)
{
	play_start_with_all_calls();
	play_call(101);
	record_event_of(EVENT + 1, 101, STREAM, 1);
	play_call(102);
	wait_for(102, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	session_stop();
}

/*
 * CUPTI numbers records and has none for this event, so it is known that the wait has no producer.
 */
static void a_wait_for_an_event_without_a_record_is_for_nothing(void **state)
{
	struct trace *trace = play_scene(*state, never_recorded);

	assert_int_equal(trace->waits_count, 1);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_NUMBER);
	assert_int_equal(trace->waits[0].producer, TRACE_NONE);
	trace_close(trace);
}

static void recorded_and_waited_for(void)
{
	play_start_with_all_calls();
	record_event(4, STREAM, 5);
	wait_for(9, RECORD_CUDA_SYNC_EVENT, RECORD_CUDA_NONE, EVENT, 5);
	session_stop();
}

static void event_synchronize_resolves_producer(void **state)
{
	struct trace *trace = play_scene(*state, recorded_and_waited_for);

	assert_int_equal(trace->waits[0].type, TRACE_WAIT_EVENT);
	assert_int_equal(trace->waits[0].stream, TRACE_NONE);
	assert_int_equal(producer_of(trace, 0)->cid, 4);
	trace_close(trace);
}

static void two_events(void)
{
	play_start_with_all_calls();
	record_event_of(EVENT, 1, STREAM, 1);
	record_event_of(OTHER_EVENT, 2, OTHER_STREAM, 2);
	wait_for(3, RECORD_CUDA_SYNC_STREAM_WAIT, 22, OTHER_EVENT, 2);
	wait_for(4, RECORD_CUDA_SYNC_STREAM_WAIT, 22, EVENT, 1);
	session_stop();
}

static void wait_on_two_producers_keeps_both(void **state)
{
	struct trace *trace = play_scene(*state, two_events);

	assert_int_equal(trace->waits_count, 2);
	assert_int_equal(trace->waits[0].stream, trace->waits[1].stream);
	assert_int_equal(producer_of(trace, 0)->cid, 2);
	assert_int_equal(producer_of(trace, 1)->cid, 1);
	trace_close(trace);
}

/* The wait belongs to its stream's context. Events of two contexts may have the same id. */
static void on_two_devices(void)
{
	struct cupti_cuda_event event = {
		.kind = CUPTI_KIND_CUDA_EVENT,
		.correlationId = 1,
		.contextId = CONTEXT + 1,
		.streamId = OTHER_STREAM,
		.eventId = EVENT,
		.deviceId = DEVICE + 1,
		.cudaEventSyncId = 1,
	};

	play_start_with_all_calls();
	PLAY_PUT(event);
	event.eventId = OTHER_EVENT;
	for (uint32_t context = CONTEXT + 1; context <= CONTEXT + 2; context++) {
		event.correlationId++;
		event.contextId = context;
		event.cudaEventSyncId = 2;
		PLAY_PUT(event);
	}
	wait_for(4, RECORD_CUDA_SYNC_STREAM_WAIT, STREAM, EVENT, 1);
	wait_for(5, RECORD_CUDA_SYNC_STREAM_WAIT, STREAM, OTHER_EVENT, 2);
	event.contextId = CONTEXT;
	event.correlationId = 6;
	event.cudaEventSyncId = 3;
	PLAY_PUT(event);
	wait_for(7, RECORD_CUDA_SYNC_STREAM_WAIT, STREAM, OTHER_EVENT, 3);
	session_stop();
}

static void a_wait_for_another_device_has_its_event(void **state)
{
	struct trace *trace = play_scene(*state, on_two_devices);

	assert_int_equal(trace->waits_count, 3);
	assert_int_equal(producer_of(trace, 0)->cid, 1);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_NUMBER);
	assert_int_equal(trace->waits[0].event, producer_of(trace, 0)->event);
	/* CUPTI does not say which of the two. */
	assert_int_equal(trace->waits[1].producer, TRACE_NONE);
	assert_int_equal(trace->waits[1].known, TRACE_KNOWN_NOT);
	assert_int_equal(producer_of(trace, 2)->cid, 6);
	trace_close(trace);
}

static void recorded_in_the_recording_before(void)
{
	play_start_with_all_calls();
	record_event(1, STREAM, 0);
	session_stop();
	expect(session_start_again());
	wait_for(2, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	session_stop();
}

static void event_map_cleared_on_reset(void **state)
{
	struct trace *trace = play_scene(*state, recorded_in_the_recording_before);

	assert_int_equal(trace->processes_count, 2);
	assert_int_equal(trace->event_records_count, 1);
	assert_int_equal(trace->waits_count, 1);
	assert_int_equal(trace->waits[0].process, 1);
	assert_int_equal(trace->waits[0].producer, TRACE_NONE);
	assert_int_equal(trace->events[trace->waits[0].event].process, 1);
	trace_close(trace);
}

/* ---- captures ---- */

static void call_with(uint32_t cbid, uint32_t correlation, const char *name, uint64_t first,
		      uint64_t second)
{
	const uint64_t parameters[] = {first, second, 0};
	struct model_open call;

	model_enter(&call, CUPTI_DOMAIN_RUNTIME, cbid, correlation, name, parameters);
	model_leave(&call, 0);
}

/*
 * What CUPTI reports on an H200 with CUDA 13.0: no records of the events, but each wait, with the
 * number that its event had before.
 */
static void captured(void)
{
	enum { A = STREAM, B = OTHER_STREAM, E = 0xe100, F = 0xe200 };

	play_start_with_all_calls();
	call_with(CUPTI_cudaEventRecord, 1, "cudaEventRecord", F, B);
	record_event_of(OTHER_EVENT, 1, OTHER_STREAM, 4);
	call_with(CUPTI_cudaStreamBeginCapture, 2, "cudaStreamBeginCapture", A, 0);
	call_with(CUPTI_cudaEventRecord, 3, "cudaEventRecord", E, A);
	call_with(CUPTI_cudaStreamWaitEvent, 4, "cudaStreamWaitEvent", B, E);
	wait_for(4, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	call_with(CUPTI_cudaEventRecord, 5, "cudaEventRecord", F, B);
	call_with(CUPTI_cudaStreamWaitEvent, 6, "cudaStreamWaitEvent", A, F);
	wait_for(6, RECORD_CUDA_SYNC_STREAM_WAIT, STREAM, OTHER_EVENT, 4);
	call_with(CUPTI_cudaStreamEndCapture, 7, "cudaStreamEndCapture", A, 0);
	call_with(CUPTI_cudaEventRecord, 8, "cudaEventRecord", E, A);
	record_event(8, STREAM, 5);
	call_with(CUPTI_cudaStreamWaitEvent, 9, "cudaStreamWaitEvent", B, E);
	wait_for(9, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 5);
	session_stop();
}

static void capture_wait_becomes_graph_edge(void **state)
{
	struct trace *trace = play_scene(*state, captured);
	const struct trace_call *call;

	assert_int_equal(trace->event_records_count, 2);
	assert_int_equal(trace->waits_count, 1);
	assert_int_equal(trace->waits[0].cid, 9);
	assert_int_equal(producer_of(trace, 0)->cid, 8);
	/* The arguments that identify the stream are kept, and add no streams to CUPTI's. */
	call = &trace->calls[trace->waits[0].call];
	assert_int_equal(trace->words[call->arg_first], OTHER_STREAM);
	assert_int_equal(trace->words[call->arg_first + 1], 0xe100);
	assert_int_equal(trace->streams_count, 2);
	play_assert_closed(trace);
	trace_close(trace);
}

/*
 * On the thread's own default stream, which is 0 for functions of this kind; and a capture that
 * began before.
 */
static void captured_on_own_stream(void)
{
	enum { A = STREAM, E = 0xe100 };

	play_start_with_all_calls();
	call_with(CUPTI_cudaStreamBeginCapture_ptsz, 1, "cudaStreamBeginCapture_ptsz", 0, 0);
	call_with(CUPTI_cudaEventRecord_ptsz, 2, "cudaEventRecord_ptsz", E, 0);
	call_with(CUPTI_cudaStreamWaitEvent, 3, "cudaStreamWaitEvent", A, E);
	wait_for(3, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	call_with(CUPTI_cudaStreamEndCapture_ptsz, 4, "cudaStreamEndCapture_ptsz", 0, 0);
	call_with(CUPTI_cudaStreamWaitEvent, 5, "cudaStreamWaitEvent", A, E);
	wait_for(5, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	session_stop();
	expect(session_start_again());
	call_with(CUPTI_cudaEventRecord, 6, "cudaEventRecord", E, A);
	call_with(CUPTI_cudaStreamWaitEvent, 7, "cudaStreamWaitEvent", 0, E);
	wait_for(7, RECORD_CUDA_SYNC_STREAM_WAIT, STREAM, EVENT, 0);
	call_with(CUPTI_cudaStreamEndCapture, 8, "cudaStreamEndCapture", A, 0);
	session_stop();
}

static void captures_on_other_streams(void **state)
{
	struct trace *trace = play_scene(*state, captured_on_own_stream);

	assert_int_equal(trace->waits_count, 1);
	assert_int_equal(trace->waits[0].cid, 5);
	play_assert_closed(trace);
	trace_close(trace);
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
	call_with(CUPTI_cudaStreamWaitEvent, correlation, "cudaStreamWaitEvent", OTHER_STREAM,
		  pointer);
	wait_for(correlation, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, event, order);
}

static void recorded_by_nodes(void)
{
	const uint64_t set[] = {EXEC, NODE_E, H_POINTER};
	struct model_open call;

	play_start_with_all_calls();
	make_recorders();
	call_with(CUPTI_cudaEventRecord, 99, "cudaEventRecord", E_POINTER, OTHER_STREAM);
	record_event_of(EVENT, 99, OTHER_STREAM, 1);
	launch_recorders(100);
	/* Not in the order of the nodes. */
	record_event_of(OTHER_EVENT, 100, 22, 3);
	record_event_of(EVENT, 100, STREAM, 2);
	wait_by(101, E_POINTER, EVENT, 2);
	wait_by(102, F_POINTER, OTHER_EVENT, 3);
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaGraphExecEventRecordNodeSetEvent, 103,
		    "cudaGraphExecEventRecordNodeSetEvent", set);
	model_leave(&call, 0);
	launch_recorders(104);
	record_event_of(THIRD_EVENT, 104, STREAM, 4);
	record_event_of(OTHER_EVENT, 104, 22, 5);
	wait_by(105, H_POINTER, THIRD_EVENT, 4);
	session_stop();
}

static void expect_recorder(const struct trace *trace, uint32_t wait, uint64_t cid, uint64_t replay,
			    uint32_t index)
{
	const struct trace_event_record *record = producer_of(trace, wait);

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
	trace_close(trace);
}

/* No call names either event, so the records cannot be matched with the nodes. */
static void recorded_by_nobody_knows_which(void)
{
	play_start_with_all_calls();
	make_recorders();
	launch_recorders(100);
	record_event_of(OTHER_EVENT, 100, 22, 3);
	record_event_of(EVENT, 100, STREAM, 2);
	wait_for(101, RECORD_CUDA_SYNC_EVENT, RECORD_CUDA_NONE, EVENT, 2);
	session_stop();
}

static void a_node_is_not_guessed(void **state)
{
	struct trace *trace = play_scene(*state, recorded_by_nobody_knows_which);

	assert_int_equal(producer_of(trace, 0)->cid, 100);
	assert_int_equal(producer_of(trace, 0)->node, TRACE_NONE);
	trace_close(trace);
}

/* An older CUPTI gives no numbers and may report nothing of what the nodes record. */
static void recorded_in_silence(void)
{
	model_set_version(24);
	play_start_with_all_calls();
	make_recorders();
	record_event(99, STREAM, 0);
	wait_for(100, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	launch_recorders(101);
	wait_for(102, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	record_event(103, STREAM, 0);
	wait_for(104, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	session_stop();
}

static void silent_nodes_leave_a_doubt(void **state)
{
	struct trace *trace = play_scene(*state, recorded_in_silence);

	assert_int_equal(trace->waits_count, 3);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_ORDER);
	assert_int_equal(trace->waits[1].known, TRACE_KNOWN_LIKELY);
	assert_int_equal(producer_of(trace, 1)->cid, 99);
	assert_int_equal(trace->waits[2].known, TRACE_KNOWN_ORDER);
	trace_close(trace);
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
	call_with(CUPTI_cudaEventRecord, 1, "cudaEventRecord", E_POINTER, B);
	record_event_of(EVENT, 1, OTHER_STREAM, 4);
	play_graph(GRAPH);
	call_with(CUPTI_cudaStreamBeginCapture, 2, "cudaStreamBeginCapture", A, 0);
	model_enter(&call, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaEventRecordWithFlags, 3,
		    "cudaEventRecordWithFlags", external);
	model_resource(CUPTI_GRAPHNODE_CREATED, &data);
	model_leave(&call, 0);
	wait_by(4, E_POINTER, EVENT, 4);
	call_with(CUPTI_cudaStreamEndCapture, 5, "cudaStreamEndCapture", A, 0);
	play_exec(EXEC, GRAPH);
	play_launch(6, EXEC);
	record_event_of(EVENT, 6, STREAM, 5);
	wait_by(7, E_POINTER, EVENT, 5);
	session_stop();
}

static void captured_external_record_is_a_node(void **state)
{
	struct trace *trace = play_scene(*state, captured_as_a_node);

	assert_int_equal(trace->waits_count, 2);
	assert_int_equal(producer_of(trace, 0)->cid, 1);
	expect_recorder(trace, 1, 6, 0, 0);
	trace_close(trace);
}

/* ---- streams ---- */

static void told_stream(uint32_t context, uint32_t stream, enum record_cuda_stream_kind kind)
{
	struct cupti_stream record = {
		.kind = CUPTI_KIND_STREAM,
		.contextId = context,
		.streamId = stream,
		.flag = kind,
	};

	PLAY_PUT(record);
}

/* As on an H200 with CUDA 13.0: each context has its own default streams, with any numbers. */
static void streams_of_two_contexts(void)
{
	play_start_with_all_calls();
	record_event(1, STREAM, 1);
	wait_for(2, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 1);
	wait_for(3, RECORD_CUDA_SYNC_STREAM, 23, RECORD_CUDA_NONE, 0);
	wait_for(4, RECORD_CUDA_SYNC_STREAM, 24, RECORD_CUDA_NONE, 0);
	told_stream(CONTEXT, 6, RECORD_CUDA_STREAM_BLOCKING);
	told_stream(CONTEXT, STREAM, RECORD_CUDA_STREAM_NULL);
	told_stream(CONTEXT, OTHER_STREAM, RECORD_CUDA_STREAM_NONBLOCKING);
	told_stream(CONTEXT, 23, RECORD_CUDA_STREAM_BLOCKING);
	told_stream(CONTEXT + 1, 24, RECORD_CUDA_STREAM_NULL);
	session_stop();
}

static void null_stream_is_not_unknown(void **state)
{
	static const struct {
		uint64_t handle;
		enum trace_stream_kind kind;
	} streams[] = {
		{STREAM, TRACE_STREAM_NULL},
		{OTHER_STREAM, TRACE_STREAM_NONBLOCKING},
		{23, TRACE_STREAM_BLOCKING},
		{24, TRACE_STREAM_UNKNOWN},
	};
	struct trace *trace = play_scene(*state, streams_of_two_contexts);

	assert_int_equal(trace->streams_count, 4);
	for (uint32_t i = 0; i < trace->streams_count; i++) {
		assert_int_equal(trace->streams[i].handle, streams[i].handle);
		assert_int_equal(trace->streams[i].kind, streams[i].kind);
	}
	assert_int_equal(producer_of(trace, 0)->stream, 0);
	play_assert_closed(trace);
	trace_close(trace);
}

/* ---- matched by the order of calls ---- */

static void of_an_older_cupti(void)
{
	model_set_version(24);
	play_start_with_all_calls();
	record_event(200, STREAM, 0);
	wait_for(101, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	record_event(100, OTHER_STREAM, 0);
	wait_for(201, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	wait_for(99, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	session_stop();
}

static void stream_wait_event_future_correlation(void **state)
{
	struct trace *trace = play_scene(*state, of_an_older_cupti);

	assert_int_equal(trace->waits_count, 3);
	assert_int_equal(trace->waits[0].cid, 99);
	assert_int_equal(trace->waits[0].producer, TRACE_NONE);
	assert_int_equal(producer_of(trace, 1)->cid, 100);
	assert_int_equal(producer_of(trace, 2)->cid, 200);
	assert_int_equal(trace->waits[1].known, TRACE_KNOWN_ORDER);
	trace_close(trace);
}

static void *call_of_another_thread(void *correlation)
{
	play_call((uint32_t)(uintptr_t)correlation);
	return NULL;
}

/*
 * The first two follow each other; the other record is in progress when the wait for it is called.
 */
static void on_two_threads(void)
{
	struct model_open open;
	pthread_t thread;

	model_set_version(24);
	play_start_with_all_calls();
	play_call(1);
	expect(!pthread_create(&thread, NULL, call_of_another_thread, (void *)2));
	pthread_join(thread, NULL);
	model_enter(&open, CUPTI_DOMAIN_RUNTIME, LAUNCH_KERNEL, 3, "cudaEventRecord", NULL);
	expect(!pthread_create(&thread, NULL, call_of_another_thread, (void *)4));
	pthread_join(thread, NULL);
	model_leave(&open, 0);
	record_event(1, STREAM, 0);
	wait_for(2, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	record_event(3, STREAM, 0);
	wait_for(4, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	session_stop();
}

static void two_threads_record_and_wait(void **state)
{
	struct trace *trace = play_scene(*state, on_two_threads);

	assert_int_equal(producer_of(trace, 0)->cid, 1);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_ORDER);
	assert_int_equal(producer_of(trace, 1)->cid, 3);
	assert_int_equal(trace->waits[1].known, TRACE_KNOWN_LIKELY);
	trace_close(trace);
}

static void failed(void)
{
	struct cupti_synchronization sync = {
		.kind = CUPTI_KIND_SYNCHRONIZATION,
		.type = RECORD_CUDA_SYNC_STREAM_WAIT,
		.correlationId = 2,
		.contextId = CONTEXT,
		.streamId = OTHER_STREAM,
		.cudaEventId = EVENT,
		.cudaEventSyncId = 1,
		.returnValue = 1,
	};

	play_start_with_all_calls();
	record_event(1, STREAM, 1);
	PLAY_PUT(sync);
	session_stop();
}

static void a_wait_that_fails_is_for_nothing(void **state)
{
	struct trace *trace = play_scene(*state, failed);

	assert_int_equal(trace->waits[0].result, 1);
	assert_int_equal(trace->waits[0].producer, TRACE_NONE);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_NOT);
	trace_close(trace);
}

/* ---- memory and overhead ---- */

static void memory_and_overhead(void)
{
	struct cupti_memory memory = {
		.kind = CUPTI_KIND_MEMORY2,
		.memoryOperationType = RECORD_CUDA_MEMORY_ALLOCATE,
		.correlationId = 1,
		.address = 0x7f0000000000,
		.bytes = 1 << 20,
	};
	struct cupti_overhead overhead = {
		.kind = CUPTI_KIND_OVERHEAD,
		.overheadKind = 3 << 16,
		.objectKind = 2,
	};

	play_start();
	play_device(DEVICE, "GPU");
	play_call(1);
	memory.timestamp = model_now();
	PLAY_PUT(memory);
	memory.memoryOperationType = RECORD_CUDA_MEMORY_RELEASE;
	memory.correlationId = 2;
	PLAY_PUT(memory);
	overhead.start = model_now();
	overhead.end = model_now() + 50;
	overhead.objectId[1] = session_tid();
	PLAY_PUT(overhead);
	session_stop();
}

static void memory_and_overhead_have_rows(void **state)
{
	struct trace *trace = play_scene(*state, memory_and_overhead);

	assert_int_equal(trace->memory_operations_count, 2);
	assert_int_equal(trace->memory_operations[0].bytes, 1 << 20);
	assert_false(trace->memory_operations[0].is_release);
	assert_true(trace->memory_operations[1].is_release);
	assert_int_equal(trace->memory_operations[0].call, 0);
	assert_int_equal(trace->memory_operations[0].agent, 0);
	assert_int_equal(trace->overheads_count, 1);
	assert_int_equal(trace->overheads[0].kind, 3 << 16);
	assert_int_not_equal(trace->overheads[0].thread, TRACE_NONE);
	assert_true(trace->overheads[0].end_ns > trace->overheads[0].begin_ns);
	play_assert_closed(trace);
	trace_close(trace);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		CASE(inter_stream_dependency),
		CASE(unresolved_wait_still_emits_event_id),
		CASE(a_wait_for_an_event_without_a_record_is_for_nothing),
		CASE(event_synchronize_resolves_producer),
		CASE(wait_on_two_producers_keeps_both),
		CASE(a_wait_for_another_device_has_its_event),
		CASE(event_map_cleared_on_reset),
		CASE(capture_wait_becomes_graph_edge),
		CASE(graph_node_records_the_event),
		CASE(a_node_is_not_guessed),
		CASE(silent_nodes_leave_a_doubt),
		CASE(captured_external_record_is_a_node),
		CASE(captures_on_other_streams),
		CASE(null_stream_is_not_unknown),
		CASE(two_threads_record_and_wait),
		CASE(a_wait_that_fails_is_for_nothing),
		CASE(stream_wait_event_future_correlation),
		CASE(memory_and_overhead_have_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
