/*
 * A thread of the tool inside the program: it has begun when the start function returns, and has
 * left the process when the end function returns.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/guest_thread.h"

enum { ROUNDS = 500 };

static const struct timer_limit never = {TIMER_NEVER};
static const struct timer_limit at_once = {0};

static sem_t may_end; /* posted once for each body that may return */
static _Atomic int begun;
static char name[16];
static sigset_t blocked;

static void body(void)
{
	prctl(PR_GET_NAME, name);
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	atomic_fetch_add(&begun, 1);
	while (sem_wait(&may_end))
		;
}

static struct guest_thread guest = {.name = "guest", .body = body};

static int tasks(void)
{
	DIR *entries = opendir("/proc/self/task");
	int count = -2; /* does not count . and .. */

	assert_non_null(entries);
	while (readdir(entries))
		count++;
	closedir(entries);
	return count;
}

static void start_one_that_may_end(void)
{
	sem_post(&may_end);
	assert_int_equal(guest_thread_start(&guest), 0);
}

static void end_it(void)
{
	assert_true(guest_thread_await_end(&guest, never));
	guest_thread_see_off(&guest, never);
}

static void it_is_gone_when_it_was_seen_off(void **state)
{
	int before;

	start_one_that_may_end();
	end_it();
	/* Sanitizers' runtimes have a thread of their own from the first thread on. */
	before = tasks();
	for (int i = 1; i < ROUNDS; i++) {
		start_one_that_may_end();
		end_it();
		assert_int_equal(tasks(), before);
	}
	assert_int_equal(atomic_load(&begun), ROUNDS);
}

static void it_has_a_name_and_no_signals(void **state)
{
	start_one_that_may_end();
	end_it();
	assert_string_equal(name, "guest");
	assert_true(sigismember(&blocked, SIGINT) == 1 && sigismember(&blocked, SIGUSR1) == 1);
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	assert_int_equal(sigismember(&blocked, SIGUSR1), 0);
}

static void there_is_one_of_it(void **state)
{
	assert_int_equal(guest_thread_start(&guest), 0);
	assert_true(guest_thread_exists(&guest));
	assert_int_equal(guest_thread_start(&guest), -EBUSY);
	/* The thread was not told to end, so it is not waited for. */
	assert_false(guest_thread_await_end(&guest, at_once));
	assert_int_equal(guest_thread_start(&guest), -EBUSY);
	sem_post(&may_end);
	while (guest_thread_exists(&guest))
		sched_yield();
	assert_true(guest_thread_await_end(&guest, at_once));
	start_one_that_may_end();
	end_it();
}

static void one_that_never_was_has_ended(void **state)
{
	struct guest_thread unborn = {.name = "unborn", .body = body};

	assert_false(guest_thread_exists(&unborn));
	assert_true(guest_thread_await_end(&unborn, at_once));
	guest_thread_forget(&unborn);
	assert_true(guest_thread_await_end(&unborn, at_once));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_gone_when_it_was_seen_off),
		cmocka_unit_test(it_has_a_name_and_no_signals),
		cmocka_unit_test(there_is_one_of_it),
		cmocka_unit_test(one_that_never_was_has_ended),
	};

	sem_init(&may_end, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
