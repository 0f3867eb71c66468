/* Many threads, short-lived threads, and processes that are killed while they write. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "spool_fixture.h"

#define SHORT_THREADS		  10000
#define CHURNERS		  8
#define LONG_THREADS		  8
#define LONG_RECORDS		  20000
#define KILLS			  20
#define KILL_RECORDS		  100000 /* at most, of both threads */
#define WRITERS			  4
#define REFUSED			  12
#define REFUSALS		  50000
#define THREADS_MOST		  REFUSED
#define RECORDS_PER_SHORT	  3
#define SHORT_THREADS_PER_SERVICE 50
#define LONG_RECORDS_PER_SERVICE  500

/* ---- threads ---- */

static void *short_thread(void *argument)
{
	struct keeper *keeper = argument;
	struct writer *w = fixture_writer(keeper->spooler, "short");

	for (uint64_t i = 0; i < RECORDS_PER_SHORT; i++)
		fixture_put(w, i, 3);
	spooler_put_writer(keeper->spooler, w);
	return NULL;
}

static void *churn(void *keeper)
{
	for (int i = 0; i < SHORT_THREADS / CHURNERS; i++) {
		pthread_t thread;

		if (!pthread_create(&thread, NULL, short_thread, keeper))
			pthread_join(thread, NULL);
		if (i % SHORT_THREADS_PER_SERVICE == 0)
			keeper_ask(keeper);
	}
	return NULL;
}

static void ten_thousand_short_threads_lose_nothing(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	pthread_t churners[CHURNERS];
	struct spool_reader *reader;
	struct keeper keeper;

	keeper_start(&keeper, spooler);
	for (int i = 0; i < CHURNERS; i++)
		assert_int_equal(pthread_create(&churners[i], NULL, churn, &keeper), 0);
	for (int i = 0; i < CHURNERS; i++)
		pthread_join(churners[i], NULL);
	keeper_stop(&keeper);
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	assert_true(spool_reader_writer_count(reader) <= CHURNERS + 1);
	assert_int_equal(fixture_count(reader, RECORD_API), SHORT_THREADS * RECORDS_PER_SHORT);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

static void *long_thread(void *argument)
{
	struct keeper *keeper = argument;
	struct writer *w = fixture_writer(keeper->spooler, "long");

	for (uint64_t i = 0; i < LONG_RECORDS; i++)
		if (fixture_put(w, i, i % 30) && i % LONG_RECORDS_PER_SERVICE == 0)
			keeper_ask(keeper);
	spooler_put_writer(keeper->spooler, w);
	return NULL;
}

static void what_long_threads_offer_is_found_or_counted(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	pthread_t threads[LONG_THREADS];
	const struct spool_ledger *ledger;
	struct spool_reader *reader;
	struct keeper keeper;

	keeper_start(&keeper, spooler);
	for (int i = 0; i < LONG_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, long_thread, &keeper), 0);
	for (int i = 0; i < LONG_THREADS; i++)
		pthread_join(threads[i], NULL);
	keeper_stop(&keeper);
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	ledger = spool_reader_ledger(reader);
	assert_int_equal(ledger->attempted[RECORD_CLASS_API], LONG_THREADS * LONG_RECORDS);
	assert_int_equal(fixture_count(reader, RECORD_API), ledger->found[RECORD_CLASS_API]);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

/* ---- closing, and kill -9, at any moment ---- */

/*
 * Threads share this while they work, until another thread closes their spool or a kill ends them.
 */
struct crowd {
	struct spooler *spooler;
	_Atomic int64_t until_close; /* records; the thread that takes the last one posts CLOSE */
	sem_t close;
	_Atomic bool is_over;
	_Atomic int64_t *until_kill; /* NULL: nothing is killed */
};

static void count_record(struct crowd *crowd)
{
	if (crowd->until_kill)
		fixture_count_to_kill(crowd->until_kill);
	else if (atomic_fetch_sub(&crowd->until_close, 1) == 1)
		sem_post(&crowd->close);
}

static void *write_some(void *argument)
{
	struct crowd *crowd = argument;
	struct writer *w = fixture_writer(crowd->spooler, "some");

	for (uint64_t i = 0; i < LONG_RECORDS; i++) {
		fixture_put(w, i, i % 30);
		count_record(crowd);
	}
	spooler_put_writer(crowd->spooler, w);
	return NULL;
}

/*
 * Closes FIXTURE's spool under THREAD_COUNT threads that do WORK, after they have written so many
 * records; once they have ended, checks the spool.
 */
static void close_under(const struct fixture *fixture, struct spooler *spooler, int thread_count,
			void *(*work)(void *crowd), int64_t after)
{
	struct crowd crowd = {.spooler = spooler, .until_close = after};
	pthread_t threads[THREADS_MOST];
	struct spool_reader *reader;
	char path[2 * TEST_PATH_BYTES];
	int result;

	sem_init(&crowd.close, 0, 0);
	for (int i = 0; i < thread_count; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, &crowd), 0);
	while (sem_wait(&crowd.close))
		;
	/* Checked after the threads have ended, because the next case forks. */
	result = spooler_close(spooler);
	atomic_store(&crowd.is_over, true);
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	sem_destroy(&crowd.close);
	assert_int_equal(result, 0);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	assert_true(spool_reader_info(reader)->closed);
	fixture_count(reader, RECORD_API);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
	fixture_files(fixture, path, sizeof(path));
	unlink(path);
}

static int64_t moment(uint64_t *random, uint64_t most)
{
	return 1 + (int64_t)(fixture_random(random) % most);
}

static void closing_under_threads_that_write_is_sound(void **state)
{
	const struct fixture *fixture = *state;
	uint64_t random = test_seed();

	for (int round = 0; round < 10; round++)
		close_under(fixture, fixture_open_spool(fixture), WRITERS, write_some,
			    moment(&random, WRITERS * LONG_RECORDS));
}

/* ---- threads beyond the spool_writers ---- */

static void *be_refused(void *argument)
{
	const struct writer_thread who = {.tid = 1, .name = "crowd"};
	struct crowd *crowd = argument;
	struct writer *w = spooler_take_writer(crowd->spooler, &who);

	while (!atomic_load(&crowd->is_over)) {
		fixture_put(w, 1, 0);
		count_record(crowd);
	}
	spooler_put_writer(crowd->spooler, w);
	return NULL;
}

static void take_all_writers(struct spooler *spooler)
{
	for (int i = 0; i < SPOOL_WRITER_COUNT; i++)
		fixture_writer(spooler, "writer");
}

static void closing_under_threads_that_are_refused_is_sound(void **state)
{
	const struct fixture *fixture = *state;
	uint64_t random = test_seed();

	for (int round = 0; round < 20; round++) {
		struct spooler *spooler = fixture_open_spool(fixture);

		take_all_writers(spooler);
		close_under(fixture, spooler, REFUSED, be_refused, moment(&random, REFUSALS));
	}
}

static void be_killed_in_a_crowd(const struct fixture *fixture, int64_t after)
{
	_Atomic int64_t until_kill = after;
	struct crowd crowd = {.spooler = fixture_open_spool(fixture), .until_kill = &until_kill};
	pthread_t thread;

	take_all_writers(crowd.spooler);
	for (int i = 0; i < REFUSED; i++)
		if (pthread_create(&thread, NULL, be_refused, &crowd))
			_exit(1);
	for (;;)
		pause();
}

static void threads_that_are_refused_may_be_killed(void **state)
{
	uint64_t random = test_seed();

	for (unsigned int i = 0; i < KILLS; i++) {
		int64_t after = moment(&random, REFUSALS);
		struct spool_reader *reader;
		char path[2 * TEST_PATH_BYTES];
		pid_t pid = fork();

		if (!pid)
			be_killed_in_a_crowd(*state, after);
		fixture_await_killed(pid);
		reader = fixture_read(*state);
		fixture_assert_sound(reader);
		spool_reader_close(reader);
		fixture_files(*state, path, sizeof(path));
		unlink(path);
	}
}

/* ---- kill -9 ---- */

struct progress {
	_Atomic uint64_t committed[2];
};

struct victim {
	struct keeper *keeper;
	struct progress *progress;
	int index;
	_Atomic int64_t *until_kill; /* counts down once both threads have committed a record */
};

static void *write_for_ever(void *argument)
{
	struct victim *victim = argument;
	struct progress *progress = victim->progress;
	struct writer *w = fixture_writer(victim->keeper->spooler, "victim");

	for (uint64_t i = 0; i < UINT64_MAX; i++) {
		if (!keeper_put(victim->keeper, w, i, i % 11))
			continue;
		atomic_fetch_add(&progress->committed[victim->index], 1);
		if (atomic_load(&progress->committed[!victim->index]))
			fixture_count_to_kill(victim->until_kill);
	}
	return NULL;
}

static void be_killed(const struct fixture *fixture, struct progress *progress, int64_t after)
{
	_Atomic int64_t until_kill = after;
	struct keeper keeper;
	struct victim victims[2] = {{&keeper, progress, 0, &until_kill},
				    {&keeper, progress, 1, &until_kill}};
	pthread_t thread;

	keeper_start(&keeper, fixture_open_spool(fixture));
	if (!pthread_create(&thread, NULL, write_for_ever, &victims[0]))
		write_for_ever(&victims[1]);
	_exit(1);
}

static void kill_one(const struct fixture *fixture, int64_t after, struct progress *progress)
{
	struct spool_reader *reader;
	pid_t pid = fork();
	char path[2 * TEST_PATH_BYTES];
	uint64_t found;

	if (!pid)
		be_killed(fixture, progress, after);
	fixture_await_killed(pid);
	reader = fixture_read(fixture);
	assert_false(spool_reader_info(reader)->closed);
	fixture_assert_sound(reader);
	found = fixture_count(reader, RECORD_API);
	/*
	 * A record is committed before it is counted in the shared page, so the page may be behind.
	 */
	assert_in_range(found - progress->committed[0] - progress->committed[1], 0, 2);
	spool_reader_close(reader);
	fixture_files(fixture, path, sizeof(path));
	unlink(path);
}

static void what_was_committed_survives_a_kill(void **state)
{
	struct progress *progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t random = test_seed();

	assert_true(progress != MAP_FAILED);
	for (unsigned int i = 0; i < KILLS; i++) {
		atomic_store(&progress->committed[0], 0);
		atomic_store(&progress->committed[1], 0);
		kill_one(*state, moment(&random, KILL_RECORDS), progress);
	}
	munmap(progress, sizeof(*progress));
}

/* ---- a thread that left in the middle of a record ---- */

/* Leaves a record unfinished, as a longjmp from a signal handler does, and ends the thread. */
static void be_torn(struct spooler *spooler)
{
	struct writer *w = fixture_writer(spooler, "torn");
	struct record_api *api;

	assert_true(fixture_put(w, 1, 0));
	api = writer_reserve(w, RECORD_API, 400);
	assert_non_null(api);
	memset((char *)api + sizeof(api->header), 0xff, 400 - sizeof(api->header));
	spooler_put_writer(spooler, w);
}

static void what_a_torn_record_leaves_is_nobody_elses(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = fixture_open_spool(fixture);
	struct spool_reader *reader;
	struct writer *w;

	be_torn(spooler);
	w = fixture_writer(spooler, "next");
	for (uint64_t i = 0; i < 100; i++)
		assert_true(fixture_put(w, i, 3));
	spooler_put_writer(spooler, w);
	assert_int_equal(spooler_close(spooler), -EBUSY);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	/* The record's type is unknown, so the spool cannot claim to be complete. */
	assert_false(spool_reader_info(reader)->closed);
	fixture_assert_sound(reader);
	assert_int_equal(fixture_count(reader, RECORD_API), 101);
	spool_reader_close(reader);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(ten_thousand_short_threads_lose_nothing),
		CASE(what_long_threads_offer_is_found_or_counted),
		CASE(closing_under_threads_that_write_is_sound),
		CASE(closing_under_threads_that_are_refused_is_sound),
		CASE(what_was_committed_survives_a_kill),
		CASE(threads_that_are_refused_may_be_killed),
		CASE(what_a_torn_record_leaves_is_nobody_elses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
