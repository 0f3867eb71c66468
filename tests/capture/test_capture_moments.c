/*
 * Starts, stops and ends of a session that meet: from two threads, or with a source's start, a
 * tick, a fork, or the end of the process. Each operation is held at the critical place by a hook
 * of the source or by a libc function that the session calls and the test replaces.
 */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include <cmocka.h>

#include "base/timer.h"
#include "capture/capture_session.h"
#include "in_child.h"

static char story[64];
static _Atomic uint32_t turn; /* how far a case has come; its turns are numbered from 1 */
static _Thread_local void (*at_nanosleep)(void), (*at_gethostname)(void);

static void reach(uint32_t n)
{
	atomic_store(&turn, n);
	syscall(SYS_futex, &turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void await(uint32_t n)
{
	uint32_t now;

	while ((now = atomic_load(&turn)) < n)
		syscall(SYS_futex, &turn, FUTEX_WAIT, now, NULL, NULL, 0);
}

static void reach_2(void)
{
	reach(2);
}

/* The session calls this while it waits for another thread. */
int nanosleep(const struct timespec *pause, struct timespec *left)
{
	void (*hook)(void) = at_nanosleep;

	at_nanosleep = NULL;
	if (hook)
		hook();
	return (int)syscall(SYS_nanosleep, pause, left);
}

/* The session calls this while it creates a spool. */
int gethostname(char *name, size_t size)
{
	void (*hook)(void) = at_gethostname;

	at_gethostname = NULL;
	if (hook)
		hook();
	snprintf(name, size, "host");
	return 0;
}

static pthread_t in_thread(void *(*body)(void *))
{
	pthread_t thread;

	expect(!pthread_create(&thread, NULL, body, NULL));
	return thread;
}

static void tell(const char *letter)
{
	strcat(story, letter);
}

static void stops(void)
{
	tell("z");
}

/* ---- a source's hooks ---- */

/* Turn 1: the source is starting. Turn 2: the stop waits for it. */
static void starts_until_a_stop_waits(void)
{
	if (session_current_number() == 1) {
		reach(1);
		await(2);
	}
	tell("a");
}

static const struct capture_source slow_to_start = {
	.name = "slow", .start = starts_until_a_stop_waits, .stop = stops};

static void *add_slow_to_start(void *unused)
{
	session_add_source(&slow_to_start);
	return unused;
}

static void stop_while_a_part_starts(void)
{
	pthread_t adder;

	expect(session_start());
	adder = in_thread(add_slow_to_start);
	await(1);
	at_nanosleep = reach_2;
	session_stop();
	expect(!strcmp(story, "az"));
	pthread_join(adder, NULL);
	expect(session_start_again());
	session_stop();
	expect(!strcmp(story, "azaz"));
}

static void a_part_that_is_starting_is_stopped(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, stop_while_a_part_starts), 0);
}

static void starts(void)
{
	tell("a");
}

/* Turn 1: the source ticks. Turn 2: the session has stopped without waiting for the tick. */
static void ticks_over_a_stop(void)
{
	if (session_current_number() > 1)
		return;
	reach(1);
	await(2);
}

static const struct capture_source slow_to_tick = {
	.name = "slow", .start = starts, .tick = ticks_over_a_stop, .stop = stops};

static void restart_after_a_long_tick(void)
{
	setenv("DAGTAP_TIMERS", "limits=never,part_hook=0,thread_end=0", 1);
	session_add_source(&slow_to_tick);
	expect(session_start());
	await(1);
	session_stop();
	expect(!strcmp(story, "a"));
	expect(!session_start_again());
	expect(session_state == SESSION_STOPPED && !strcmp(story, "a"));
	/* With unlimited time a start waits for the tick and for the thread that ticked. */
	timer_configure("part_hook=never,thread_end=never");
	reach(2);
	expect(session_start_again());
	expect(session_is_on());
	expect(!strcmp(story, "aza"));
	session_stop();
	expect(!strcmp(story, "azaz"));
}

static void a_part_that_a_tick_kept_running_is_stopped_before_it_starts(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, restart_after_a_long_tick), 0);
}

/* ---- two threads ---- */

/* Turn 1: the source is being stopped. Turn 2: the other stop waits for it. */
static void stops_slowly(void)
{
	reach(1);
	await(2);
	tell("z");
}

static const struct capture_source slow_to_stop = {.name = "slow", .stop = stops_slowly};

static void *stop_first(void *unused)
{
	session_stop();
	return unused;
}

static void stop_twice(void)
{
	session_add_source(&slow_to_stop);
	expect(session_start());
	in_thread(stop_first);
	await(1);
	at_nanosleep = reach_2;
	session_stop();
	/*
	 * Leaves without exit and without the other thread: what is not complete now never will be.
	 */
	_exit(strcmp(story, "z") != 0 || session_state != SESSION_STOPPED);
}

static void the_spool_is_complete_when_either_stop_returns(void **state)
{
	const struct fixture *fixture = *state;
	struct spool_reader *reader;

	assert_int_equal(in_child(fixture->folder, stop_twice), 0);
	reader = fixture_read(fixture);
	assert_true(spool_reader_info(reader)->closed);
	spool_reader_close(reader);
}

/* ---- the end of the process ---- */

/*
 * Turn 1: the source is starting. Turn 2: the end of the process waits for it. Turn 3: the source
 * is on and is being stopped. Turn 4: the end waits for that.
 */
static void starts_before_the_end(void)
{
	reach(1);
	await(2);
}

static void stops_at_the_end(void)
{
	reach(3);
	await(4);
	tell("z");
}

static const struct capture_source at_the_end = {
	.name = "slow", .start = starts_before_the_end, .stop = stops_at_the_end};

static void *start_and_stop(void *unused)
{
	session_start();
	session_stop();
	return unused;
}

static void let_it_stop(void)
{
	reach(4);
}

static void let_it_start(void)
{
	reach(2);
	await(3);
	at_nanosleep = let_it_stop;
}

static void end_while_it_starts_and_stops(void)
{
	session_add_source(&at_the_end);
	in_thread(start_and_stop);
	await(1);
	at_nanosleep = let_it_start;
	session_end();
	_exit(session_state != SESSION_OFF);
}

static void the_end_waits_for_a_stop_behind_a_start(void **state)
{
	const struct fixture *fixture = *state;
	struct spool_reader *reader;

	assert_int_equal(in_child(fixture->folder, end_while_it_starts_and_stops), 0);
	reader = fixture_read(fixture);
	assert_true(spool_reader_info(reader)->closed);
	spool_reader_close(reader);
}

/* ---- fork ---- */

static void wait_for_the_fork(void)
{
	reach(1);
	await(2);
}

static void *start_slowly(void *unused)
{
	at_gethostname = wait_for_the_fork;
	expect(session_start());
	return unused;
}

static void fork_while_it_starts(void)
{
	pthread_t starter = in_thread(start_slowly);
	int status;
	pid_t pid;

	await(1);
	pid = fork();
	if (!pid) {
		expect(session_state == SESSION_IDLE);
		expect(session_start());
		expect(fixture_put(session_writer(), 1, 4));
		exit(0);
	}
	reach(2);
	pthread_join(starter, NULL);
	expect(waitpid(pid, &status, 0) == pid && status == 0);
}

static void a_child_of_the_middle_of_a_start_starts_its_own(void **state)
{
	const struct fixture *fixture = *state;

	assert_int_equal(in_child(fixture->folder, fork_while_it_starts), 0);
	assert_int_equal(fixture_files(fixture, NULL, 0), 2);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_part_that_is_starting_is_stopped),
		CASE(a_part_that_a_tick_kept_running_is_stopped_before_it_starts),
		CASE(the_spool_is_complete_when_either_stop_returns),
		CASE(the_end_waits_for_a_stop_behind_a_start),
		CASE(a_child_of_the_middle_of_a_start_starts_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
