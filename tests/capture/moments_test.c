/* Starts, stops and ends that meet: of the session from two threads, with a part's start, a tick, a fork, the end of
 * the process. Each is held just there, by a part's hook or by a function of libc that the session calls. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include <cmocka.h>

#include "capture/session.h"
#include "in_child.h"

enum { PATIENCE_MS = 20000 };

static char story[64];
static _Atomic int turn;
static _Thread_local void (*at_nanosleep)(void), (*at_gethostname)(void);

static void rest(void)
{
	syscall(SYS_nanosleep, &(const struct timespec){.tv_nsec = 1000000}, NULL);
}

static void take_time(void)
{
	for (int i = 0; i < 300; i++)
		rest();
}

/* Until it is turn N, or not for ever. */
static void await(int n)
{
	for (int i = 0; i < PATIENCE_MS && atomic_load(&turn) < n; i++)
		rest();
}

static void await_state(enum session_state state)
{
	for (int i = 0; i < PATIENCE_MS && atomic_load(&session_state) != (int)state; i++)
		rest();
}

/* The session polls with it. */
int nanosleep(const struct timespec *pause, struct timespec *left)
{
	void (*hook)(void) = at_nanosleep;

	at_nanosleep = NULL;
	if (hook)
		hook();
	return (int)syscall(SYS_nanosleep, pause, left);
}

/* While a spool is made. */
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

/* ---- a part's hooks ---- */

static void starts_until_it_is_stopped(void)
{
	tell("a");
	if (session_current_number() > 1)
		return;
	atomic_store(&turn, 1);
	await_state(SESSION_DRAINING);
}

static const struct session_part slow_to_start = {
	.name = "slow", .start = starts_until_it_is_stopped, .stop = stops};

static void *add_slow_to_start(void *unused)
{
	session_add_part(&slow_to_start);
	return unused;
}

static void stop_while_a_part_starts(void)
{
	pthread_t adder;

	expect(session_start());
	adder = in_thread(add_slow_to_start);
	await(1);
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

static void ticks_over_a_stop(void)
{
	if (session_current_number() > 1)
		return;
	atomic_store(&turn, 1);
	for (int i = 0; i < 10 * PATIENCE_MS && atomic_load(&session_state) != SESSION_STOPPED; i++)
		rest();
	atomic_store(&turn, 2);
}

static const struct session_part slow_to_tick = {
	.name = "slow", .start = starts, .tick = ticks_over_a_stop, .stop = stops};

static void restart_after_a_long_tick(void)
{
	session_add_part(&slow_to_tick);
	expect(session_start());
	for (int i = 0; i < 10 && atomic_load(&turn) < 1; i++)
		await(1);
	session_stop();
	expect(!strcmp(story, "a"));
	for (int i = 0; i < 10 && atomic_load(&turn) < 2; i++)
		await(2);
	/* The thread that ticked has not quite ended. */
	for (int i = 0; i < PATIENCE_MS && !session_start_again(); i++)
		rest();
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

static void stops_slowly(void)
{
	atomic_store(&turn, 1);
	await(2);
	tell("z");
}

static const struct session_part slow_to_stop = {.name = "slow", .stop = stops_slowly};

static void *stop_first(void *unused)
{
	session_stop();
	return unused;
}

static void go_on(void)
{
	atomic_store(&turn, 2);
}

static void stop_twice(void)
{
	session_add_part(&slow_to_stop);
	expect(session_start());
	in_thread(stop_first);
	await(1);
	at_nanosleep = go_on;
	session_stop();
	/* Without exit, and the other thread: whatever is not complete now never will be. */
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

/* Turn 1: it is starting; 2: the end waits for that; 3: it is on, and is being stopped, which takes its time. */
static void starts_before_the_end(void)
{
	atomic_store(&turn, 1);
	await(2);
}

static void stops_at_the_end(void)
{
	atomic_store(&turn, 3);
	take_time();
	tell("z");
}

static const struct session_part at_the_end = {
	.name = "slow", .start = starts_before_the_end, .stop = stops_at_the_end};

static void *start_and_stop(void *unused)
{
	session_start();
	session_stop();
	return unused;
}

static void let_it_stop(void)
{
	atomic_store(&turn, 2);
	await(3);
}

static void end_while_it_starts_and_stops(void)
{
	session_add_part(&at_the_end);
	in_thread(start_and_stop);
	await(1);
	at_nanosleep = let_it_stop;
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
	atomic_store(&turn, 1);
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
	atomic_store(&turn, 2);
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
