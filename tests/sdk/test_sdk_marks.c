/* Calls of roctx that a started context is told of. The test stands for the injected library. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sdk/buffers.h"
#include "sdk/inside.h"
#include "sdk/mark_ranges.h"
#include "sdk/marks.h"
#include "sdk/observed.h"
#include "sdk/sdk_contexts.h"

#define CALLS 8

static unsigned told[CALLS + 1][2]; /* by correlation id: entries and returns */
static jmp_buf outside;

static void enter(uint64_t cid)
{
	marks_observe(&(struct inject_mark){
		.cid = cid, .begin_ns = 1, .function = INJECT_PUSH, .message = ""});
}

static void leave(uint64_t cid)
{
	marks_observe(&(struct inject_mark){
		.cid = cid, .begin_ns = 1, .end_ns = 2, .function = INJECT_PUSH, .message = ""});
}

/* Jumps out of the entry of call 1 and out of the return of call 2. Calls roctx at the entry of
 * call 4. */
static void take_mark(struct sdk_callback_record record, union sdk_user *user, void *data)
{
	uint64_t cid = record.correlation.internal;
	bool is_entry = record.phase == SDK_PHASE_ENTER;

	(void)user, (void)data;
	told[cid][!is_entry]++;
	if (is_entry ? cid == 1 : cid == 2)
		longjmp(outside, 1);
	if (is_entry && cid == 4) {
		enter(5);
		leave(5);
	}
}

static void make_call(uint64_t cid)
{
	enter(cid);
	leave(cid);
}

/* The frames of these are where those were that were jumped out of. */
INSIDE_ON_STACK __attribute__((noinline)) static void make_calls_below(void)
{
	volatile char variables[4096];

	for (size_t i = 0; i < sizeof(variables); i++)
		variables[i] = (char)i;
	make_call(3);
	make_call(4);
}

static void a_jump_out_of_a_callback_leaves_nothing(void **state)
{
	static const unsigned expected[CALLS + 1][2] = {
		[1] = {1, 0}, [2] = {1, 1}, [3] = {1, 1}, [4] = {1, 1}, [6] = {1, 1}};
	struct sdk_callback_service *service =
		&sdk_contexts[0].callbacks[SDK_CALLBACK_MARKER_CORE_API];

	(void)state;
	service->operations.is_on = service->operations.is_all = true;
	service->callback = take_mark;
	sdk_contexts[0].is_used = true;
	sdk_context_start(&sdk_contexts[0]);
	for (volatile uint64_t cid = 1; cid <= 2; cid++) {
		if (setjmp(outside) == 0) {
			make_call(cid);
			fail();
		}
	}
	make_calls_below();
	make_call(6);
	assert_memory_equal(told, expected, sizeof(expected));
}

/* ---- ranges ---- */

static uint64_t recording = 1;
static char ranges_told[1024]; /* "+": entered, "-": left, "=": a record */
static uint64_t entered_tid;

static void say_range(char sign, int operation, uint64_t cid, const char *message, uint64_t result)
{
	size_t used = strlen(ranges_told);

	snprintf(ranges_told + used, sizeof(ranges_told) - used, "%c%d:%lu:%s:%lu ", sign,
		 operation, cid, message, result);
}

/* A call of roctx from 10 * CID ns to 10 * CID + 1. */
static void call_roctx(enum inject_mark_function function, uint64_t cid, const char *message,
		       uint64_t argument, uint64_t result)
{
	struct inject_mark mark = {.cid = cid,
				   .begin_ns = 10 * cid,
				   .function = function,
				   .message = message,
				   .argument = argument,
				   .recording = recording};

	marks_observe(&mark);
	mark.end_ns = mark.begin_ns + 1;
	mark.result = result;
	marks_observe(&mark);
}

/* Begins and ends a range of its own at the entry of call 40, and jumps out of both callbacks of
 * call 50. */
static void take_range(struct sdk_callback_record record, union sdk_user *user, void *data)
{
	const struct sdk_mark_data *mark = record.payload;
	uint64_t cid = record.correlation.internal;
	bool is_entry = record.phase == SDK_PHASE_ENTER;

	(void)data;
	if (is_entry)
		user->value = cid * 3;
	assert_int_equal(user->value, cid * 3);
	if (is_entry)
		entered_tid = record.tid;
	else
		assert_int_equal(record.tid, entered_tid);
	say_range(is_entry ? '+' : '-', record.operation, cid,
		  record.operation == SDK_RANGE_THREAD_ID ? "-"
							  : (const char *)(uintptr_t)mark->argument,
		  mark->result);
	if (is_entry && cid == 40) {
		call_roctx(INJECT_PUSH, 41, "inner", 0, 0);
		call_roctx(INJECT_POP, 42, NULL, 0, 0);
	}
	if (cid == 50)
		longjmp(outside, 1);
}

static void take_range_records(struct sdk_id context, struct sdk_id from,
			       struct sdk_record_header **headers, size_t count, void *data,
			       uint64_t lost)
{
	(void)context, (void)from, (void)data, (void)lost;
	for (size_t i = 0; i < count; i++) {
		const struct sdk_hip_record *record = headers[i]->payload;

		assert_int_equal(headers[i]->kind, SDK_BUFFER_MARKER_CORE_RANGE_API);
		assert_int_equal(record->tid, entered_tid);
		say_range('=', record->operation, record->correlation.internal, "",
			  record->end_ns - record->start_ns);
	}
}

static int begin_ranges(void **state)
{
	static const struct sdk_buffer like = {
		.size = 8192, .watermark = 8192, .callback = take_range_records};
	struct sdk_context *context = &sdk_contexts[0];
	struct sdk_callback_service *service =
		&context->callbacks[SDK_CALLBACK_MARKER_CORE_RANGE_API];
	struct sdk_buffer_service *buffer = &context->buffers[SDK_BUFFER_MARKER_CORE_RANGE_API];

	(void)state;
	memset(context, 0, sizeof(*context));
	service->operations.is_on = service->operations.is_all = true;
	service->callback = take_range;
	buffer->operations.is_on = buffer->operations.is_all = true;
	buffer->buffer = sdk_buffer_make(&like);
	context->is_used = true;
	sdk_context_start(context);
	*ranges_told = '\0';
	return 0;
}

static int end_ranges(void **state)
{
	struct sdk_buffer_service *buffer =
		&sdk_contexts[0].buffers[SDK_BUFFER_MARKER_CORE_RANGE_API];

	(void)state;
	sdk_context_stop(&sdk_contexts[0]);
	sdk_buffer_free(sdk_buffer_find(buffer->buffer));
	return 0;
}

static void assert_told(const char *expected)
{
	observed_deliver();
	sdk_buffer_deliver(sdk_buffer_find(1));
	assert_string_equal(ranges_told, expected);
	*ranges_told = '\0';
}

static void ranges_are_told_from_their_begin_to_their_end(void **state)
{
	char message[] = "outer";

	(void)state;
	call_roctx(INJECT_PUSH, 1, message, 0, 7);
	message[0] = 'x'; /* the program's memory, which it may use again */
	call_roctx(INJECT_PUSH, 2, "inner", 0, 8);
	call_roctx(INJECT_MARK, 3, "mark", 0, 0);
	call_roctx(INJECT_POP, 4, NULL, 0, 8);
	call_roctx(INJECT_THREAD_ID, 5, NULL, 0, 0);
	/* Of the entry a context was told that is stopped now. */
	sdk_context_stop(&sdk_contexts[0]);
	call_roctx(INJECT_PUSH, 6, "unseen", 0, 8);
	call_roctx(INJECT_POP, 7, NULL, 0, 8);
	call_roctx(INJECT_POP, 8, NULL, 0, 7);
	call_roctx(INJECT_POP, 9, NULL, 0, (uint64_t)-1);
	assert_told("+1:1:outer:0 +1:2:inner:0 +0:3:mark:0 -0:3:mark:0 -1:2:inner:8 +3:5:-:0 "
		    "-3:5:-:0 -1:1:outer:7 =0:3::1 =1:2::21 =3:5::1 =1:1::71 ");
}

static void *stop_range(void *unused)
{
	call_roctx(INJECT_STOP, 23, NULL, 100, 0);
	return unused;
}

static void ranges_of_the_process_end_on_any_thread(void **state)
{
	pthread_t thread;

	(void)state;
	call_roctx(INJECT_START, 20, "first", 0, 100);
	call_roctx(INJECT_START, 21, "second", 0, 101);
	call_roctx(INJECT_STOP, 22, NULL, 99, 0);
	assert_int_equal(pthread_create(&thread, NULL, stop_range, NULL), 0);
	pthread_join(thread, NULL);
	call_roctx(INJECT_STOP, 24, NULL, 100, 0);
	call_roctx(INJECT_STOP, 25, NULL, 101, 0);
	assert_told("+2:20:first:0 +2:21:second:0 -2:20:first:100 -2:21:second:101 =2:20::31 "
		    "=2:21::41 ");
}

/* While nothing was recorded, begins and ends were not told. */
static void ranges_of_another_recording_do_not_end(void **state)
{
	(void)state;
	call_roctx(INJECT_PUSH, 30, "first", 0, 0);
	recording = 2;
	call_roctx(INJECT_POP, 31, NULL, 0, 0);
	call_roctx(INJECT_POP, 32, NULL, 0, 0);
	call_roctx(INJECT_PUSH, 33, "second", 0, 0);
	call_roctx(INJECT_POP, 34, NULL, 0, 0);
	assert_told("+1:30:first:0 +1:33:second:0 -1:33:second:0 =1:33::11 ");
}

/* As many as may be open, whose stops were not told. */
static void ranges_of_the_process_make_room_for_those_of_another_recording(void **state)
{
	(void)state;
	recording = 3;
	for (uint64_t id = 1000; id < 1000 + 65536; id++)
		call_roctx(INJECT_START, 60, "left", 0, id);
	*ranges_told = '\0';
	recording = 4;
	call_roctx(INJECT_START, 61, "first", 0, 100);
	recording = 5;
	call_roctx(INJECT_START, 62, "second", 0, 101);
	call_roctx(INJECT_STOP, 63, NULL, 100, 0);
	call_roctx(INJECT_STOP, 64, NULL, 101, 0);
	call_roctx(INJECT_STOP, 65, NULL, 1000, 0);
	assert_told("+2:61:first:0 +2:62:second:0 -2:61:first:100 -2:62:second:101 =2:61::21 "
		    "=2:62::21 ");
}

static void ranges_of_a_callback_are_not_told(void **state)
{
	(void)state;
	call_roctx(INJECT_PUSH, 40, "outer", 0, 0);
	call_roctx(INJECT_POP, 43, NULL, 0, 0);
	assert_told("+1:40:outer:0 -1:40:outer:0 =1:40::31 ");
}

static void a_jump_out_of_a_range_leaves_nothing(void **state)
{
	(void)state;
	for (volatile int i = 0; i < 2; i++) {
		if (setjmp(outside) == 0) {
			call_roctx(INJECT_PUSH, 50, "left", 0, 0);
			fail();
		}
	}
	call_roctx(INJECT_PUSH, 51, "whole", 0, 0);
	call_roctx(INJECT_POP, 52, NULL, 0, 0);
	call_roctx(INJECT_POP, 53, NULL, 0, 0);
	assert_told("+1:50:left:0 +1:50:left:0 +1:51:whole:0 -1:51:whole:0 =1:51::11 ");
}

#define RANGE_CASE(name) cmocka_unit_test_setup_teardown(name, begin_ranges, end_ranges)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jump_out_of_a_callback_leaves_nothing),
		RANGE_CASE(ranges_are_told_from_their_begin_to_their_end),
		RANGE_CASE(ranges_of_the_process_end_on_any_thread),
		RANGE_CASE(ranges_of_another_recording_do_not_end),
		RANGE_CASE(ranges_of_the_process_make_room_for_those_of_another_recording),
		RANGE_CASE(ranges_of_a_callback_are_not_told),
		RANGE_CASE(a_jump_out_of_a_range_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
