/*
 * Ring mode with several threads: they write at different rates, are killed while the ring goes
 * round, or are more than there are writers.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../launched.h"
#include "ring_fixture.h"

#define KILLS 50
#define KILL_RECORDS                                                                               \
	(4 * RING_RECORDS / 10) /* with that many ARGS the ring holds some RING_RECORDS / 5 */
#define KILL_ARGS 60

/* ---- threads ---- */

struct story {
	struct keeper *keeper;
	uint64_t records;
	size_t args;	     /* of a record, or fewer */
	uint64_t gives_turn; /* lets the other thread continue after so many records; 0: never */
	uint64_t takes_turn; /* waits for the other thread after so many records */
	sem_t *turns;
	_Atomic int64_t *until_kill; /* counts down once the ring has wrapped; or NULL */
	_Atomic uint64_t put;
};

static void pass_turns(const struct story *story, uint64_t records)
{
	if (story->gives_turn && records % story->gives_turn == 0)
		sem_post(story->turns);
	while (story->takes_turn && records % story->takes_turn == 0 && sem_wait(story->turns))
		;
}

static void *tell(void *argument)
{
	struct story *story = argument;
	struct keeper *keeper = story->keeper;
	struct writer *w = fixture_writer(keeper->spooler, "teller");

	for (uint64_t i = 1; i <= story->records; i++) {
		ring_put_scope(w, (uint64_t)w->index << 48 | i, 0);
		if (keeper_put(keeper, w, i, i % story->args))
			atomic_fetch_add(&story->put, 1);
		ring_put_scope_end(w, (uint64_t)w->index << 48 | i);
		if (i % 1000 == 0)
			ring_put_kernel(w, (uint32_t)i);
		pass_turns(story, i);
		if (story->until_kill && atomic_load(&keeper->chunks_reused))
			fixture_count_to_kill(story->until_kill);
	}
	spooler_put_writer(keeper->spooler, w);
	return NULL;
}

static void threads_of_different_rates_lose_nothing_unsaid(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = ring_open(fixture, 0);
	struct keeper keeper;
	sem_t turns;
	struct story stories[] = {
		{.keeper = &keeper,
		 .records = 400000,
		 .args = 7,
		 .turns = &turns,
		 .gives_turn = 10000},
		{.keeper = &keeper, .records = 4000, .args = 7, .turns = &turns, .takes_turn = 100},
	};
	const struct spool_ledger *ledger;
	struct spool_reader *reader;
	pthread_t threads[2];

	sem_init(&turns, 0, 0);
	keeper_start(&keeper, spooler);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, tell, &stories[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_in_range(ring_file_bytes(fixture), 0, FILE_BYTES_MOST);
	/* A close waits only a limited time for a service in progress. */
	keeper_stop(&keeper);
	sem_destroy(&turns);
	reader = ring_close_and_read(fixture, spooler);
	ledger = spool_reader_ledger(reader);
	assert_true(ledger->dropped[RECORD_CLASS_API][RECORD_DROP_RING] > 0);
	assert_int_equal(ledger->found[RECORD_CLASS_API] +
				 ledger->dropped[RECORD_CLASS_API][RECORD_DROP_RING],
			 stories[0].put + stories[1].put);
	spool_reader_close(reader);
}

/* ---- kill -9 ---- */

static void be_killed(const struct fixture *fixture, struct story *stories, int64_t after)
{
	_Atomic int64_t until_kill = after;
	struct keeper keeper;
	pthread_t thread;

	keeper_start(&keeper, ring_open(fixture, 0));
	for (int i = 0; i < 2; i++) {
		stories[i].keeper = &keeper;
		stories[i].until_kill = &until_kill;
	}
	if (!pthread_create(&thread, NULL, tell, &stories[0]))
		tell(&stories[1]);
	_exit(1);
}

/* Kills the child after AFTER records, counted from the first chunk that was reused. */
static void kill_one(const struct fixture *fixture, int64_t after, struct story *stories)
{
	const struct spool_ledger *ledger;
	struct spool_reader *reader;
	char path[2 * TEST_PATH_BYTES];
	uint64_t accounted;
	pid_t pid;

	for (int i = 0; i < 2; i++)
		stories[i] = (struct story){.records = UINT64_MAX, .args = KILL_ARGS};
	pid = fork();
	if (!pid)
		be_killed(fixture, stories, after);
	fixture_await_killed(pid);
	reader = fixture_read(fixture);
	fixture_assert_sound(reader);
	assert_in_range(ring_file_bytes(fixture), 0, FILE_BYTES_MOST);
	ledger = spool_reader_ledger(reader);
	assert_true(ledger->dropped[RECORD_CLASS_API][RECORD_DROP_RING] > 0);
	accounted = ledger->found[RECORD_CLASS_API] +
		    ledger->dropped[RECORD_CLASS_API][RECORD_DROP_RING];
	/*
	 * A record is committed before it is counted in the shared page, so the page may be behind.
	 */
	assert_in_range(accounted - stories[0].put - stories[1].put, 0, 2);
	spool_reader_close(reader);
	fixture_files(fixture, path, sizeof(path));
	unlink(path);
}

static void a_kill_while_it_goes_round_costs_nothing(void **state)
{
	uint64_t random = test_seed();
	struct story *stories = mmap(NULL, 2 * sizeof(*stories), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(stories != MAP_FAILED);
	for (unsigned int i = 0; i < KILLS; i++)
		kill_one(*state, 1 + (int64_t)(fixture_random(&random) % KILL_RECORDS), stories);
	munmap(stories, 2 * sizeof(*stories));
}

/* ---- more threads than spool_writers ---- */

#define CROWD		 600
#define PAIRS_OF_WRITERS 511
#define RECORDS_OF_EACH	 10

struct crowd {
	struct spooler *spooler;
	pthread_barrier_t all_have_tried;
	pthread_barrier_t all_have_written;
};

static void *be_one_of_many(void *argument)
{
	struct crowd *crowd = argument;
	struct writer *w = fixture_writer(crowd->spooler, "many");

	pthread_barrier_wait(&crowd->all_have_tried);
	for (uint64_t i = 0; i < RECORDS_OF_EACH; i++)
		fixture_put(w, i, 0);
	pthread_barrier_wait(&crowd->all_have_written);
	spooler_put_writer(crowd->spooler, w);
	return NULL;
}

static void gather_crowd(struct spooler *spooler, unsigned int count)
{
	struct crowd crowd = {.spooler = spooler};
	pthread_t threads[CROWD];

	pthread_barrier_init(&crowd.all_have_tried, NULL, count);
	pthread_barrier_init(&crowd.all_have_written, NULL, count);
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, be_one_of_many, &crowd), 0);
	for (unsigned int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&crowd.all_have_tried);
	pthread_barrier_destroy(&crowd.all_have_written);
}

/*
 * Threads beyond the number of spool_writers are refused and counted; after the others have ended
 * there is room again.
 */
static void more_threads_than_writers_are_counted(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = ring_open(fixture, 0);
	const struct spool_ledger *ledger;
	struct spool_reader *reader;

	gather_crowd(spooler, CROWD);
	gather_crowd(spooler, PAIRS_OF_WRITERS);
	reader = ring_close_and_read(fixture, spooler);
	ledger = spool_reader_ledger(reader);
	assert_int_equal(ledger->attempted[RECORD_CLASS_API],
			 (CROWD + PAIRS_OF_WRITERS) * RECORDS_OF_EACH);
	assert_int_equal(ledger->dropped[RECORD_CLASS_API][RECORD_DROP_NO_WRITER],
			 (CROWD - PAIRS_OF_WRITERS) * RECORDS_OF_EACH);
	spool_reader_close(reader);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		/*
		 * This runs first, while a fork copies little: ThreadSanitizer keeps memory for all
		 * that was used.
		 */
		CASE(a_kill_while_it_goes_round_costs_nothing),
		CASE(threads_of_different_rates_lose_nothing_unsaid),
		CASE(more_threads_than_writers_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
