/*
 * Ring mode: the file stays small, the newest records are in it, reused records are counted
 * exactly, and what later records need is kept. test_record_ring_threads.c has several threads.
 */
#include <stdlib.h>
#include <string.h>

#include "ring_fixture.h"

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
	struct spooler *spooler = ring_open(fixture, 0);
	struct writer *w = fixture_writer(spooler, "busy");
	const uint64_t total = ROUNDS * RING_RECORDS;
	const struct spool_ledger *ledger;
	struct spool_reader *reader;
	uint64_t found, last;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		ring_put_some(spooler, w, i * RING_RECORDS, RING_RECORDS);
		assert_in_range(ring_file_bytes(fixture), 0, FILE_BYTES_MOST);
	}
	reader = ring_close_and_read(fixture, spooler);
	ledger = spool_reader_ledger(reader);
	found = count_run(reader, &last);
	assert_int_equal(last, total - 1);
	/* A chunk's header and its THREAD record take some of the space. */
	assert_in_range(found, RING_RECORDS * 98 / 100, 3 * RING_RECORDS);
	assert_int_equal(ledger->attempted[RECORD_CLASS_API], total);
	assert_int_equal(ledger->dropped[RECORD_CLASS_API][RECORD_DROP_RING], total - found);
	spool_reader_close(reader);
}

static void what_is_needed_later_is_never_dropped(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = ring_open(fixture, 0);
	struct writer *w = fixture_writer(spooler, "busy");
	struct spool_reader *reader;
	struct record_witness witness = {.value = 7};
	const uint64_t step = RING_RECORDS / 50;

	for (uint32_t i = 0; i < 50 * ROUNDS; i++) {
		ring_put_kernel(w, i);
		w->rings_periodic = i % 2;
		writer_put(w, RECORD_WITNESS, 0, &witness, sizeof(witness));
		ring_put_some(spooler, w, i * step, step);
	}
	reader = ring_close_and_read(fixture, spooler);
	assert_int_equal(fixture_count(reader, RECORD_KERNEL), 50 * ROUNDS);
	/* Every second one, and those of the others that are still in the ring. */
	assert_in_range(fixture_count(reader, RECORD_WITNESS), 25 * ROUNDS, 25 * ROUNDS + 100);
	spool_reader_close(reader);
}

static void a_thread_that_writes_rarely_keeps_its_chunk(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = ring_open(fixture, 0);
	struct writer *busy = fixture_writer(spooler, "busy");
	struct writer *rare = fixture_writer(spooler, "rare");
	struct spool_reader *reader;
	struct spool_cursor cursor;
	struct spool_record record;
	uint64_t found = 0;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		assert_true(fixture_put(rare, i, 1));
		ring_put_some(spooler, busy, i * RING_RECORDS, RING_RECORDS);
	}
	reader = ring_close_and_read(fixture, spooler);
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
	struct spooler *spooler = ring_open(fixture, 1);
	struct writer *w = fixture_writer(spooler, "busy");
	struct spool_reader *reader;
	uint64_t last;

	ring_put_some(spooler, w, 0, ROUNDS * RING_RECORDS);
	assert_in_range(ring_file_bytes(fixture), 0,
			SPOOL_CHUNK_OFFSET + SPOOLER_READY_BYTES_LEAST + ((uint64_t)4 << 20));
	reader = ring_close_and_read(fixture, spooler);
	assert_in_range(count_run(reader, &last), 1, RING_RECORDS);
	spool_reader_close(reader);
}

/* ---- scopes ---- */

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
	struct spooler *spooler = ring_open(fixture, 0);
	struct writer *w = fixture_writer(spooler, "busy");
	struct scope_found found[SCOPES_MOST] = {{0}};
	uint32_t tid = w->thread.tid;
	struct spool_reader *reader;
	const uint64_t step = RING_RECORDS / 8;

	ring_put_scope(w, 1, 0);
	ring_put_scope(w, 2, 1);
	ring_put_scope(w, 3, 2);
	ring_put_scope_end(w, 3);
	for (uint64_t i = 0; i < 8 * ROUNDS; i++) {
		ring_put_scope(w, 1000 + i, 2);
		ring_put_some(spooler, w, i * step, step);
		ring_put_scope_end(w, 1000 + i);
		if (i == 4 * ROUNDS)
			ring_put_scope_end(w, 2);
	}
	reader = ring_close_and_read(fixture, spooler);
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
	struct spooler *spooler = ring_open(fixture, 0);
	struct writer *w = fixture_writer(spooler, "busy");

	for (uint64_t i = 1; i < ROUNDS * RING_BYTES / 48; i++) {
		ring_put_scope(w, i, 0);
		if (i % SERVICE_EVERY == 0)
			assert_true(spooler_service(spooler) >= 0);
	}
	assert_in_range(ring_file_bytes(fixture), 0, FILE_BYTES_MOST);
	spool_reader_close(ring_close_and_read(fixture, spooler));
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

/* Returns how many records of fixture_put are in a chunk, behind its THREAD record. */
static uint64_t count_records(const struct spool_chunk *chunk)
{
	return (chunk->used_bytes - SPOOL_CHUNK_HEAD_BYTES - sizeof(struct record_thread)) /
	       RECORD_BYTES;
}

/* Fills in the intent to reuse a chunk of RECORDS records, but for the writer, which makes it
 * valid. */
static void intend(struct spool_reuse *intent, const struct spool_writer *spool_writer,
		   uint64_t place, uint64_t records)
{
	intent->place = place;
	intent->chunks = spool_writer->chunks_reused + 1;
	for (int class = 0; class < SPOOL_CLASS_COUNT; class ++)
		intent->records[class] = spool_writer->counts.dropped[class][RECORD_DROP_RING];
	intent->records[RECORD_CLASS_API] += records;
	intent->records[RECORD_CLASS_META]++;
}

/* Stops after each of the stores that reuse a chunk, one by one: see ring_reuse. */
static void every_moment_of_letting_go_is_sound(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = ring_open(fixture, 0);
	struct writer *w = fixture_writer(spooler, "busy");
	uint32_t index = w->index;
	struct spool_reuse *intent;
	struct spool_chunk *chunk;
	struct spool_writer *spool_writer;
	unsigned char *bytes;
	uint64_t place, records;
	size_t length;

	ring_put_some(spooler, w, 0, 3 * RING_RECORDS);
	bytes = fixture_bytes(fixture, &length);
	intent = letting_go_of(bytes);
	chunk = find_oldest(bytes, length, index, &place);
	spool_writer = (struct spool_writer *)(bytes + SPOOL_HEADER_BYTES) + index;
	records = count_records(chunk);
	assert_sound_in_memory(bytes, length);
	intend(intent, spool_writer, place, records);
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
	spool_reader_close(ring_close_and_read(fixture, spooler));
}

/* A chunk that was not reused is reported missing, however many were reused before. */
static void a_chunk_that_was_not_dropped_is_missed(void **state)
{
	const struct fixture *fixture = *state;
	struct spooler *spooler = ring_open(fixture, 0);
	struct writer *w = fixture_writer(spooler, "busy");
	uint32_t index = w->index;
	struct spool_reader *reader = NULL;
	struct dagtap_error error;
	unsigned char *bytes;
	uint64_t place;
	size_t length;

	ring_put_some(spooler, w, 0, 3 * RING_RECORDS);
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

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_last_records_are_there_and_the_others_are_counted),
		CASE(what_is_needed_later_is_never_dropped),
		CASE(a_thread_that_writes_rarely_keeps_its_chunk),
		CASE(old_chunks_go_first),
		CASE(scopes_that_are_open_keep_their_record),
		CASE(a_ring_goes_round_however_many_scopes_are_open),
		CASE(every_moment_of_letting_go_is_sound),
		CASE(a_chunk_that_was_not_dropped_is_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
