/* The streams of records and waits, and what happens to those in a capture. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event_scene.h"
#include "trace/load.h"

enum { EVENT = 0xe100, OTHER_EVENT = 0xe200, STREAM = 0x5100, OTHER_STREAM = 0x5200 };

static void null_stream_is_not_unknown(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, RECORD, EVENT, 0);
	CALL(scene, STREAM_WAIT, STREAM, EVENT, 0);
	CALL(scene, RECORD, OTHER_EVENT, STREAM);
	CALL(scene, STREAM_WAIT, 1, OTHER_EVENT, 0);
	trace = event_scene_load(scene);
	assert_int_equal(trace->streams[0].kind, TRACE_STREAM_NULL);
	assert_int_equal(event_scene_producer(trace, 0), 1);
	assert_int_equal(trace->event_records[0].stream, 0);
	assert_int_equal(trace->streams[trace->waits[0].stream].handle, STREAM);
	assert_int_equal(trace->waits[1].stream, 0);
}

static void kinds_of_streams(void **state)
{
	static const enum trace_stream_kind kinds[] = {
		TRACE_STREAM_NULL,	  TRACE_STREAM_BLOCKING,    TRACE_STREAM_BLOCKING,
		TRACE_STREAM_NONBLOCKING, TRACE_STREAM_NONBLOCKING, TRACE_STREAM_UNKNOWN,
		TRACE_STREAM_PER_THREAD,
	};
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, MADE, 0x5001);
	CALL(scene, MADE_FLAGS, 0x5002, 0);
	CALL(scene, MADE_FLAGS, 0x5003, 1);
	CALL(scene, MADE_PRIORITY, 0x5004, 1, 0);
	for (uint64_t handle = 0x5001; handle <= 0x5005; handle++)
		CALL(scene, STREAM_SYNC, handle);
	CALL(scene, STREAM_SYNC, 2);
	trace = event_scene_load(scene);
	assert_int_equal(trace->streams_count, sizeof(kinds) / sizeof(kinds[0]));
	for (uint32_t i = 0; i < trace->streams_count; i++)
		assert_int_equal(trace->streams[i].kind, kinds[i]);
}

/* Functions for programs whose default stream is the thread's own. */
static void default_stream_of_a_thread(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, RECORD_SPT, EVENT, 0);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_STREAM_WAIT_SPT, .args = {0, EVENT, 0},
		   .writer = 1);
	CALL(scene, STREAM_SYNC_SPT, 0);
	CALL(scene, COPY_SPT, 0x1000, 0x2000, 64, 1);
	trace = event_scene_load(scene);
	assert_int_equal(trace->streams_count, 3);
	assert_int_equal(trace->event_records[0].stream, 1);
	assert_int_equal(trace->streams[1].kind, TRACE_STREAM_PER_THREAD);
	assert_int_equal(event_scene_producer(trace, 0), 1);
	assert_int_equal(trace->waits[0].stream, 2);
	assert_int_equal(trace->streams[2].kind, TRACE_STREAM_PER_THREAD);
	assert_int_equal(trace->waits[1].stream, 1);
	assert_int_equal(trace->calls[3].stream, 1);
}

static void stream_pointer_reuse(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, MADE, STREAM);
	CALL(scene, RECORD, EVENT, STREAM);
	CALL(scene, GONE, STREAM);
	CALL(scene, MADE_FLAGS, STREAM, 1);
	CALL(scene, STREAM_WAIT, STREAM, EVENT, 0);
	trace = event_scene_load(scene);
	assert_int_equal(trace->event_records[0].stream, 1);
	assert_int_equal(trace->waits[0].stream, 2);
	assert_int_equal(event_scene_producer(trace, 0), 2);
	assert_int_equal(trace->streams[1].handle, STREAM);
	assert_int_equal(trace->streams[2].handle, STREAM);
	assert_int_equal(trace->streams[1].kind, TRACE_STREAM_BLOCKING);
	assert_int_equal(trace->streams[2].kind, TRACE_STREAM_NONBLOCKING);
}

/*
 * One thread creates a stream, which takes long; another one destroys a stream, and the new stream
 * gets its handle.
 */
static void stream_passes_from_thread_to_thread(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, MADE, STREAM);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_MADE_FLAGS, .args = {STREAM, 1},
		   .begin = 10000, .end = 19000, .writer = 1);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_STREAM_SYNC, .args = {STREAM}, .begin = 11000,
		   .end = 12000);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_GONE, .args = {STREAM}, .begin = 12500,
		   .end = 13000);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_STREAM_SYNC, .args = {STREAM}, .begin = 20000,
		   .end = 21000, .writer = 1);
	trace = event_scene_load(scene);
	assert_int_equal(trace->streams_count, 3);
	assert_int_equal(trace->waits[0].stream, 1);
	assert_int_equal(trace->calls[3].stream, 1);
	assert_int_equal(trace->waits[1].stream, 2);
	assert_int_equal(trace->streams[1].kind, TRACE_STREAM_BLOCKING);
	assert_int_equal(trace->streams[2].kind, TRACE_STREAM_NONBLOCKING);
}

/* ---- captures ---- */

static void capture_wait_becomes_graph_edge(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t before, after;

	CALL(scene, CREATE, EVENT);
	CALL(scene, CREATE, OTHER_EVENT);
	before = CALL(scene, RECORD, OTHER_EVENT, 0x5300);
	CALL(scene, CAPTURE_BEGIN, STREAM, 0);
	CALL(scene, RECORD, EVENT, STREAM);
	CALL(scene, STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	CALL(scene, RECORD, OTHER_EVENT, OTHER_STREAM);
	CALL(scene, STREAM_WAIT, STREAM, OTHER_EVENT, 0);
	/* At the same time, on a stream that is not part of the capture. */
	CALL(scene, STREAM_SYNC, 0x5300);
	CALL(scene, CAPTURE_END, STREAM);
	/* What a capture recorded is void after it: the event's earlier record counts again. */
	CALL(scene, STREAM_WAIT, STREAM, OTHER_EVENT, 0);
	after = CALL(scene, RECORD, EVENT, OTHER_STREAM);
	CALL(scene, STREAM_WAIT, STREAM, EVENT, 0);
	trace = event_scene_load(scene);
	assert_int_equal(trace->event_records_count, 2);
	assert_int_equal(trace->waits_count, 3);
	assert_int_equal(trace->waits[0].type, TRACE_WAIT_STREAM);
	assert_int_equal(event_scene_producer(trace, 1), before);
	assert_int_equal(event_scene_producer(trace, 2), after);
}

static void capture_that_began_before_the_recording(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, RECORD, EVENT, STREAM);
	CALL(scene, STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	CALL(scene, CAPTURE_END, STREAM);
	CALL(scene, CAPTURE_BEGIN, OTHER_STREAM, 0);
	CALL(scene, CAPTURE_END, OTHER_STREAM);
	CALL(scene, RECORD, EVENT, OTHER_STREAM);
	trace = event_scene_load(scene);
	assert_int_equal(trace->event_records_count, 1);
	assert_int_equal(trace->event_records[0].cid, 6);
	assert_int_equal(trace->waits_count, 0);
}

/* A stream that joined the capture is destroyed: the capture continues. */
static void capture_outlives_its_branches(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, CAPTURE_BEGIN, STREAM, 0);
	CALL(scene, RECORD, EVENT, STREAM);
	CALL(scene, STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	CALL(scene, GONE, OTHER_STREAM);
	CALL(scene, RECORD, EVENT, STREAM);
	CALL(scene, CAPTURE_END, STREAM);
	trace = event_scene_load(scene);
	assert_int_equal(trace->event_records_count, 0);
	assert_int_equal(trace->waits_count, 0);
}

static void captures_that_do_not_end_well(void **state)
{
	enum { UNMATCHED = 903, UNJOINED = 904 };
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, CAPTURE_BEGIN, STREAM, 0);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_CAPTURE_END, .args = {STREAM},
		   .result = UNMATCHED);
	CALL(scene, RECORD, EVENT, STREAM);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_CAPTURE_END, .args = {STREAM},
		   .result = UNJOINED);
	CALL(scene, RECORD, EVENT, STREAM);
	CALL(scene, CAPTURE_BEGIN, STREAM, 0);
	CALL(scene, RECORD, EVENT, STREAM);
	CALL(scene, STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	CALL(scene, GONE, STREAM);
	CALL(scene, RECORD, EVENT, OTHER_STREAM);
	trace = event_scene_load(scene);
	assert_int_equal(trace->waits_count, 0);
	assert_int_equal(trace->event_records_count, 2);
	assert_int_equal(trace->event_records[0].cid, 5);
	assert_int_equal(trace->event_records[1].cid, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVENT_CASE(null_stream_is_not_unknown),
		EVENT_CASE(kinds_of_streams),
		EVENT_CASE(default_stream_of_a_thread),
		EVENT_CASE(stream_pointer_reuse),
		EVENT_CASE(stream_passes_from_thread_to_thread),
		EVENT_CASE(capture_wait_becomes_graph_edge),
		EVENT_CASE(capture_that_began_before_the_recording),
		EVENT_CASE(capture_outlives_its_branches),
		EVENT_CASE(captures_that_do_not_end_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
