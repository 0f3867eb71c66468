/* The clock that a test may hold, and the limits and waits that use it. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "base/clock.h"
#include "base/timer.h"

static struct clock_page page;

static int hold(void **state)
{
	atomic_store(&clock_page, &page);
	clock_hold(&page);
	return 0;
}

static int release(void **state)
{
	clock_release(&page);
	return 0;
}

/* ---- the clock ---- */

static void a_held_clock_stands_still(void **state)
{
	uint64_t held_ns = clock_now_ns();

	assert_true(clock_is_held());
	assert_int_equal(clock_now_ns(), held_ns);
	clock_step(&page, 5);
	assert_int_equal(clock_now_ns(), held_ns + 5);
}

static void a_released_one_runs_on_from_where_it_stood(void **state)
{
	const uint64_t hour_ns = 3600000000000;
	uint64_t held_ns;

	clock_step(&page, hour_ns);
	held_ns = clock_now_ns();
	clock_release(&page);
	assert_false(clock_is_held());
	assert_in_range(clock_now_ns(), held_ns, held_ns + hour_ns);
	/* The held clock is ahead of the system's, which threads sleep by. */
	assert_int_equal(clock_wake_ns(held_ns), held_ns - (uint64_t)atomic_load(&page.offset_ns));
}

/* The injected library and the software GPU share a clock in this way. */
static void a_page_is_shared_by_its_file(void **state)
{
	char path[TEST_PATH_BYTES];
	const struct clock_page time = {.held_ns = 1000};
	int file = mkstemp(test_path(path, "clock"));

	assert_true(file >= 0);
	assert_int_equal(clock_take_page(path), -EINVAL);
	assert_int_equal(write(file, &time, sizeof(time)), sizeof(time));
	assert_int_equal(clock_take_page(path), 0);
	assert_int_equal(clock_now_ns(), 1000);
	assert_int_equal(pwrite(file, &(uint64_t){2000}, sizeof(uint64_t), 0), sizeof(uint64_t));
	assert_int_equal(clock_now_ns(), 2000);
	close(file);
	unlink(path);
	assert_int_equal(clock_take_page(path), -ENOENT);
}

/* ---- timers ---- */

static void a_limit_is_over_when_its_time_has_come(void **state)
{
	struct timer_limit limit;

	timer_configure("queue_drain=500");
	limit = timer_start(TIMER_QUEUE_DRAIN);
	clock_step(&page, 499);
	assert_false(timer_is_over(limit));
	clock_step(&page, 1);
	assert_true(timer_is_over(limit));
}

/* Runs before any other case sets limits of its own. */
static void what_ctest_sets_holds_in_a_test_program(void **state)
{
	const char *timers = getenv("DAGTAP_TIMERS");

	if (!timers || strcmp(timers, "limits=never") != 0)
		skip();
	assert_int_equal(timer_ns(TIMER_SPOOL_QUIESCE), TIMER_NEVER);
	assert_int_not_equal(timer_ns(TIMER_HOUSE_TICK), TIMER_NEVER);
}

static void one_of_0_is_over_at_once_and_never_is_never(void **state)
{
	timer_configure("queue_drain=0,device_drain=never");
	assert_true(timer_is_over(timer_start(TIMER_QUEUE_DRAIN)));
	clock_step(&page, INT64_MAX / 2);
	assert_false(timer_is_over(timer_start(TIMER_DEVICE_DRAIN)));
}

static void limits_names_all_but_periods(void **state)
{
	timer_configure("house_tick=7,limits=never,part_hook=3");
	assert_int_equal(timer_ns(TIMER_HOUSE_TICK), 7);
	assert_int_equal(timer_ns(TIMER_PART_HOOK), 3);
	assert_int_equal(timer_ns(TIMER_SERIAL_TURN), TIMER_NEVER);
}

static void what_is_not_understood_is_skipped(void **state)
{
	static const char *const wrong[] = {"part_hook",  "part_hook=",		"part_hook=3s",
					    "part_hoo=1", "part_hookk=1",	"=1",
					    ",,",	  "part_hook=nevermore"};

	timer_configure("part_hook=12345");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		timer_configure(wrong[i]);
		assert_int_equal(timer_ns(TIMER_PART_HOOK), 12345);
	}
	timer_configure("what,part_hook=1,is=this");
	assert_int_equal(timer_ns(TIMER_PART_HOOK), 1);
}

/* ---- waits ---- */

static sem_t told;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_sem(void *limit)
{
	return (void *)(uintptr_t)timer_wait(&told, *(struct timer_limit *)limit);
}

static void *wait_for_lock(void *limit)
{
	return (void *)(uintptr_t)timer_lock(&lock, *(struct timer_limit *)limit);
}

/* The other thread's wait ends only when the clock is stepped, however long that takes. */
static void waits_end_with_the_clocks_step(void **state)
{
	static void *(*const waits[])(void *) = {wait_for_sem, wait_for_lock};

	sem_init(&told, 0, 0);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 2; i++) {
		struct timer_limit limit = timer_start_ns(1000);
		pthread_t thread;
		void *is_ours;

		pthread_create(&thread, NULL, waits[i], &limit);
		clock_step(&page, 1000);
		pthread_join(thread, &is_ours);
		assert_null(is_ours);
	}
	pthread_mutex_unlock(&lock);
}

static void what_comes_before_the_limit_is_ours(void **state)
{
	static const uint64_t limits_ns[] = {1000, TIMER_NEVER};

	for (int i = 0; i < 2; i++) {
		struct timer_limit limit = timer_start_ns(limits_ns[i]);
		pthread_t thread;
		void *is_ours;

		sem_init(&told, 0, 0);
		pthread_create(&thread, NULL, wait_for_sem, &limit);
		sem_post(&told);
		pthread_join(thread, &is_ours);
		assert_non_null(is_ours);
		assert_true(timer_lock(&lock, limit));
		pthread_mutex_unlock(&lock);
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, hold, release)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ctest_sets_holds_in_a_test_program),
		CASE(a_held_clock_stands_still),
		CASE(a_released_one_runs_on_from_where_it_stood),
		CASE(a_limit_is_over_when_its_time_has_come),
		CASE(one_of_0_is_over_at_once_and_never_is_never),
		CASE(limits_names_all_but_periods),
		CASE(what_is_not_understood_is_skipped),
		CASE(waits_end_with_the_clocks_step),
		CASE(what_comes_before_the_limit_is_ours),
		cmocka_unit_test(a_page_is_shared_by_its_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
