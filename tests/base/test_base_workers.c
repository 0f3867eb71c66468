/* Parts of a loop on several threads. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/workers.h"

#define PARTS 1000

static const unsigned thread_counts[] = {WORKERS_ALL, 1, 2, 3, 4, 16, WORKERS_MOST + 9};
#define THREAD_COUNTS (sizeof(thread_counts) / sizeof(thread_counts[0]))

struct visits {
	uint32_t of_part[PARTS]; /* not atomic: ThreadSanitizer sees a part that two threads do */
	uint32_t of_worker[WORKERS_MOST];
	uint32_t fails_from; /* every third part from here on fails with its own error */
};

static int visit(void *context, unsigned worker, uint32_t part)
{
	struct visits *visits = context;

	visits->of_part[part]++;
	visits->of_worker[worker]++;
	return part >= visits->fails_from && part % 3 == 0 ? -1 - (int)part : 0;
}

static void each_part_is_done_once(void **state)
{
	for (size_t i = 0; i < THREAD_COUNTS; i++) {
		struct visits visits = {.fails_from = PARTS};
		uint32_t sum = 0;

		assert_int_equal(workers_run(thread_counts[i], PARTS, visit, &visits), 0);
		for (uint32_t part = 0; part < PARTS; part++)
			assert_int_equal(visits.of_part[part], 1);
		for (unsigned worker = 0; worker < WORKERS_MOST; worker++) {
			sum += visits.of_worker[worker];
			if (worker >= workers_count(thread_counts[i]))
				assert_int_equal(visits.of_worker[worker], 0);
		}
		assert_int_equal(sum, PARTS);
	}
}

static void the_first_failure_is_returned(void **state)
{
	for (size_t i = 0; i < THREAD_COUNTS; i++) {
		struct visits visits = {.fails_from = 400};

		assert_int_equal(workers_run(thread_counts[i], PARTS, visit, &visits), -1 - 402);
		for (uint32_t part = 0; part <= 402; part++)
			assert_int_equal(visits.of_part[part], 1);
	}
}

static void the_limit_holds_for_every_call(void **state)
{
	workers_limit(3);
	assert_int_equal(workers_count(WORKERS_ALL), 3);
	assert_int_equal(workers_count(2), 2);
	assert_int_equal(workers_count(16), 3);
	workers_limit(WORKERS_MOST + 1);
	assert_int_equal(workers_count(WORKERS_ALL), WORKERS_MOST);
	workers_limit(0);
	assert_true(workers_count(WORKERS_ALL) >= 1);
	workers_limit(WORKERS_MOST);
}

static void no_part_is_no_work(void **state)
{
	struct visits visits = {.fails_from = 0};

	assert_int_equal(workers_run(4, 0, visit, &visits), 0);
	assert_int_equal(visits.of_worker[0], 0);
}

/* Each part waits for all the others, so they are done at the same time or never. */
static int meet(void *barrier, unsigned worker, uint32_t part)
{
	pthread_barrier_wait(barrier);
	return 0;
}

static void parts_are_done_at_the_same_time(void **state)
{
	pthread_barrier_t barrier;

	pthread_barrier_init(&barrier, NULL, 4);
	assert_int_equal(workers_run(4, 4, meet, &barrier), 0);
	pthread_barrier_destroy(&barrier);
}

static int note_thread(void *context, unsigned worker, uint32_t part)
{
	pthread_t *threads = context;

	threads[part] = pthread_self();
	assert_int_equal(worker, 0);
	return 0;
}

static int run_inside(void *context, unsigned worker, uint32_t part)
{
	pthread_t inner[8];
	_Atomic uint32_t *differing = context;

	assert_int_equal(workers_run(4, 8, note_thread, inner), 0);
	for (int i = 0; i < 8; i++)
		*differing += !pthread_equal(inner[i], pthread_self());
	return 0;
}

static void a_run_inside_a_part_stays_on_its_thread(void **state)
{
	_Atomic uint32_t differing = 0;

	assert_int_equal(workers_run(4, 16, run_inside, &differing), 0);
	assert_int_equal(differing, 0);
}

struct masks {
	pthread_barrier_t barrier; /* so that one part is done on a thread that was started */
	sigset_t of_worker[2];
};

static int take_mask(void *context, unsigned worker, uint32_t part)
{
	struct masks *masks = context;

	pthread_barrier_wait(&masks->barrier);
	pthread_sigmask(SIG_SETMASK, NULL, &masks->of_worker[worker]);
	return 0;
}

static void started_threads_take_no_signals(void **state)
{
	struct masks masks;

	pthread_barrier_init(&masks.barrier, NULL, 2);
	assert_int_equal(workers_run(2, 2, take_mask, &masks), 0);
	assert_false(sigismember(&masks.of_worker[0], SIGTERM));
	assert_true(sigismember(&masks.of_worker[1], SIGTERM));
	pthread_barrier_destroy(&masks.barrier);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_part_is_done_once),
		cmocka_unit_test(the_first_failure_is_returned),
		cmocka_unit_test(the_limit_holds_for_every_call),
		cmocka_unit_test(no_part_is_no_work),
		cmocka_unit_test(parts_are_done_at_the_same_time),
		cmocka_unit_test(a_run_inside_a_part_stays_on_its_thread),
		cmocka_unit_test(started_threads_take_no_signals),
	};

	/* The machine may have fewer CPUs than a case has threads. */
	workers_limit(WORKERS_MOST);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
