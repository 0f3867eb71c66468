/*
 * Which record of an event a wait is for, from HIP's calls. Cases that exist in other projects'
 * tests have the same names here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "event_scene.h"
#include "trace/load.h"

enum { EVENT = 0xe100, OTHER_EVENT = 0xe200, STREAM = 0x5100, OTHER_STREAM = 0x5200 };

/* ---- one record, one wait ---- */

static void inter_stream_dependency(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t record;

	CALL(scene, CREATE, EVENT);
	record = CALL(scene, RECORD, EVENT, STREAM);
	CALL(scene, STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	trace = event_scene_load(scene);
	assert_int_equal(trace->events_count, 1);
	assert_int_equal(trace->events[0].handle, EVENT);
	assert_int_equal(trace->event_records_count, 1);
	assert_int_equal(trace->waits_count, 1);
	assert_int_equal(trace->waits[0].type, TRACE_WAIT_STREAM_EVENT);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_ORDER);
	assert_int_equal(event_scene_producer(trace, 0), record);
	assert_int_equal(trace->streams[trace->event_records[0].stream].handle, STREAM);
	assert_int_equal(trace->streams[trace->waits[0].stream].handle, OTHER_STREAM);
	assert_int_equal(trace->event_records[0].device_ns, 0);
}

static void event_synchronize_resolves_producer(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t record;

	CALL(scene, CREATE_FLAGS, EVENT, 2);
	record = CALL(scene, RECORD_FLAGS, EVENT, STREAM, 0);
	CALL(scene, EVENT_WAIT, EVENT);
	trace = event_scene_load(scene);
	assert_int_equal(trace->waits_count, 1);
	assert_int_equal(trace->waits[0].type, TRACE_WAIT_EVENT);
	assert_int_equal(trace->waits[0].stream, TRACE_NONE);
	assert_int_equal(event_scene_producer(trace, 0), record);
	assert_int_equal(trace->waits[0].call, 2);
	assert_int_equal(trace->waits[0].end_ns - trace->waits[0].begin_ns, 100);
}

static void what_waits_for_no_event(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, CREATE, EVENT);
	CALL(scene, RECORD, EVENT, STREAM);
	CALL(scene, EVENT_QUERY, EVENT);
	CALL(scene, EVENT_ELAPSED, 0, EVENT, EVENT);
	CALL(scene, STREAM_SYNC, STREAM);
	CALL(scene, DEVICE_SYNC, 0);
	trace = event_scene_load(scene);
	assert_int_equal(trace->waits_count, 2);
	assert_int_equal(trace->waits[0].type, TRACE_WAIT_STREAM);
	assert_int_equal(trace->streams[trace->waits[0].stream].handle, STREAM);
	assert_int_equal(trace->waits[1].type, TRACE_WAIT_DEVICE);
	assert_int_equal(trace->waits[1].stream, TRACE_NONE);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(trace->waits[i].event, TRACE_NONE);
		assert_int_equal(trace->waits[i].producer, TRACE_NONE);
		assert_int_equal(trace->waits[i].known, TRACE_KNOWN_NOT);
	}
}

static void calls_that_fail_do_nothing(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t record;

	CALL(scene, CREATE, EVENT);
	record = CALL(scene, RECORD, EVENT, STREAM);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_RECORD, .args = {EVENT, OTHER_STREAM},
		   .result = 1);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_STREAM_WAIT, .args = {STREAM, EVENT},
		   .result = 1);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_DESTROY, .args = {EVENT}, .result = 1);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_CREATE, .args = {EVENT}, .result = 1);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_CAPTURE_BEGIN, .args = {STREAM}, .result = 1);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_DEVICE_SYNC, .result = 1);
	CALL(scene, STREAM_WAIT, STREAM, EVENT, 0);
	trace = event_scene_load(scene);
	assert_int_equal(trace->events_count, 1);
	assert_int_equal(trace->event_records_count, 1);
	assert_int_equal(trace->waits_count, 1);
	assert_int_equal(event_scene_producer(trace, 0), record);
}

/* ---- of several records ---- */

static void stream_wait_event_future_correlation(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	EVENT_CALL(scene, .function = EVENT_FUNCTION_RECORD, .args = {EVENT, STREAM}, .cid = 200,
		   .begin = 200000, .end = 200100);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_RECORD, .args = {EVENT, OTHER_STREAM},
		   .cid = 100, .begin = 100000, .end = 100100);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_STREAM_WAIT, .args = {STREAM, EVENT},
		   .cid = 101, .begin = 101000, .end = 101100);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_EVENT_WAIT, .args = {EVENT}, .cid = 201,
		   .begin = 201000, .end = 201100);
	trace = event_scene_load(scene);
	assert_int_equal(trace->waits_count, 2);
	assert_int_equal(event_scene_producer(trace, 0), 100);
	assert_int_equal(event_scene_producer(trace, 1), 200);
	assert_int_equal(trace->event_records[0].cid, 100);
	assert_int_equal(trace->event_records[1].cid, 200);
}

static void wait_on_two_producers_keeps_both(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t first, second;

	first = CALL(scene, RECORD, EVENT, STREAM);
	second = CALL(scene, RECORD, OTHER_EVENT, OTHER_STREAM);
	CALL(scene, STREAM_WAIT, 0, OTHER_EVENT, 0);
	CALL(scene, STREAM_WAIT, 0, EVENT, 0);
	trace = event_scene_load(scene);
	assert_int_equal(trace->waits_count, 2);
	assert_int_equal(trace->waits[0].stream, trace->waits[1].stream);
	assert_int_equal(event_scene_producer(trace, 0), second);
	assert_int_equal(event_scene_producer(trace, 1), first);
}

/* ---- what is not in the recording ---- */

static void unresolved_wait_still_emits_event_id(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, STREAM_WAIT, STREAM, EVENT, 0);
	trace = event_scene_load(scene);
	assert_int_equal(trace->waits_count, 1);
	assert_int_equal(trace->waits[0].producer, TRACE_NONE);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_NOT);
	assert_int_equal(trace->events[trace->waits[0].event].handle, EVENT);
	assert_false(trace->events[trace->waits[0].event].is_foreign);
}

/*
 * Created during the recording and never recorded: it is known that there is nothing to wait for.
 */
static void wait_for_what_was_never_recorded(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, CREATE, EVENT);
	CALL(scene, STREAM_WAIT, STREAM, EVENT, 0);
	trace = event_scene_load(scene);
	assert_int_equal(trace->waits[0].producer, TRACE_NONE);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_ORDER);
}

static void remove_spools(const char *folder)
{
	for (unsigned pid = 1; pid <= 3; pid++)
		scene_remove_spool(folder, pid);
	rmdir(folder);
}

/* A recording's knowledge of an event is not used for the next recording. */
static void event_map_cleared_on_reset(void **state)
{
	char folder[TEST_PATH_BYTES];
	struct dagtap_error error;
	struct scene scene;
	struct trace *trace;

	assert_non_null(mkdtemp(test_path(folder, "waits")));
	for (unsigned pid = 1; pid <= 3; pid++) {
		event_scene_init(&scene);
		scene.pid = pid;
		((struct spool_header *)scene.image)->pid = pid;
		((struct spool_header *)scene.image)->start_ns = 1000 + pid;
		((struct spool_header *)scene.image)->fixed_crc =
			spool_fixed_crc((struct spool_header *)scene.image);
		if (pid != 2)
			CALL(&scene, RECORD, EVENT, STREAM);
		CALL(&scene, STREAM_WAIT, OTHER_STREAM, EVENT, 0);
		scene_close(&scene);
		scene_put_spool(&scene, folder);
		scene_release(&scene);
	}
	if (trace_open(folder, NULL, &trace, &error) < 0)
		fail_msg("%s", error.message);
	assert_int_equal(trace->processes_count, 3);
	assert_int_equal(trace->waits_count, 3);
	assert_int_equal(trace->events_count, 3);
	assert_int_equal(trace->waits[0].producer, 0);
	assert_int_equal(trace->waits[1].producer, TRACE_NONE);
	assert_int_equal(trace->waits[2].producer, 1);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(trace->waits[i].process, i);
		assert_int_equal(trace->waits[i].event, i);
		assert_int_equal(trace->calls[trace->waits[i].call].process, i);
	}
	trace_close(trace);
	remove_spools(folder);
}

static void events_of_other_processes_stay_unresolved(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, OPEN, EVENT);
	CALL(scene, RECORD, EVENT, STREAM);
	CALL(scene, STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	CALL(scene, CREATE, OTHER_EVENT);
	CALL(scene, EXPORT, 0, OTHER_EVENT);
	CALL(scene, RECORD, OTHER_EVENT, STREAM);
	CALL(scene, STREAM_WAIT, OTHER_STREAM, OTHER_EVENT, 0);
	trace = event_scene_load(scene);
	assert_true(trace->events[trace->waits[0].event].is_foreign);
	assert_int_equal(trace->waits[0].producer, TRACE_NONE);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_NOT);
	/* Another process may have recorded the event since. */
	assert_false(trace->events[trace->waits[1].event].is_foreign);
	assert_int_equal(event_scene_producer(trace, 1), 6);
	assert_int_equal(trace->waits[1].known, TRACE_KNOWN_LIKELY);
}

static void lost_calls_leave_a_doubt(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, CREATE, EVENT);
	CALL(scene, CREATE, OTHER_EVENT);
	CALL(scene, RECORD, EVENT, STREAM);
	CALL(scene, STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	CALL(scene, STREAM_WAIT, OTHER_STREAM, OTHER_EVENT, 0);
	scene_drop(scene, RECORD_CLASS_API, RECORD_DROP_FULL);
	trace = event_scene_load(scene);
	assert_int_equal(event_scene_producer(trace, 0), 3);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_LIKELY);
	assert_int_equal(trace->waits[1].known, TRACE_KNOWN_NOT);
}

/* ---- handles ---- */

static void event_handle_reuse_after_destroy(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t first, second;

	CALL(scene, CREATE, EVENT);
	first = CALL(scene, RECORD, EVENT, STREAM);
	CALL(scene, STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	CALL(scene, DESTROY, EVENT);
	CALL(scene, CREATE, EVENT);
	CALL(scene, STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	second = CALL(scene, RECORD, EVENT, STREAM);
	CALL(scene, STREAM_WAIT, OTHER_STREAM, EVENT, 0);
	trace = event_scene_load(scene);
	assert_int_equal(trace->events_count, 2);
	assert_int_equal(trace->events[0].generation, 0);
	assert_int_equal(trace->events[1].generation, 1);
	assert_int_equal(trace->events[1].handle, EVENT);
	assert_int_equal(event_scene_producer(trace, 0), first);
	assert_int_equal(event_scene_producer(trace, 1), 0);
	assert_int_equal(event_scene_producer(trace, 2), second);
	assert_int_equal(trace->event_records[1].event, 1);
}

/*
 * One thread destroys an event and another one creates an event, which gets its handle; the
 * creating call begins first.
 */
static void handle_passes_from_thread_to_thread(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t second;

	CALL(scene, CREATE, EVENT);
	CALL(scene, RECORD, EVENT, STREAM);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_CREATE, .args = {EVENT}, .begin = 10000,
		   .end = 13000, .writer = 1);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_DESTROY, .args = {EVENT}, .begin = 11000,
		   .end = 12000);
	second = EVENT_CALL(scene, .function = EVENT_FUNCTION_RECORD, .args = {EVENT, STREAM},
			    .begin = 14000, .end = 14100, .writer = 1);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_EVENT_WAIT, .args = {EVENT}, .begin = 15000,
		   .end = 15100, .writer = 1);
	trace = event_scene_load(scene);
	assert_int_equal(trace->events_count, 2);
	assert_int_equal(trace->events[1].generation, 1);
	assert_int_equal(event_scene_producer(trace, 0), second);
	assert_int_equal(trace->waits[0].event, 1);
}

/* ---- threads ---- */

static void two_threads_record_and_wait(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, CREATE, EVENT);
	/* The record returns before the other thread waits. */
	EVENT_CALL(scene, .function = EVENT_FUNCTION_RECORD, .args = {EVENT, STREAM}, .cid = 10,
		   .begin = 10000, .end = 10100, .writer = 1);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_STREAM_WAIT, .args = {OTHER_STREAM, EVENT},
		   .cid = 11, .begin = 10200, .end = 10300);
	/* The record is in progress: the wait is for this record or the previous one. */
	EVENT_CALL(scene, .function = EVENT_FUNCTION_RECORD, .args = {EVENT, STREAM}, .cid = 12,
		   .begin = 20000, .end = 20500, .writer = 1);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_STREAM_WAIT, .args = {OTHER_STREAM, EVENT},
		   .cid = 13, .begin = 20100, .end = 20300);
	/* The record begins while the wait is called. */
	EVENT_CALL(scene, .function = EVENT_FUNCTION_STREAM_WAIT, .args = {OTHER_STREAM, EVENT},
		   .cid = 14, .begin = 30000, .end = 30500);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_RECORD, .args = {EVENT, STREAM}, .cid = 15,
		   .begin = 30100, .end = 30200, .writer = 1);
	/*
	 * The host waits for the record that exists when the wait begins, however long that takes.
	 */
	EVENT_CALL(scene, .function = EVENT_FUNCTION_EVENT_WAIT, .args = {EVENT}, .cid = 16,
		   .begin = 40000, .end = 40900);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_RECORD, .args = {EVENT, STREAM}, .cid = 17,
		   .begin = 40100, .end = 40200, .writer = 1);
	trace = event_scene_load(scene);
	assert_int_equal(trace->waits_count, 4);
	assert_int_equal(event_scene_producer(trace, 0), 10);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_ORDER);
	assert_int_equal(event_scene_producer(trace, 1), 12);
	assert_int_equal(trace->waits[1].known, TRACE_KNOWN_LIKELY);
	assert_int_equal(event_scene_producer(trace, 2), 12);
	assert_int_equal(trace->waits[2].known, TRACE_KNOWN_LIKELY);
	assert_int_equal(event_scene_producer(trace, 3), 15);
	assert_int_equal(trace->waits[3].known, TRACE_KNOWN_ORDER);
}

/* A thread may lose its CPU between taking its correlation id and making the call. */
static void time_goes_before_number(void **state)
{
	struct scene *scene = *state;
	struct trace *trace;

	CALL(scene, CREATE, EVENT);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_RECORD, .args = {EVENT, STREAM}, .cid = 10,
		   .begin = 10000, .end = 10100, .writer = 1);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_RECORD, .args = {EVENT, STREAM}, .cid = 11,
		   .begin = 30000, .end = 30100, .writer = 1);
	EVENT_CALL(scene, .function = EVENT_FUNCTION_STREAM_WAIT, .args = {OTHER_STREAM, EVENT},
		   .cid = 12, .begin = 20000, .end = 20100);
	trace = event_scene_load(scene);
	assert_int_equal(event_scene_producer(trace, 0), 10);
	assert_int_equal(trace->waits[0].known, TRACE_KNOWN_ORDER);
}

/* ---- launches that record events ---- */

static void launch_with_events(void **state)
{
	enum { START = EVENT, STOP = OTHER_EVENT };
	struct scene *scene = *state;
	struct trace *trace;
	uint64_t launch;

	launch = EVENT_CALL(scene, .function = EVENT_FUNCTION_EXT_LAUNCH,
			    .args = {0x101, STREAM, START, STOP}, .activities = 1);
	scene_run(scene, launch, 0, 1, 64);
	CALL(scene, STREAM_WAIT, OTHER_STREAM, STOP, 0);
	CALL(scene, EXT_LAUNCH, 0x101, STREAM, 0, STOP);
	CALL(scene, EXT_LAUNCH, 0x101, STREAM, 0, 0);
	CALL(scene, EVENT_WAIT, STOP);
	trace = event_scene_load(scene);
	assert_int_equal(trace->event_records_count, 3);
	assert_int_equal(trace->events[trace->event_records[0].event].handle, START);
	assert_int_equal(trace->events[trace->event_records[1].event].handle, STOP);
	assert_int_equal(trace->event_records[0].cid, launch);
	assert_int_equal(trace->event_records[0].device_ns, trace->activities[0].start_ns);
	assert_int_equal(trace->event_records[1].device_ns, trace->activities[0].end_ns);
	assert_int_equal(trace->waits[0].producer, 1);
	/* A kernel without a row has no times. */
	assert_int_equal(trace->waits[1].producer, 2);
	assert_int_equal(trace->event_records[2].device_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVENT_CASE(inter_stream_dependency),
		EVENT_CASE(event_synchronize_resolves_producer),
		EVENT_CASE(what_waits_for_no_event),
		EVENT_CASE(calls_that_fail_do_nothing),
		EVENT_CASE(stream_wait_event_future_correlation),
		EVENT_CASE(wait_on_two_producers_keeps_both),
		EVENT_CASE(unresolved_wait_still_emits_event_id),
		EVENT_CASE(wait_for_what_was_never_recorded),
		cmocka_unit_test(event_map_cleared_on_reset),
		EVENT_CASE(events_of_other_processes_stay_unresolved),
		EVENT_CASE(lost_calls_leave_a_doubt),
		EVENT_CASE(event_handle_reuse_after_destroy),
		EVENT_CASE(handle_passes_from_thread_to_thread),
		EVENT_CASE(two_threads_record_and_wait),
		EVENT_CASE(time_goes_before_number),
		EVENT_CASE(launch_with_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
