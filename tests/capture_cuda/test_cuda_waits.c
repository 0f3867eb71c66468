/* Who waited for whom on CUDA: events and waits, by CUPTI's numbers and, where an older CUPTI gives
 * none, by the order of calls. */
#include "cuda_scene.h"

#include "capture/session.h"
#include "trace/load.h"

enum { EVENT = 3, OTHER_STREAM = 21 };

static void record_event(uint32_t correlation, uint32_t stream, uint64_t order)
{
	struct cupti_cuda_event event = {
		.kind = CUPTI_KIND_CUDA_EVENT,
		.correlationId = correlation,
		.contextId = CONTEXT,
		.streamId = stream,
		.eventId = EVENT,
		.deviceId = DEVICE,
		.deviceTimestamp = model_now(),
		.cudaEventSyncId = order,
	};

	PLAY_PUT(event);
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

/* ---- by number ---- */

static void ordered(void)
{
	play_start();
	for (uint32_t call = 100; call <= 104; call++)
		play_call(call);
	/* The wait comes first, and the order of calls would mislead: 102 recorded anew meanwhile. */
	wait_for(103, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 1);
	record_event(102, STREAM, 2);
	record_event(100, STREAM, 1);
	wait_for(104, RECORD_CUDA_SYNC_STREAM, STREAM, RECORD_CUDA_NONE, UINT32_MAX);
	session_stop();
}

static void a_wait_finds_its_record_by_number(void **state)
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

/* The event's record is not in the recording: nobody's, not the nearest one's. */
static void record_missing(void)
{
	play_start();
	record_event(4, STREAM, 5);
	record_event(5, STREAM, 7);
	wait_for(9, RECORD_CUDA_SYNC_EVENT, RECORD_CUDA_NONE, EVENT, 6);
	session_stop();
}

static void a_wait_for_what_is_missing_stays_unresolved(void **state)
{
	struct trace *trace = play_scene(*state, record_missing);

	assert_int_equal(trace->waits[0].producer, TRACE_NONE);
	assert_int_equal(trace->events[trace->waits[0].event].handle, EVENT);
	assert_int_equal(trace->waits[0].order, 6);
	trace_close(trace);
}

/* ---- by the order of calls ---- */

static void of_an_older_cupti(void)
{
	model_set_version(24);
	play_start();
	record_event(200, STREAM, 0);
	wait_for(101, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	record_event(100, OTHER_STREAM, 0);
	wait_for(201, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	wait_for(99, RECORD_CUDA_SYNC_STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	session_stop();
}

static void without_numbers_it_is_the_last_one_before(void **state)
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
		CASE(a_wait_finds_its_record_by_number),
		CASE(a_wait_for_what_is_missing_stays_unresolved),
		CASE(without_numbers_it_is_the_last_one_before),
		CASE(memory_and_overhead_have_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
