/* Many threads, short ones, and processes that are killed while they write. */
#include <errno.h>
#include <pthread.h>
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

#include "spool_fixture.h"

#define SHORT_THREADS	  10000
#define CHURNERS	  8
#define LONG_THREADS	  8
#define LONG_RECORDS	  20000
#define KILLS		  20
#define RECORDS_PER_SHORT 3

/* ---- housekeeping, as the session's thread does it ---- */

struct keeper {
	struct spooler *spooler;
	pthread_t thread;
	_Atomic int stop;
};

static void *keep(void *argument)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct keeper *keeper = argument;

	while (!atomic_load(&keeper->stop)) {
		spooler_service(keeper->spooler);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void keeper_start(struct keeper *keeper, struct spooler *spooler)
{
	keeper->spooler = spooler;
	atomic_store(&keeper->stop, 0);
	assert_int_equal(pthread_create(&keeper->thread, NULL, keep, keeper), 0);
}

static void keeper_stop(struct keeper *keeper)
{
	atomic_store(&keeper->stop, 1);
	pthread_join(keeper->thread, NULL);
}

/* ---- threads ---- */

static void *short_thread(void *spooler)
{
	struct writer *w = fixture_writer(spooler, "short");

	for (uint64_t i = 0; i < RECORDS_PER_SHORT; i++)
		fixture_put(w, i, 3);
	spooler_put_writer(spooler, w);
	return NULL;
}

static void *churn(void *spooler)
{
	for (int i = 0; i < SHORT_THREADS / CHURNERS; i++) {
		pthread_t thread;

		if (!pthread_create(&thread, NULL, short_thread, spooler))
			pthread_join(thread, NULL);
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
		assert_int_equal(pthread_create(&churners[i], NULL, churn, spooler), 0);
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

static void *long_thread(void *spooler)
{
	struct writer *w = fixture_writer(spooler, "long");

	for (uint64_t i = 0; i < LONG_RECORDS; i++)
		fixture_put(w, i, i % 30);
	spooler_put_writer(spooler, w);
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
		assert_int_equal(pthread_create(&threads[i], NULL, long_thread, spooler), 0);
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

static void closing_under_threads_that_write_is_sound(void **state)
{
	const struct fixture *fixture = *state;

	for (int round = 0; round < 10; round++) {
		struct spooler *spooler = fixture_open_spool(fixture);
		pthread_t threads[4];
		struct spool_reader *reader;
		char path[512];
		int result;

		for (int i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, long_thread, spooler),
					 0);
		usleep((useconds_t)round * 150);
		/* Judged after the threads have ended: the next case forks. */
		result = spooler_close(spooler);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
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
}

/* ---- threads beyond the lanes ---- */

#define CROWD 12

struct progress {
	_Atomic uint64_t committed[2];
};

static _Atomic int crowd_stops;

static void *crowd_thread(void *spooler)
{
	const struct writer_thread who = {.tid = 1, .name = "crowd"};
	struct writer *w = spooler_take_writer(spooler, &who);

	while (!atomic_load(&crowd_stops))
		fixture_put(w, 1, 0);
	spooler_put_writer(spooler, w);
	return NULL;
}

static void take_all_lanes(struct spooler *spooler)
{
	for (int i = 0; i < SPOOL_LANE_COUNT; i++)
		fixture_writer(spooler, "lane");
}

static void closing_under_threads_that_are_refused_is_sound(void **state)
{
	const struct fixture *fixture = *state;

	for (int round = 0; round < 20; round++) {
		struct spooler *spooler = fixture_open_spool(fixture);
		struct spool_reader *reader;
		pthread_t threads[CROWD];
		char path[512];
		int result;

		take_all_lanes(spooler);
		atomic_store(&crowd_stops, 0);
		for (int i = 0; i < CROWD; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, crowd_thread, spooler),
					 0);
		usleep(2000);
		result = spooler_close(spooler);
		atomic_store(&crowd_stops, 1);
		for (int i = 0; i < CROWD; i++)
			pthread_join(threads[i], NULL);
		assert_int_equal(result, 0);
		spooler_release(spooler);
		reader = fixture_read(fixture);
		assert_true(spool_reader_info(reader)->closed);
		fixture_assert_sound(reader);
		spool_reader_close(reader);
		fixture_files(fixture, path, sizeof(path));
		unlink(path);
	}
}

static void be_killed_in_a_crowd(const struct fixture *fixture, struct progress *progress)
{
	struct spooler *spooler = fixture_open_spool(fixture);
	pthread_t thread;

	take_all_lanes(spooler);
	atomic_store(&crowd_stops, 0);
	for (int i = 0; i < CROWD; i++)
		pthread_create(&thread, NULL, crowd_thread, spooler);
	atomic_store(&progress->committed[0], 1);
	for (;;)
		pause();
}

/* ---- kill -9 ---- */

struct victim {
	struct spooler *spooler;
	_Atomic uint64_t *committed;
};

static void *write_for_ever(void *argument)
{
	struct victim *victim = argument;
	struct writer *w = fixture_writer(victim->spooler, "victim");

	for (uint64_t i = 0; i < UINT64_MAX; i++)
		if (fixture_put(w, i, i % 11))
			atomic_fetch_add(victim->committed, 1);
	return NULL;
}

static void be_killed(const struct fixture *fixture, struct progress *progress)
{
	struct spooler *spooler = fixture_open_spool(fixture);
	struct victim victims[2] = {{spooler, &progress->committed[0]},
				    {spooler, &progress->committed[1]}};
	pthread_t thread;
	struct keeper keeper;

	keeper_start(&keeper, spooler);
	pthread_create(&thread, NULL, write_for_ever, &victims[0]);
	write_for_ever(&victims[1]);
}

static void kill_one(const struct fixture *fixture, unsigned int after_us,
		     struct progress *progress)
{
	struct spool_reader *reader;
	pid_t pid = fork();
	char path[512];
	int status;
	uint64_t found;

	if (!pid)
		be_killed(fixture, progress);
	while (!atomic_load(&progress->committed[0]) || !atomic_load(&progress->committed[1])) {
		assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
		usleep(100);
	}
	usleep(after_us);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	reader = fixture_read(fixture);
	assert_false(spool_reader_info(reader)->closed);
	fixture_assert_sound(reader);
	found = fixture_count(reader, RECORD_API);
	/* A record is committed before it is counted in the shared page. */
	assert_in_range(found - progress->committed[0] - progress->committed[1], 0, 2);
	spool_reader_close(reader);
	fixture_files(fixture, path, sizeof(path));
	unlink(path);
}

static void what_was_committed_survives_a_kill(void **state)
{
	struct progress *progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(progress != MAP_FAILED);
	for (unsigned int i = 0; i < KILLS; i++) {
		atomic_store(&progress->committed[0], 0);
		atomic_store(&progress->committed[1], 0);
		kill_one(*state, i * i * 97 % 20000, progress);
	}
	munmap(progress, sizeof(*progress));
}

static void threads_that_are_refused_may_be_killed(void **state)
{
	struct progress *progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(progress != MAP_FAILED);
	for (unsigned int i = 0; i < KILLS; i++) {
		struct spool_reader *reader;
		char path[512];
		pid_t pid;

		atomic_store(&progress->committed[0], 0);
		pid = fork();
		if (!pid)
			be_killed_in_a_crowd(*state, progress);
		while (!atomic_load(&progress->committed[0]))
			usleep(100);
		usleep(20000);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		reader = fixture_read(*state);
		fixture_assert_sound(reader);
		spool_reader_close(reader);
		fixture_files(*state, path, sizeof(path));
		unlink(path);
	}
	munmap(progress, sizeof(*progress));
}

/* ---- a thread that was torn out of a record ---- */

/* As after a longjmp from a signal handler, and the thread's end. */
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
	/* What it was is not known: so there is no saying that all is there. */
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
