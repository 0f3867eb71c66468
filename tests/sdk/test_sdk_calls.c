/* Calls of HIP that a started context is told of. The test stands for the injected library. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sdk/allocations.h"
#include "sdk/arguments.h"
#include "sdk/calls.h"
#include "sdk/injected.h"
#include "sdk/inside.h"
#include "sdk/marks.h"
#include "sdk/names.h"
#include "sdk/sdk_contexts.h"

static const struct inject_observer *observed;

static void observe(const struct inject_observer *observer)
{
	observed = observer;
}

const struct inject_table *injected_find(void)
{
	static const struct inject_table table = {.observe = observe};

	return &table;
}

const char *const sdk_hip_parameters[] = {""}, *const sdk_rccl_parameters[] = {""};

int sdk_hip_operation_find(const char *name)
{
	(void)name;
	return 0;
}

int sdk_rccl_operation_find(const char *name)
{
	(void)name;
	return 0;
}

void arguments_learn(const char *parameters, size_t bytes, struct sdk_arguments *ret_arguments)
{
	(void)parameters, (void)bytes, (void)ret_arguments;
}

void arguments_fill(const struct sdk_arguments *arguments, const uint64_t *words, void *ret_args)
{
	(void)arguments, (void)words, (void)ret_args;
}

void allocations_observe(const struct inject_memory *memory)
{
	(void)memory;
}

void allocations_observe_scratch(const struct inject_scratch *scratch)
{
	(void)scratch;
}

void marks_observe(const struct inject_mark *mark)
{
	(void)mark;
}

static void enter_inside(uint64_t cid, uint64_t parent)
{
	observed->enter(&(struct inject_call){
		.cid = cid, .parent = parent, .text = "hipDeviceSynchronize"});
}

static void enter(uint64_t cid)
{
	enter_inside(cid, 0);
}

static void leave(uint64_t cid)
{
	observed->leave(&(struct inject_call){.cid = cid, .text = "hipDeviceSynchronize"});
}

static void *end_inside(void *unused)
{
	enter(1);
	enter(2);
	leave(2);
	enter(3);
	pthread_exit(unused);
}

static void a_thread_that_ends_inside_of_calls_is_waited_for_no_more(void **state)
{
	pthread_t thread;

	(void)state;
	enter(10);
	assert_int_equal(pthread_create(&thread, NULL, end_inside, NULL), 0);
	pthread_join(thread, NULL);
	assert_true(sdk_calls_are_under_way());
	leave(10);
	assert_false(sdk_calls_are_under_way());
}

/* What the second context gets at the return of call 20. */
static uint64_t got_user, got_result;

static jmp_buf outside;
static bool jumps_at_entries;
static int told_returns; /* of calls from 50 on, in both contexts */

/* A tool that makes a call at the return of another one, and jumps out of the return of a third. */
static void take_call(struct sdk_callback_record record, union sdk_user *user, void *data)
{
	const struct sdk_hip_data *payload = record.payload;
	uint64_t internal = record.correlation.internal;

	(void)data;
	assert_true(sdk_calls_in_callback());
	if (record.phase == SDK_PHASE_ENTER) {
		if (jumps_at_entries)
			longjmp(outside, 1);
		user->value = 10 * internal + record.context.handle;
	} else if (internal == 20 && record.context.handle == 1) {
		enter(21);
		leave(21);
	} else if (internal == 20) {
		got_user = user->value;
		got_result = payload->result;
	} else if (internal >= 30 && internal < 50) {
		longjmp(outside, 1);
	}
	told_returns += record.phase == SDK_PHASE_EXIT && internal >= 50;
}

static void a_call_inside_of_a_callback_at_a_return_changes_nothing(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sdk_callback_service *service =
			&sdk_contexts[i].callbacks[SDK_CALLBACK_HIP_RUNTIME_API];

		sdk_contexts[i].is_used = true;
		sdk_contexts[i].is_started = true;
		service->operations.is_on = service->operations.is_all = true;
		service->callback = take_call;
	}
	enter(20);
	observed->leave(&(struct inject_call){.cid = 20, .text = "hipMalloc", .value = 2});
	assert_int_equal(got_user, 202);
	assert_int_equal(got_result, 2);
	assert_false(sdk_calls_are_under_way());
}

/* Asks from a frame below those that were jumped out of, and whose place has other variables. */
INSIDE_ON_STACK __attribute__((noinline)) static bool is_in_callback_below(void)
{
	volatile char variables[4096];

	for (size_t i = 0; i < sizeof(variables); i++)
		variables[i] = (char)i;
	return sdk_calls_in_callback();
}

/* As often as calls may be inside of each other, and more. */
static void a_jump_out_of_a_callback_at_a_return_leaves_nothing(void **state)
{
	(void)state;
	for (volatile uint64_t cid = 30; cid < 50; cid++) {
		if (setjmp(outside) == 0) {
			enter(cid);
			leave(cid);
			fail();
		}
		assert_false(sdk_calls_in_callback());
		assert_false(is_in_callback_below());
	}
	enter(50);
	leave(50);
	assert_int_equal(told_returns, 2);
	assert_false(sdk_calls_are_under_way());
}

static void jump_out_of_entry(uint64_t cid, uint64_t parent)
{
	jumps_at_entries = true;
	if (setjmp(outside) == 0) {
		enter_inside(cid, parent);
		fail();
	}
	jumps_at_entries = false;
	assert_false(sdk_calls_in_callback());
}

/* More often than calls may be inside of each other. */
static void a_jump_out_of_a_callback_at_an_entry_leaves_nothing(void **state)
{
	(void)state;
	told_returns = 0;
	for (uint64_t cid = 100; cid < 120; cid++)
		jump_out_of_entry(cid, 0);
	enter(120);
	for (uint64_t cid = 121; cid < 140; cid++)
		jump_out_of_entry(cid, 120);
	enter_inside(140, 120);
	leave(140);
	leave(120);
	assert_int_equal(told_returns, 4);
	enter(141);
	leave(141);
	assert_int_equal(told_returns, 6);
	assert_false(sdk_calls_are_under_way());
}

/* The inner call belongs to another recording, so it has no parent. */
static void a_call_of_an_earlier_recording_is_told_and_not_waited_for(void **state)
{
	(void)state;
	told_returns = 0;
	enter(150);
	assert_true(sdk_calls_are_under_way());
	enter(151);
	leave(151);
	assert_false(sdk_calls_are_under_way());
	leave(150);
	assert_int_equal(told_returns, 4);
}

/* A context that is told of code objects may be started all the time. */
static void a_call_of_which_no_context_gets_records_is_not_waited_for(void **state)
{
	struct sdk_context *code_objects = &sdk_contexts[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		sdk_context_stop(&sdk_contexts[i]);
	code_objects->is_used = true;
	code_objects->callbacks[SDK_CALLBACK_CODE_OBJECT].operations.is_on = true;
	sdk_context_start(code_objects);
	enter(60);
	assert_false(sdk_calls_are_under_way());
	leave(60);
	sdk_context_start(&sdk_contexts[1]);
	enter(61);
	sdk_context_stop(&sdk_contexts[1]);
	assert_true(sdk_calls_are_under_way());
	leave(61);
	assert_false(sdk_calls_are_under_way());
}

static void start_and_stop(struct sdk_context *context)
{
	assert_true(sdk_context_start(context));
	assert_true(sdk_context_stop(context));
}

static void a_context_is_full_until_a_flush_has_succeeded(void **state)
{
	static struct sdk_context context;
	uint32_t spans = 0;

	(void)state;
	for (int i = 0; i < SDK_SPANS; i++) {
		assert_false(sdk_context_is_full(&context, &spans));
		start_and_stop(&context);
	}
	/* It takes no more room while it is started. */
	assert_true(sdk_context_is_full(&context, &spans));
	sdk_context_start(&context);
	assert_false(sdk_context_is_full(&context, &spans));
	sdk_context_stop(&context);
	/* The first flush has failed, and a span is added during the next one. */
	assert_true(sdk_context_is_full(&context, &spans));
	assert_int_equal(spans, SDK_SPANS + 1);
	start_and_stop(&context);
	sdk_context_flushed(&context, spans);
	for (int i = 1; i < SDK_SPANS; i++) {
		assert_false(sdk_context_is_full(&context, &spans));
		start_and_stop(&context);
	}
	assert_true(sdk_context_is_full(&context, &spans));
}

static int start(void **state)
{
	(void)state;
	sdk_contexts[0].is_used = true;
	sdk_context_start(&sdk_contexts[0]);
	sdk_calls_observe();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_ends_inside_of_calls_is_waited_for_no_more),
		cmocka_unit_test(a_call_inside_of_a_callback_at_a_return_changes_nothing),
		cmocka_unit_test(a_jump_out_of_a_callback_at_a_return_leaves_nothing),
		cmocka_unit_test(a_jump_out_of_a_callback_at_an_entry_leaves_nothing),
		cmocka_unit_test(a_call_of_an_earlier_recording_is_told_and_not_waited_for),
		cmocka_unit_test(a_call_of_which_no_context_gets_records_is_not_waited_for),
		cmocka_unit_test(a_context_is_full_until_a_flush_has_succeeded),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
