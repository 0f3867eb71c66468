/*
 * Ring mode: the file stays small, the newest records are in it, reused records are counted
 * exactly, and what later records need is kept.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "spool_fixture.h"

#define RING_BYTES    SPOOLER_RING_BYTES_LEAST
#define RECORD_BYTES  sizeof(struct record_api)
#define RING_RECORDS  (RING_BYTES / RECORD_BYTES)
#define ROUNDS	      20
#define SERVICE_EVERY 500 /* records: half a chunk's */
#define KILLS	      50
#define KILL_RECORDS                                                                               \
	(4 * RING_RECORDS / 10) /* with that many ARGS the ring holds some RING_RECORDS / 5 */
#define KILL_ARGS 60

/*
 * What the file may hold besides the ring: the ready chunks, a window that was begun, and two
 * chunks for each of a few threads.
 */
#define FILE_BYTES_MOST                                                                            \
	(SPOOL_CHUNK_OFFSET + RING_BYTES + SPOOLER_READY_BYTES_LEAST + ((uint64_t)5 << 20))

static struct spooler *open_ring(const struct fixture *fixture, uint64_t ring_ns)
{
	const struct spooler_options options = {
		.folder = fixture->folder,
		.ready_bytes = SPOOLER_READY_BYTES_LEAST,
		.ring_bytes = RING_BYTES,
		.ring_ns = ring_ns,
	};
	struct spooler *spooler = NULL;

	assert_int_equal(spooler_open(&options, &spooler), 0);
	return spooler;
}

static uint64_t file_bytes(const struct fixture *fixture)
{
	struct stat status;
	char path[2 * TEST_PATH_BYTES];

	assert_int_equal(fixture_files(fixture, path, sizeof(path)), 1);
	assert_int_equal(stat(path, &status), 0);
	return (uint64_t)status.st_size;
}

/* Serves the spooler often, as a fast housekeeping thread does. */
static void put_some(struct spooler *spooler, struct writer *w, uint64_t first, uint64_t count)
{
	for (uint64_t i = first; i < first + count; i++) {
		assert_true(fixture_put(w, i, 0));
		if (i % SERVICE_EVERY == 0)
			assert_true(spooler_service(spooler) >= 0);
	}
}

static struct spool_reader *close_and_read(const struct fixture *fixture, struct spooler *spooler)
{
	struct spool_reader *reader;

	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
	reader = fixture_read(fixture);
	fixture_assert_sound(reader);
	return reader;
}

/* Counts API records of fixture_put; asserts that they are consecutive. */
static uint64_t count_run(const struct spool_reader *reader, uint64_t *ret_last)
{
	struct spool_cursor cursor;
	struct spool_record record;
	uint64_t count = 0, last = 0;

	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record)) {
			uint64_t cid = ((const struct record_api *)record.header)->cid;

			if (record.type != RECORD_API)
				continue;
			assert_true(count == 0 || cid == last + 1);
			last = cid;
			count++;
		}
	}
	*ret_last = last;
	return count;
}

static void the_last_records_are_there_and_the_others_are_counted(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = open_ring(fixture, 0);
	struct writer *w = fixture_writer(spooler, "busy");
	const uint64_t total = ROUNDS * RING_RECORDS;
	const struct spool_ledger *ledger;
	struct spool_reader *reader;
	uint64_t found, last;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		put_some(spooler, w, i * RING_RECORDS, RING_RECORDS);
		assert_in_range(file_bytes(fixture), 0, FILE_BYTES_MOST);
	}
	reader = close_and_read(fixture, spooler);
	ledger = spool_reader_ledger(reader);
	found = count_run(reader, &last);
	assert_int_equal(last, total - 1);
	/* A chunk's header and its THREAD record take some of the space. */
	assert_in_range(found, RING_RECORDS * 98 / 100, 3 * RING_RECORDS);
	assert_int_equal(ledger->attempted[RECORD_CLASS_API], total);
	assert_int_equal(ledger->dropped[RECORD_CLASS_API][RECORD_DROP_RING], total - found);
	spool_reader_close(reader);
}

static void put_kernel(struct writer *w, uint32_t id)
{
	struct record_kernel kernel = {.ns = id, .name_bytes = 6};

	writer_put_text(w, RECORD_KERNEL, id, &kernel, sizeof(kernel), "kernel", 6);
}

static void what_is_needed_later_is_never_dropped(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = open_ring(fixture, 0);
	struct writer *w = fixture_writer(spooler, "busy");
	struct spool_reader *reader;
	struct record_witness witness = {.value = 7};
	const uint64_t step = RING_RECORDS / 50;

	for (uint32_t i = 0; i < 50 * ROUNDS; i++) {
		put_kernel(w, i);
		w->rings_periodic = i % 2;
		writer_put(w, RECORD_WITNESS, 0, &witness, sizeof(witness));
		put_some(spooler, w, i * step, step);
	}
	reader = close_and_read(fixture, spooler);
	assert_int_equal(fixture_count(reader, RECORD_KERNEL), 50 * ROUNDS);
	/* Every second one, and those of the others that are still in the ring. */
	assert_in_range(fixture_count(reader, RECORD_WITNESS), 25 * ROUNDS, 25 * ROUNDS + 100);
	spool_reader_close(reader);
}

static void a_thread_that_writes_rarely_keeps_its_chunk(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = open_ring(fixture, 0);
	struct writer *busy = fixture_writer(spooler, "busy");
	struct writer *rare = fixture_writer(spooler, "rare");
	struct spool_reader *reader;
	struct spool_cursor cursor;
	struct spool_record record;
	uint64_t found = 0;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		assert_true(fixture_put(rare, i, 1));
		put_some(spooler, busy, i * RING_RECORDS, RING_RECORDS);
	}
	reader = close_and_read(fixture, spooler);
	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record))
			found += record.type == RECORD_API &&
				 record.bytes == RECORD_BYTES + sizeof(uint64_t);
	}
	assert_int_equal(found, ROUNDS);
	spool_reader_close(reader);
}

/* With an age limit, chunks are reused before the ring reaches its size. */
static void old_chunks_go_first(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = open_ring(fixture, 1);
	struct writer *w = fixture_writer(spooler, "busy");
	struct spool_reader *reader;
	uint64_t last;

	put_some(spooler, w, 0, ROUNDS * RING_RECORDS);
	assert_in_range(file_bytes(fixture), 0,
			SPOOL_CHUNK_OFFSET + SPOOLER_READY_BYTES_LEAST + ((uint64_t)4 << 20));
	reader = close_and_read(fixture, spooler);
	assert_in_range(count_run(reader, &last), 1, RING_RECORDS);
	spool_reader_close(reader);
}

/* ---- scopes ---- */

static void put_scope(struct writer *w, uint64_t id, uint64_t parent)
{
	struct record_scope scope = {.id = id, .parent = parent, .ns = id, .text_bytes = 4};

	writer_put_text(w, RECORD_SCOPE, RECORD_SCOPE_DAGTAP, &scope, sizeof(scope), "text", 4);
}

static void put_scope_end(struct writer *w, uint64_t id)
{
	struct record_scope_end end = {.id = id, .ns = id + 1};

	writer_put(w, RECORD_SCOPE_END, 0, &end, sizeof(end));
}

#define SCOPES_MOST 2000

/* Returns the parent of a scope in the case below. */
static uint64_t parent_of(uint64_t id)
{
	return id <= 3 ? id - 1 : 2;
}

/* What a reader has of a scope, by the scope's id. */
struct scope_found {
	uint32_t count; /* number of records of its begin */
	bool is_ended;
};

static void find_scope(const struct spool_record *record, uint32_t tid, struct scope_found *found)
{
	const struct record_scope *scope = (const void *)record->header;

	assert_in_range(scope->id, 1, SCOPES_MOST - 1);
	assert_int_equal(scope->parent, parent_of(scope->id));
	assert_int_equal(scope->ns, scope->id);
	assert_memory_equal(scope->text, "text", 4);
	assert_int_equal(record->tid, tid);
	found[scope->id].count++;
}

/* Asserts that the records say what was put, and by which thread. */
static void find_scopes(const struct spool_reader *reader, uint32_t tid, struct scope_found *found)
{
	struct spool_cursor cursor;
	struct spool_record record;

	for (uint32_t w = 0; w < spool_reader_writer_count(reader); w++) {
		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record)) {
			if (record.type == RECORD_SCOPE)
				find_scope(&record, tid, found);
			else if (record.type == RECORD_SCOPE_END)
				found[((const struct record_scope_end *)record.header)->id]
					.is_ended = true;
		}
	}
}

static void scopes_that_are_open_keep_their_record(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = open_ring(fixture, 0);
	struct writer *w = fixture_writer(spooler, "busy");
	struct scope_found found[SCOPES_MOST] = {{0}};
	uint32_t tid = w->thread.tid;
	struct spool_reader *reader;
	const uint64_t step = RING_RECORDS / 8;

	put_scope(w, 1, 0);
	put_scope(w, 2, 1);
	put_scope(w, 3, 2);
	put_scope_end(w, 3);
	for (uint64_t i = 0; i < 8 * ROUNDS; i++) {
		put_scope(w, 1000 + i, 2);
		put_some(spooler, w, i * step, step);
		put_scope_end(w, 1000 + i);
		if (i == 4 * ROUNDS)
			put_scope_end(w, 2);
	}
	reader = close_and_read(fixture, spooler);
	find_scopes(reader, tid, found);
	assert_int_equal(found[1].count, 1);
	assert_false(found[1].is_ended);
	/* It has ended since, and must not look open. */
	assert_int_equal(found[2].count, 1);
	assert_true(found[2].is_ended);
	assert_int_equal(found[3].count, 0);
	for (uint64_t i = 1000; i < 1000 + 8 * ROUNDS; i++)
		assert_true(!found[i].count || found[i].is_ended);
	/* Began before the oldest kept record, and has records in what is kept. */
	assert_int_equal(found[1000 + 8 * ROUNDS - 1].count, 1);
	spool_reader_close(reader);
}

/* More scopes than the ring can keep track of, and more text than half of a reused chunk. */
static void a_ring_goes_round_however_many_scopes_are_open(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = open_ring(fixture, 0);
	struct writer *w = fixture_writer(spooler, "busy");

	for (uint64_t i = 1; i < ROUNDS * RING_BYTES / 48; i++) {
		put_scope(w, i, 0);
		if (i % SERVICE_EVERY == 0)
			assert_true(spooler_service(spooler) >= 0);
	}
	assert_in_range(file_bytes(fixture), 0, FILE_BYTES_MOST);
	spool_reader_close(close_and_read(fixture, spooler));
}

/* ---- killed while a chunk is reused ---- */

static struct spool_reuse *letting_go_of(unsigned char *bytes)
{
	return &((struct spool_header *)bytes)->live.reuse;
}

static void assert_sound_in_memory(const unsigned char *bytes, size_t length)
{
	struct spool_reader *reader = NULL;
	struct dagtap_error error;

	assert_int_equal(spool_reader_open_memory(bytes, length, "ring", &reader, &error), 0);
	fixture_assert_sound(reader);
	spool_reader_close(reader);
}

/* Returns the oldest chunk of LANE. */
static struct spool_chunk *find_oldest(unsigned char *bytes, size_t length, uint32_t spool_writer,
				       uint64_t *ret_place)
{
	struct spool_writer *spool_writers = (struct spool_writer *)(bytes + SPOOL_HEADER_BYTES);

	for (uint64_t place = 0; place < (length - SPOOL_CHUNK_OFFSET) / SPOOL_CHUNK_BYTES;
	     place++) {
		struct spool_chunk *chunk = (struct spool_chunk *)(bytes + SPOOL_CHUNK_OFFSET +
								   place * SPOOL_CHUNK_BYTES);

		if (chunk->magic == SPOOL_CHUNK_MAGIC && chunk->writer == spool_writer &&
		    chunk->sequence == spool_writers[spool_writer].chunks_reused) {
			*ret_place = place;
			return chunk;
		}
	}
	fail_msg("writer %u has no chunk", spool_writer);
	return NULL;
}

/* Stops after each of the stores that reuse a chunk, one by one: see ring_reuse. */
static void every_moment_of_letting_go_is_sound(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = open_ring(fixture, 0);
	struct writer *w = fixture_writer(spooler, "busy");
	uint32_t index = w->index;
	struct spool_reuse *intent;
	struct spool_chunk *chunk;
	struct spool_writer *spool_writer;
	unsigned char *bytes;
	uint64_t place, records = 0;
	size_t length;

	put_some(spooler, w, 0, 3 * RING_RECORDS);
	bytes = fixture_bytes(fixture, &length);
	intent = letting_go_of(bytes);
	chunk = find_oldest(bytes, length, index, &place);
	spool_writer = (struct spool_writer *)(bytes + SPOOL_HEADER_BYTES) + index;
	for (uint32_t at = SPOOL_CHUNK_HEAD_BYTES + sizeof(struct record_thread);
	     at < chunk->used_bytes; at += RECORD_BYTES)
		records++;
	assert_sound_in_memory(bytes, length);
	intent->place = place;
	intent->chunks = spool_writer->chunks_reused + 1;
	for (int class = 0; class < SPOOL_CLASS_COUNT; class ++)
		intent->records[class] = spool_writer->counts.dropped[class][RECORD_DROP_RING];
	intent->records[RECORD_CLASS_API] += records;
	intent->records[RECORD_CLASS_META]++;
	assert_sound_in_memory(bytes, length);
	intent->writer = index + 1;
	assert_sound_in_memory(bytes, length);
	spool_writer->counts.dropped[RECORD_CLASS_META][RECORD_DROP_RING]++;
	assert_sound_in_memory(bytes, length);
	spool_writer->counts.dropped[RECORD_CLASS_API][RECORD_DROP_RING] += records;
	assert_sound_in_memory(bytes, length);
	spool_writer->chunks_reused++;
	assert_sound_in_memory(bytes, length);
	chunk->magic = 0;
	assert_sound_in_memory(bytes, length);
	intent->writer = 0;
	assert_sound_in_memory(bytes, length);
	/* Half of the chunk is zeroed already. */
	memset(chunk, 0, SPOOL_CHUNK_BYTES / 2);
	assert_sound_in_memory(bytes, length);
	free(bytes);
	spool_reader_close(close_and_read(fixture, spooler));
}

/* A chunk that was not reused is reported missing, however many were reused before. */
static void a_chunk_that_was_not_dropped_is_missed(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = open_ring(fixture, 0);
	struct writer *w = fixture_writer(spooler, "busy");
	uint32_t index = w->index;
	struct spool_reader *reader = NULL;
	struct dagtap_error error;
	unsigned char *bytes;
	uint64_t place;
	size_t length;

	put_some(spooler, w, 0, 3 * RING_RECORDS);
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
	bytes = fixture_bytes(fixture, &length);
	memset(find_oldest(bytes, length, index, &place), 0, SPOOL_CHUNK_BYTES);
	assert_int_equal(spool_reader_open_memory(bytes, length, "ring", &reader, &error), 0);
	assert_true(fixture_damage_count(reader) > 0);
	assert_true(spool_reader_ledger(reader)->missing[RECORD_CLASS_API] > 0);
	spool_reader_close(reader);
	free(bytes);
}

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
		put_scope(w, (uint64_t)w->index << 48 | i, 0);
		if (keeper_put(keeper, w, i, i % story->args))
			atomic_fetch_add(&story->put, 1);
		put_scope_end(w, (uint64_t)w->index << 48 | i);
		if (i % 1000 == 0)
			put_kernel(w, (uint32_t)i);
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
	struct spooler *spooler = open_ring(fixture, 0);
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
	assert_in_range(file_bytes(fixture), 0, FILE_BYTES_MOST);
	/* A close waits only a limited time for a service in progress. */
	keeper_stop(&keeper);
	sem_destroy(&turns);
	reader = close_and_read(fixture, spooler);
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

	keeper_start(&keeper, open_ring(fixture, 0));
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
	assert_in_range(file_bytes(fixture), 0, FILE_BYTES_MOST);
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
	struct spooler *spooler = open_ring(fixture, 0);
	const struct spool_ledger *ledger;
	struct spool_reader *reader;

	gather_crowd(spooler, CROWD);
	gather_crowd(spooler, PAIRS_OF_WRITERS);
	reader = close_and_read(fixture, spooler);
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
		 * These run first, while a fork copies little: ThreadSanitizer keeps memory for all
		 * that was used.
		 */
		CASE(a_kill_while_it_goes_round_costs_nothing),
		CASE(the_last_records_are_there_and_the_others_are_counted),
		CASE(what_is_needed_later_is_never_dropped),
		CASE(a_thread_that_writes_rarely_keeps_its_chunk),
		CASE(old_chunks_go_first),
		CASE(scopes_that_are_open_keep_their_record),
		CASE(a_ring_goes_round_however_many_scopes_are_open),
		CASE(every_moment_of_letting_go_is_sound),
		CASE(a_chunk_that_was_not_dropped_is_missed),
		CASE(threads_of_different_rates_lose_nothing_unsaid),
		CASE(more_threads_than_writers_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
