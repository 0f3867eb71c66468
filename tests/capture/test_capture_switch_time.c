/* The options --delay and --duration: when they start and stop the recording, by a clock that the
 * test holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "base/clock.h"
#include "capture/capture_session.h"
#include "capture/capture_switch.h"
#include "capture/switch_scopes.h"
#include "held_clock.h"
#include "switch_scene.h"

static struct clock_page *page;

/* Holds the clock. The delays are so short that a wait for them that is not over yet is soon looked
 * at again. */
static void await_recording(bool is_on)
{
	const struct timespec pause = {.tv_nsec = 100000};

	while (session_is_on() != is_on)
		nanosleep(&pause, NULL);
}

/* By how much the clock is moved when the thread that keeps time begins, before it reads it. */
static uint64_t step_at_begin_ns;

int prctl(int option, ...)
{
	unsigned long arguments[4];
	va_list list;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		arguments[i] = va_arg(list, unsigned long);
	va_end(list);
	if (option == PR_SET_NAME && !strcmp((const char *)arguments[0], "dagtap-switch"))
		clock_step(page, step_at_begin_ns);
	return (int)syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2],
			    arguments[3]);
}

static void come_late(void)
{
	page = held_clock();
	setenv("DAGTAP_DELAY", "2.5", 1);
	setenv("DAGTAP_DURATION", "10", 1);
	scene_arm();
	expect(!session_start());
	clock_step(page, 2400000000);
	scene_work(1);
	expect(!session_is_on());
	clock_step(page, 100000000);
	await_recording(true);
	scene_work(5);
	clock_step(page, 9000000000);
	scene_work(2);
	clock_step(page, 1000000000);
	await_recording(false);
	scene_work(1);
	expect(!switch_start("test"));
}

static void delay_and_duration_begin_and_end_it(void **state)
{
	scene_assert_work(*state, come_late, EXPECTED(7));
}

/* The thread looks at the time for the first time when the delay is over. */
static void begin_the_thread_late(void)
{
	page = held_clock();
	setenv("DAGTAP_DELAY", "2.5", 1);
	step_at_begin_ns = 2500000000;
	scene_arm();
	session_start();
	await_recording(true);
	scene_work(5);
}

static void a_delay_may_end_before_its_thread_looks(void **state)
{
	scene_assert_work(*state, begin_the_thread_late, EXPECTED(5));
}

static void use_gpu_after_the_delay(void)
{
	page = held_clock();
	setenv("DAGTAP_DELAY", "2", 1);
	scene_arm();
	clock_step(page, 2000000000);
	expect(session_start());
	scene_work(5);
}

static void a_delay_that_is_over_delays_nothing(void **state)
{
	scene_assert_work(*state, use_gpu_after_the_delay, EXPECTED(5));
}

static void start_within_the_delay(void)
{
	page = held_clock();
	setenv("DAGTAP_WAIT", "1", 1);
	setenv("DAGTAP_DELAY", "2", 1);
	scene_arm();
	expect(!session_start());
	expect(!switch_start_now("test"));
	clock_step(page, 2000000000);
	/* The decision is looked at again, as the thread that keeps time does. */
	switch_settle();
	expect(!session_is_on());
	expect(switch_start_now("test"));
	scene_work(2);
}

static void a_start_now_does_not_begin_later(void **state)
{
	scene_assert_work(*state, start_within_the_delay, EXPECTED(2));
}

static void start_twice_within_the_delay(void)
{
	page = held_clock();
	setenv("DAGTAP_DELAY", "2", 1);
	scene_arm();
	expect(!session_start());
	expect(!switch_start_now("test"));
	clock_step(page, 2000000000);
	await_recording(true);
	scene_work(3);
}

static void a_start_now_leaves_other_starts(void **state)
{
	scene_assert_work(*state, start_twice_within_the_delay, EXPECTED(3));
}

static void end_each_after(void)
{
	page = held_clock();
	setenv("DAGTAP_WAIT", "1", 1);
	setenv("DAGTAP_DELAY", "1", 1);
	setenv("DAGTAP_DURATION", "3", 1);
	scene_arm();
	expect(!session_start());
	clock_step(page, 1000000000);
	expect(switch_start("test"));
	scene_work(1);
	switch_stop("test");
	clock_step(page, 2000000000);
	expect(switch_start("test"));
	scene_work(2);
	clock_step(page, 1000000000);
	await_recording(false);
}

static void the_duration_counts_from_the_first_recording(void **state)
{
	scene_assert_work(*state, end_each_after, EXPECTED(1, 2));
}

static void start_slowly(void)
{
	clock_step(page, 9000000000);
}

static void end_a_slow_start(void)
{
	static const struct capture_source slow = {.start = start_slowly};

	page = held_clock();
	setenv("DAGTAP_DURATION", "10", 1);
	scene_arm();
	session_add_source(&slow);
	expect(session_start());
	scene_work(5);
	clock_step(page, 1000000000);
	await_recording(false);
}

static void the_duration_counts_from_the_decision(void **state)
{
	scene_assert_work(*state, end_a_slow_start, EXPECTED(5));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, scene_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(delay_and_duration_begin_and_end_it),
		CASE(a_delay_may_end_before_its_thread_looks),
		CASE(a_delay_that_is_over_delays_nothing),
		CASE(a_start_now_does_not_begin_later),
		CASE(a_start_now_leaves_other_starts),
		CASE(the_duration_counts_from_the_first_recording),
		CASE(the_duration_counts_from_the_decision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
