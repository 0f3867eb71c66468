/*
 * Which work waits for which on CUDA: events and waits, matched by CUPTI's numbers or, with an
 * older CUPTI that gives none, by the order of calls. Cases that exist in other projects' tests
 * have the same names here.
 */
#include "cuda_scene.h"

#include <pthread.h>

#include "capture/capture_session.h"

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
	play_wait(103, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 1);
	play_record(EVENT, 102, STREAM, 2);
	play_record(EVENT, 100, STREAM, 1);
	play_wait(104, RECORD_CUDA_SYNC_STREAM, STREAM, RECORD_CUDA_NONE, UINT32_MAX);
	session_stop();
}

static void inter_stream_dependency(void **state)
{
	struct trace *trace = play_scene(*state, ordered);

	assert_int_equal(trace->event_records_count, 2);
	assert_int_equal(trace->waits_count, 2);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_NUMBER);
	assert_int_equal(play_producer(trace, 0)->cid, 100);
	assert_int_equal(trace->streams[play_producer(trace, 0)->stream].handle, STREAM);
	assert_int_equal(trace->streams[trace->waits[0].stream].handle, OTHER_STREAM);
	assert_int_equal(trace->calls[trace->waits[0].call].cid, 103);
	assert_true(trace->event_records[0].device_ns > trace->processes[0].start_ns);
	assert_int_equal(trace->waits[1].type, TRACE_WAIT_STREAM);
	assert_int_equal(trace->waits[1].producer, TRACE_NONE);
	play_assert_closed(trace);
}

/*
 * The event's record is not in the recording: the wait has no producer, and does not get the
 * nearest record.
 */
static void record_missing(void)
{
	play_start_with_all_calls();
	play_record(EVENT, 4, STREAM, 5);
	play_record(EVENT, 5, STREAM, 7);
	play_wait(9, RECORD_CUDA_SYNC_EVENT, RECORD_CUDA_NONE, EVENT, 6);
	session_stop();
}

static void unresolved_wait_still_emits_event_id(void **state)
{
	struct trace *trace = play_scene(*state, record_missing);

	assert_int_equal(trace->waits[0].producer, TRACE_NONE);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_NOT);
	assert_int_equal(trace->events[trace->waits[0].event].handle, EVENT);
	assert_int_equal(trace->waits[0].order, 6);
}

static void never_recorded(void)
{
	play_start_with_all_calls();
	play_call(101);
	play_record(EVENT + 1, 101, STREAM, 1);
	play_call(102);
	play_wait(102, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
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
}

static void recorded_and_waited_for(void)
{
	play_start_with_all_calls();
	play_record(EVENT, 4, STREAM, 5);
	play_wait(9, RECORD_CUDA_SYNC_EVENT, RECORD_CUDA_NONE, EVENT, 5);
	session_stop();
}

static void event_synchronize_resolves_producer(void **state)
{
	struct trace *trace = play_scene(*state, recorded_and_waited_for);

	assert_int_equal(trace->waits[0].type, TRACE_WAIT_EVENT);
	assert_int_equal(trace->waits[0].stream, TRACE_NONE);
	assert_int_equal(play_producer(trace, 0)->cid, 4);
}

static void two_events(void)
{
	play_start_with_all_calls();
	play_record(EVENT, 1, STREAM, 1);
	play_record(OTHER_EVENT, 2, OTHER_STREAM, 2);
	play_wait(3, RECORD_CUDA_SYNC_STREAM_WAIT, 22, OTHER_EVENT, 2);
	play_wait(4, RECORD_CUDA_SYNC_STREAM_WAIT, 22, EVENT, 1);
	session_stop();
}

static void wait_on_two_producers_keeps_both(void **state)
{
	struct trace *trace = play_scene(*state, two_events);

	assert_int_equal(trace->waits_count, 2);
	assert_int_equal(trace->waits[0].stream, trace->waits[1].stream);
	assert_int_equal(play_producer(trace, 0)->cid, 2);
	assert_int_equal(play_producer(trace, 1)->cid, 1);
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
	play_wait(4, RECORD_CUDA_SYNC_STREAM_WAIT, STREAM, EVENT, 1);
	play_wait(5, RECORD_CUDA_SYNC_STREAM_WAIT, STREAM, OTHER_EVENT, 2);
	event.contextId = CONTEXT;
	event.correlationId = 6;
	event.cudaEventSyncId = 3;
	PLAY_PUT(event);
	play_wait(7, RECORD_CUDA_SYNC_STREAM_WAIT, STREAM, OTHER_EVENT, 3);
	session_stop();
}

static void a_wait_for_another_device_has_its_event(void **state)
{
	struct trace *trace = play_scene(*state, on_two_devices);

	assert_int_equal(trace->waits_count, 3);
	assert_int_equal(play_producer(trace, 0)->cid, 1);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_NUMBER);
	assert_int_equal(trace->waits[0].event, play_producer(trace, 0)->event);
	/* CUPTI does not say which of the two. */
	assert_int_equal(trace->waits[1].producer, TRACE_NONE);
	assert_int_equal(trace->waits[1].known, TRACE_KNOWN_NOT);
	assert_int_equal(play_producer(trace, 2)->cid, 6);
}

static void recorded_in_the_recording_before(void)
{
	play_start_with_all_calls();
	play_record(EVENT, 1, STREAM, 0);
	session_stop();
	expect(session_start_again());
	play_wait(2, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
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
}

/* ---- streams ---- */

/* As on an H200 with CUDA 13.0: each context has its own default streams, with any numbers. */
static void streams_of_two_contexts(void)
{
	play_start_with_all_calls();
	play_record(EVENT, 1, STREAM, 1);
	play_wait(2, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 1);
	play_wait(3, RECORD_CUDA_SYNC_STREAM, 23, RECORD_CUDA_NONE, 0);
	play_wait(4, RECORD_CUDA_SYNC_STREAM, 24, RECORD_CUDA_NONE, 0);
	play_stream(CONTEXT, 6, RECORD_CUDA_STREAM_BLOCKING);
	play_stream(CONTEXT, STREAM, RECORD_CUDA_STREAM_NULL);
	play_stream(CONTEXT, OTHER_STREAM, RECORD_CUDA_STREAM_NONBLOCKING);
	play_stream(CONTEXT, 23, RECORD_CUDA_STREAM_BLOCKING);
	play_stream(CONTEXT + 1, 24, RECORD_CUDA_STREAM_NULL);
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
	assert_int_equal(play_producer(trace, 0)->stream, 0);
	play_assert_closed(trace);
}

/* ---- matched by the order of calls ---- */

static void of_an_older_cupti(void)
{
	model_set_version(24);
	play_start_with_all_calls();
	play_record(EVENT, 200, STREAM, 0);
	play_wait(101, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	play_record(EVENT, 100, OTHER_STREAM, 0);
	play_wait(201, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	play_wait(99, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	session_stop();
}

static void stream_wait_event_future_correlation(void **state)
{
	struct trace *trace = play_scene(*state, of_an_older_cupti);

	assert_int_equal(trace->waits_count, 3);
	assert_int_equal(trace->waits[0].cid, 99);
	assert_int_equal(trace->waits[0].producer, TRACE_NONE);
	assert_int_equal(play_producer(trace, 1)->cid, 100);
	assert_int_equal(play_producer(trace, 2)->cid, 200);
	assert_int_equal(trace->waits[1].known, TRACE_KNOWN_ORDER);
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
	play_record(EVENT, 1, STREAM, 0);
	play_wait(2, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	play_record(EVENT, 3, STREAM, 0);
	play_wait(4, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	session_stop();
}

static void two_threads_record_and_wait(void **state)
{
	struct trace *trace = play_scene(*state, on_two_threads);

	assert_int_equal(play_producer(trace, 0)->cid, 1);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_ORDER);
	assert_int_equal(play_producer(trace, 1)->cid, 3);
	assert_int_equal(trace->waits[1].known, TRACE_KNOWN_LIKELY);
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
	play_record(EVENT, 1, STREAM, 1);
	PLAY_PUT(sync);
	session_stop();
}

static void a_wait_that_fails_is_for_nothing(void **state)
{
	struct trace *trace = play_scene(*state, failed);

	assert_int_equal(trace->waits[0].result, 1);
	assert_int_equal(trace->waits[0].producer, TRACE_NONE);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_NOT);
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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PLAY_CASE(inter_stream_dependency),
		PLAY_CASE(unresolved_wait_still_emits_event_id),
		PLAY_CASE(a_wait_for_an_event_without_a_record_is_for_nothing),
		PLAY_CASE(event_synchronize_resolves_producer),
		PLAY_CASE(wait_on_two_producers_keeps_both),
		PLAY_CASE(a_wait_for_another_device_has_its_event),
		PLAY_CASE(event_map_cleared_on_reset),
		PLAY_CASE(null_stream_is_not_unknown),
		PLAY_CASE(two_threads_record_and_wait),
		PLAY_CASE(a_wait_that_fails_is_for_nothing),
		PLAY_CASE(stream_wait_event_future_correlation),
		PLAY_CASE(memory_and_overhead_have_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
