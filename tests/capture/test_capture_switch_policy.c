/*
 * When a recording is to be on: calls, instances of a scope, delay and duration, in all their
 * orders. The test's own clock is a number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "capture/switch_policy.h"

#define BEGIN 1000

static struct switch_policy policy_of(struct switch_options options)
{
	struct switch_policy policy;

	switch_policy_init(&policy, &options, BEGIN);
	return policy;
}

#define POLICY(...) policy_of((struct switch_options){__VA_ARGS__})

static void assert_wants(const struct switch_policy *policy, uint64_t now_ns, bool wanted)
{
	assert_int_equal(switch_policy_wants(policy, now_ns), wanted);
}

/* ---- windows ---- */

static void enter(struct switch_policy *policy, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		switch_policy_leave(policy, switch_policy_enter(policy));
}

static void a_window_is_on_from_its_first_instance_to_behind_its_last(void **state)
{
	struct switch_policy policy = POLICY(.is_waiting = true);

	enter(&policy, 3);
	switch_policy_ask_window(&policy, 5, 1, 2);
	enter(&policy, 2);
	assert_wants(&policy, BEGIN, false);
	assert_int_equal(policy.window.state, SWITCH_WINDOW_AHEAD);
	switch_policy_began(&policy, BEGIN, 1);
	enter(&policy, 1);
	assert_wants(&policy, BEGIN, true);
	switch_policy_began(&policy, BEGIN, 2);
	switch_policy_began(&policy, BEGIN, 3);
	assert_int_equal(policy.window.recording, 2);
	enter(&policy, 1);
	assert_wants(&policy, BEGIN, true);
	enter(&policy, 1);
	assert_wants(&policy, BEGIN, false);
	assert_int_equal(policy.window.state, SWITCH_WINDOW_OVER);
	enter(&policy, 9);
	assert_wants(&policy, BEGIN, false);
}

static void a_window_that_has_begun_is_rounded_up(void **state)
{
	struct switch_policy policy = POLICY(.is_waiting = true);

	enter(&policy, 7);
	switch_policy_ask_window(&policy, 2, 1, 1);
	assert_int_equal(policy.window.first, 7);
	switch_policy_ask_window(&policy, 2, 100, 1);
	assert_int_equal(policy.window.first, 100);
	switch_policy_ask_window(&policy, 2, 7, 1);
	assert_int_equal(policy.window.first, 7);
	/* One that lies ahead stays as it is. */
	switch_policy_ask_window(&policy, 8, 100, 1);
	assert_int_equal(policy.window.first, 8);
	switch_policy_ask_window(&policy, 0, UINT64_MAX, UINT64_MAX);
	assert_true(policy.window.first == UINT64_MAX);
}

static void a_stop_ends_a_window(void **state)
{
	struct switch_policy policy = POLICY(.is_waiting = true);

	switch_policy_ask_window(&policy, 0, 1, 10);
	switch_policy_stop(&policy);
	assert_int_equal(policy.window.state, SWITCH_WINDOW_AHEAD);
	enter(&policy, 1);
	switch_policy_stop(&policy);
	assert_int_equal(policy.window.state, SWITCH_WINDOW_OVER);
	enter(&policy, 2);
	assert_wants(&policy, BEGIN, false);
}

static void a_window_does_not_end_what_a_call_has_started(void **state)
{
	struct switch_policy policy = POLICY(.is_waiting = true);

	switch_policy_ask_window(&policy, 0, 1, 1);
	switch_policy_start(&policy);
	enter(&policy, 1);
	assert_int_equal(policy.window.state, SWITCH_WINDOW_OVER);
	assert_int_equal(policy.starts, 1);
	enter(&policy, 2);
	assert_wants(&policy, BEGIN, true);
	assert_int_equal(policy.stops, 0);
}

/* ---- calls ---- */

static void without_options_it_is_on_from_the_begin(void **state)
{
	struct switch_policy policy = POLICY(0);

	assert_wants(&policy, BEGIN, true);
	assert_true(switch_policy_next_ns(&policy, BEGIN) == SWITCH_NEVER);
}

static void waiting_it_is_on_between_start_and_stop(void **state)
{
	struct switch_policy policy = POLICY(.is_waiting = true);

	assert_wants(&policy, BEGIN, false);
	switch_policy_stop(&policy);
	assert_wants(&policy, BEGIN, false);
	switch_policy_start(&policy);
	assert_wants(&policy, BEGIN, true);
	switch_policy_stop(&policy);
	assert_wants(&policy, BEGIN, false);
}

static void calls_do_not_nest(void **state)
{
	struct switch_policy policy = POLICY(.is_waiting = true);

	switch_policy_start(&policy);
	switch_policy_start(&policy);
	switch_policy_stop(&policy);
	assert_wants(&policy, BEGIN, false);
}

static void only_the_last_start_is_withdrawn(void **state)
{
	struct switch_policy policy = POLICY(.is_waiting = true);

	switch_policy_start(&policy);
	switch_policy_withdraw(&policy, policy.starts - 1);
	assert_wants(&policy, BEGIN, true);
	switch_policy_withdraw(&policy, policy.starts);
	assert_wants(&policy, BEGIN, false);
}

/* ---- instances ---- */

static void it_is_on_while_an_instance_is_open(void **state)
{
	struct switch_policy policy = POLICY(.has_scope = true);
	struct switch_instance instance;

	assert_wants(&policy, BEGIN, false);
	for (int i = 0; i < 3; i++) {
		instance = switch_policy_enter(&policy);
		assert_wants(&policy, BEGIN, true);
		switch_policy_leave(&policy, instance);
		assert_wants(&policy, BEGIN, false);
	}
	assert_int_equal(policy.instances, 3);
	assert_int_equal(policy.selected, 3);
}

static void overlapping_instances_are_one_time(void **state)
{
	struct switch_policy policy = POLICY(.has_scope = true);
	struct switch_instance a = switch_policy_enter(&policy), b = switch_policy_enter(&policy);

	switch_policy_leave(&policy, a);
	assert_wants(&policy, BEGIN, true);
	switch_policy_leave(&policy, b);
	assert_wants(&policy, BEGIN, false);
}

static void skip_and_count_select_by_order(void **state)
{
	struct switch_policy policy = POLICY(.has_scope = true, .skip = 2, .count = 3);
	const bool expected[] = {false, false, true, true, true, false, false};

	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		struct switch_instance instance = switch_policy_enter(&policy);

		assert_wants(&policy, BEGIN, expected[i]);
		switch_policy_leave(&policy, instance);
		assert_wants(&policy, BEGIN, false);
	}
	assert_int_equal(policy.instances, 7);
	assert_int_equal(policy.selected, 3);
}

/* The order of the begins decides, not that of the ends. */
static void a_skipped_instance_ends_nothing(void **state)
{
	struct switch_policy policy = POLICY(.has_scope = true, .skip = 1, .count = 1);
	struct switch_instance skipped = switch_policy_enter(&policy);
	struct switch_instance selected = switch_policy_enter(&policy);
	struct switch_instance beyond = switch_policy_enter(&policy);

	switch_policy_leave(&policy, skipped);
	switch_policy_leave(&policy, beyond);
	assert_wants(&policy, BEGIN, true);
	switch_policy_leave(&policy, selected);
	assert_wants(&policy, BEGIN, false);
}

static void a_stop_ends_the_open_instances(void **state)
{
	struct switch_policy policy = POLICY(.has_scope = true);
	struct switch_instance stopped = switch_policy_enter(&policy), next;

	switch_policy_stop(&policy);
	assert_wants(&policy, BEGIN, false);
	next = switch_policy_enter(&policy);
	assert_wants(&policy, BEGIN, true);
	/* The end of the stopped one does not end the next one. */
	switch_policy_leave(&policy, stopped);
	assert_wants(&policy, BEGIN, true);
	switch_policy_leave(&policy, next);
	assert_wants(&policy, BEGIN, false);
}

static void calls_and_instances_are_one_time(void **state)
{
	struct switch_policy policy = POLICY(.is_waiting = true, .has_scope = true);
	struct switch_instance instance = switch_policy_enter(&policy);

	switch_policy_start(&policy);
	switch_policy_leave(&policy, instance);
	assert_wants(&policy, BEGIN, true);
	switch_policy_stop(&policy);
	assert_wants(&policy, BEGIN, false);
}

static void without_a_scope_no_instance_counts(void **state)
{
	struct switch_policy policy = POLICY(.is_waiting = true);

	switch_policy_leave(&policy, switch_policy_enter(&policy));
	switch_policy_enter(&policy);
	assert_wants(&policy, BEGIN, false);
}

/* ---- time ---- */

static void nothing_is_on_before_the_delay(void **state)
{
	struct switch_policy policy = POLICY(.delay_ns = 50);

	assert_wants(&policy, BEGIN, false);
	assert_int_equal(switch_policy_next_ns(&policy, BEGIN), BEGIN + 50);
	assert_wants(&policy, BEGIN + 49, false);
	assert_wants(&policy, BEGIN + 50, true);
	assert_true(switch_policy_next_ns(&policy, BEGIN + 50) == SWITCH_NEVER);
}

static void what_began_in_the_delay_is_on_after_it(void **state)
{
	struct switch_policy called = POLICY(.is_waiting = true, .delay_ns = 50);
	struct switch_policy ranged = POLICY(.has_scope = true, .delay_ns = 50);
	struct switch_instance over = switch_policy_enter(&ranged);

	switch_policy_leave(&ranged, over);
	switch_policy_enter(&ranged);
	switch_policy_start(&called);
	assert_wants(&called, BEGIN + 49, false);
	assert_wants(&ranged, BEGIN + 49, false);
	assert_wants(&called, BEGIN + 50, true);
	assert_wants(&ranged, BEGIN + 50, true);
}

static void the_duration_begins_with_the_first_recording(void **state)
{
	struct switch_policy policy = POLICY(.is_waiting = true, .duration_ns = 100);

	assert_true(switch_policy_next_ns(&policy, BEGIN) == SWITCH_NEVER);
	switch_policy_start(&policy);
	switch_policy_began(&policy, BEGIN + 10, 1);
	assert_int_equal(switch_policy_next_ns(&policy, BEGIN + 10), BEGIN + 110);
	switch_policy_stop(&policy);
	switch_policy_start(&policy);
	switch_policy_began(&policy, BEGIN + 60, 1);
	assert_wants(&policy, BEGIN + 109, true);
	assert_false(switch_policy_is_over(&policy, BEGIN + 109));
	assert_wants(&policy, BEGIN + 110, false);
	assert_true(switch_policy_is_over(&policy, BEGIN + 110));
	assert_true(switch_policy_next_ns(&policy, BEGIN + 110) == SWITCH_NEVER);
	switch_policy_start(&policy);
	assert_wants(&policy, BEGIN + 110, false);
}

static void times_beyond_the_clock_never_come(void **state)
{
	struct switch_policy policy = POLICY(.delay_ns = UINT64_MAX - 1);

	assert_wants(&policy, UINT64_MAX - 1, false);
	policy = POLICY(.duration_ns = UINT64_MAX - 1);
	switch_policy_began(&policy, BEGIN, 1);
	assert_wants(&policy, UINT64_MAX - 1, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_is_on_from_its_first_instance_to_behind_its_last),
		cmocka_unit_test(a_window_that_has_begun_is_rounded_up),
		cmocka_unit_test(a_stop_ends_a_window),
		cmocka_unit_test(a_window_does_not_end_what_a_call_has_started),
		cmocka_unit_test(without_options_it_is_on_from_the_begin),
		cmocka_unit_test(waiting_it_is_on_between_start_and_stop),
		cmocka_unit_test(calls_do_not_nest),
		cmocka_unit_test(only_the_last_start_is_withdrawn),
		cmocka_unit_test(it_is_on_while_an_instance_is_open),
		cmocka_unit_test(overlapping_instances_are_one_time),
		cmocka_unit_test(skip_and_count_select_by_order),
		cmocka_unit_test(a_skipped_instance_ends_nothing),
		cmocka_unit_test(a_stop_ends_the_open_instances),
		cmocka_unit_test(calls_and_instances_are_one_time),
		cmocka_unit_test(without_a_scope_no_instance_counts),
		cmocka_unit_test(nothing_is_on_before_the_delay),
		cmocka_unit_test(what_began_in_the_delay_is_on_after_it),
		cmocka_unit_test(the_duration_begins_with_the_first_recording),
		cmocka_unit_test(times_beyond_the_clock_never_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
