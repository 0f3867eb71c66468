/*
 * Damaged, truncated, shuffled and foreign files: the reader reads what is valid and names what is
 * not.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/record_check.h"
#include "spool_fixture.h"

#define WRITERS		   3
#define RECORDS_PER_WRITER 4000

/* A closed spool in memory, of three writers with several chunks each. */
struct sample {
	struct fixture *fixture;
	unsigned char *bytes;
	size_t length;
};

static int setup(void **state)
{
	struct sample *sample = calloc(1, sizeof(*sample));
	struct writer *writers[WRITERS];
	struct spooler *spooler;
	void *fixture;

	if (fixture_setup(&fixture))
		return -1;
	sample->fixture = fixture;
	spooler = fixture_open_spool(sample->fixture);
	for (int w = 0; w < WRITERS; w++)
		writers[w] = fixture_writer(spooler, "sample");
	for (uint64_t i = 0; i < RECORDS_PER_WRITER; i++)
		for (int w = 0; w < WRITERS; w++)
			assert_true(fixture_put(writers[w], i, 5));
	assert_int_equal(spooler_close(spooler), 0);
	spooler_release(spooler);
	sample->bytes = fixture_bytes(sample->fixture, &sample->length);
	*state = sample;
	return 0;
}

static int teardown(void **state)
{
	struct sample *sample = *state;
	void *fixture = sample->fixture;

	free(sample->bytes);
	free(sample);
	return fixture_teardown(&fixture);
}

static struct spool_header *header_of(struct sample *sample)
{
	return (struct spool_header *)sample->bytes;
}

static struct spool_chunk *chunk_of(struct sample *sample, size_t place)
{
	return (struct spool_chunk *)(sample->bytes + SPOOL_CHUNK_OFFSET +
				      place * SPOOL_CHUNK_BYTES);
}

static size_t chunk_count(const struct sample *sample)
{
	return (sample->length - SPOOL_CHUNK_OFFSET) / SPOOL_CHUNK_BYTES;
}

static struct spool_reader *read_sample(struct sample *sample)
{
	struct dagtap_error error = {.message = ""};
	struct spool_reader *reader = NULL;

	if (spool_reader_open_memory(sample->bytes, sample->length, "sample", &reader, &error))
		fail_msg("%s", error.message);
	return reader;
}

static void assert_refused(const void *bytes, size_t length, uint64_t offset, const char *cause)
{
	struct dagtap_error error = {.message = ""};
	struct spool_reader *reader = NULL;

	assert_true(spool_reader_open_memory(bytes, length, "bad", &reader, &error) < 0);
	assert_null(reader);
	assert_int_equal(error.offset, offset);
	assert_non_null(strstr(error.message, "bad: offset"));
	if (!strstr(error.message, cause))
		fail_msg("\"%s\" does not say \"%s\"", error.message, cause);
	assert_null(strchr(error.message, '\n'));
}

static void assert_first_damage(const struct spool_reader *reader, enum spool_damage_kind kind,
				uint64_t offset)
{
	const struct spool_damage *damages;
	uint64_t total;
	size_t kept;

	damages = spool_reader_damages(reader, &kept, &total);
	assert_true(total > 0);
	assert_string_equal(spool_damage_text(damages[0].kind), spool_damage_text(kind));
	assert_int_equal(damages[0].offset, offset);
}

/* Changes the sample into the spool of a killed process: open, with unsealed chunks. */
static void make_open(struct sample *sample)
{
	atomic_store(&header_of(sample)->live.state, SPOOL_OPEN);
	for (size_t i = 0; i < chunk_count(sample); i++) {
		atomic_store(&chunk_of(sample, i)->state, SPOOL_CHUNK_OPEN);
		chunk_of(sample, i)->used_bytes = 0;
	}
}

/* ---- not a spool ---- */

static void other_files_are_refused(void **state)
{
	struct sample *sample = *state;
	static const char text[] __attribute__((aligned(8))) = "This is a text, not a spool.";

	assert_refused(NULL, 0, 0, "empty");
	assert_refused(text, sizeof(text), 0, "not a spool");
	memset(sample->bytes, 0, 8);
	assert_refused(sample->bytes, sample->length, 0, "not a spool");
	for (size_t i = 0; i < sample->length; i++)
		sample->bytes[i] = (unsigned char)(i * 2654435761u >> 7);
	assert_refused(sample->bytes, sample->length, 0, "not a spool");
}

static void other_versions_are_refused(void **state)
{
	static const struct {
		uint32_t version;
		const char *text;
	} others[] = {{SPOOL_VERSION - 1, "version 3"}, {SPOOL_VERSION + 1, "version 5"}};
	struct sample *sample = *state;

	for (size_t i = 0; i < 2; i++) {
		header_of(sample)->version = others[i].version;
		header_of(sample)->fixed_crc = spool_fixed_crc(header_of(sample));
		assert_refused(sample->bytes, sample->length, 8, others[i].text);
	}
}

static void sizes_of_another_build_are_refused(void **state)
{
	struct sample *sample = *state;

	header_of(sample)->chunk_bytes = 4096;
	header_of(sample)->fixed_crc = spool_fixed_crc(header_of(sample));
	assert_refused(sample->bytes, sample->length, 12, "sizes");
}

static void a_damaged_header_is_refused(void **state)
{
	struct sample *sample = *state;

	for (size_t at = 12; at < offsetof(struct spool_header, fixed_crc); at += 97) {
		sample->bytes[at] ^= 0x10;
		assert_refused(sample->bytes, sample->length, 0, "checksum");
		sample->bytes[at] ^= 0x10;
	}
}

static void a_file_without_its_head_is_refused(void **state)
{
	static const _Alignas(8) char other[] = "DAGTAPS?";
	struct sample *sample = *state;

	assert_refused(sample->bytes, 4, 4, "ends inside its header");
	assert_refused(other, 8, 0, "not a spool");
	assert_refused(sample->bytes, 100, 100, "ends inside its header");
	assert_refused(sample->bytes, SPOOL_CHUNK_OFFSET - 1, SPOOL_CHUNK_OFFSET - 1, "header");
}

static void files_that_cannot_be_opened_say_why(void **state)
{
	struct dagtap_error error;
	struct spool_reader *reader = NULL;

	assert_int_equal(spool_reader_open("/nowhere", &reader, &error), -ENOENT);
	assert_string_equal(error.message, "/nowhere: No such file or directory");
	assert_int_equal(spool_reader_open("/tmp", &reader, &error), -EISDIR);
	assert_null(reader);
}

/* ---- damage ---- */

static void a_flipped_byte_costs_its_chunk(void **state)
{
	struct sample *sample = *state;
	struct spool_reader *reader = read_sample(sample);
	uint64_t all = fixture_count(reader, RECORD_API);

	fixture_assert_sound(reader);
	assert_int_equal(all, WRITERS * RECORDS_PER_WRITER);
	spool_reader_close(reader);
	chunk_of(sample, 4)->records[1000] ^= 1;
	reader = read_sample(sample);
	assert_first_damage(reader, SPOOL_DAMAGE_CHUNK_SUM,
			    SPOOL_CHUNK_OFFSET + 4 * SPOOL_CHUNK_BYTES);
	assert_int_equal(fixture_damage_count(reader), 1);
	assert_int_equal(fixture_count(reader, RECORD_API) +
				 spool_reader_ledger(reader)->missing[RECORD_CLASS_API],
			 all);
	assert_true(spool_reader_ledger(reader)->missing[RECORD_CLASS_API] > 500);
	spool_reader_close(reader);
}

static void a_flipped_count_is_noticed(void **state)
{
	struct sample *sample = *state;
	struct spool_reader *reader;

	sample->bytes[SPOOL_HEADER_BYTES + SPOOL_WRITER_BYTES + 8] ^= 1;
	reader = read_sample(sample);
	assert_first_damage(reader, SPOOL_DAMAGE_COUNTS_SUM, SPOOL_LIVE_OFFSET);
	assert_int_equal(fixture_count(reader, RECORD_API), WRITERS * RECORDS_PER_WRITER);
	spool_reader_close(reader);
}

static void any_flipped_byte_is_survived(void **state)
{
	struct sample *sample = *state;
	uint64_t noticed = 0;

	for (size_t at = 0; at < sample->length; at += 4099) {
		struct spool_reader *reader = NULL;
		struct dagtap_error error;

		sample->bytes[at] ^= 0x40;
		if (spool_reader_open_memory(sample->bytes, sample->length, "flip", &reader,
					     &error)) {
			noticed++;
		} else {
			noticed += fixture_damage_count(reader) > 0;
			fixture_count(reader, RECORD_API);
			spool_reader_close(reader);
		}
		sample->bytes[at] ^= 0x40;
	}
	/* Flips in unused spool_writers, and behind the used bytes of a chunk, are not noticed. */
	assert_true(noticed > (sample->length - SPOOL_CHUNK_OFFSET) / 4099 / 2);
}

static void a_cut_tail_is_noticed(void **state)
{
	struct sample *sample = *state;
	size_t whole = sample->length;

	for (size_t cut = 1; cut < whole - SPOOL_CHUNK_OFFSET; cut += 30011) {
		struct spool_reader *reader;

		sample->length = whole - cut;
		reader = read_sample(sample);
		assert_first_damage(reader, SPOOL_DAMAGE_CUT, sample->length);
		fixture_count(reader, RECORD_API);
		spool_reader_close(reader);
	}
}

static void a_wiped_chunk_is_missing(void **state)
{
	struct sample *sample = *state;
	uint32_t writer = chunk_of(sample, 5)->writer;
	struct spool_reader *reader;

	memset(chunk_of(sample, 5), 0, SPOOL_CHUNK_BYTES);
	for (int open = 0; open < 2; open++) {
		const struct spool_damage *damages;
		uint64_t total;
		size_t kept;

		reader = read_sample(sample);
		damages = spool_reader_damages(reader, &kept, &total);
		assert_int_equal(total, 1);
		assert_int_equal(damages[0].kind, SPOOL_DAMAGE_MISSING);
		assert_int_equal(damages[0].writer, writer);
		assert_int_equal(damages[0].chunks, 1);
		assert_true(spool_reader_ledger(reader)->missing[RECORD_CLASS_API] > 500);
		spool_reader_close(reader);
		make_open(sample);
		memset(chunk_of(sample, 5), 0, SPOOL_CHUNK_BYTES);
	}
}

static void a_removed_chunk_is_missing(void **state)
{
	struct sample *sample = *state;
	struct spool_reader *reader;

	memmove(chunk_of(sample, 2), chunk_of(sample, 3),
		sample->length - SPOOL_CHUNK_OFFSET - (size_t)3 * SPOOL_CHUNK_BYTES);
	sample->length -= SPOOL_CHUNK_BYTES;
	reader = read_sample(sample);
	assert_first_damage(reader, SPOOL_DAMAGE_CUT, sample->length);
	assert_true(spool_reader_ledger(reader)->missing[RECORD_CLASS_API] > 500);
	spool_reader_close(reader);
}

static void a_chunk_twice_counts_once(void **state)
{
	struct sample *sample = *state;
	struct spool_reader *reader;

	sample->bytes = realloc(sample->bytes, sample->length + SPOOL_CHUNK_BYTES);
	memcpy(sample->bytes + sample->length, chunk_of(sample, 1), SPOOL_CHUNK_BYTES);
	sample->length += SPOOL_CHUNK_BYTES;
	reader = read_sample(sample);
	assert_first_damage(reader, SPOOL_DAMAGE_DUPLICATE, sample->length - SPOOL_CHUNK_BYTES);
	assert_int_equal(fixture_damage_count(reader), 1);
	assert_int_equal(fixture_count(reader, RECORD_API), WRITERS * RECORDS_PER_WRITER);
	spool_reader_close(reader);
}

static void a_foreign_chunk_is_left_out(void **state)
{
	struct sample *sample = *state;
	struct spool_reader *reader;

	chunk_of(sample, 3)->session_id++;
	reader = read_sample(sample);
	assert_first_damage(reader, SPOOL_DAMAGE_LABEL, SPOOL_CHUNK_OFFSET + 3 * SPOOL_CHUNK_BYTES);
	spool_reader_close(reader);
}

static void the_order_of_chunks_does_not_matter(void **state)
{
	struct sample *sample = *state;
	size_t count = chunk_count(sample);
	unsigned char *swap = malloc(SPOOL_CHUNK_BYTES);
	struct spool_reader *reader;
	struct spool_cursor cursor;
	struct spool_record record;

	for (size_t i = 0; i < count; i++) {
		size_t other = (i * 7 + 3) % count;

		memcpy(swap, chunk_of(sample, i), SPOOL_CHUNK_BYTES);
		memmove(chunk_of(sample, i), chunk_of(sample, other), SPOOL_CHUNK_BYTES);
		memcpy(chunk_of(sample, other), swap, SPOOL_CHUNK_BYTES);
	}
	free(swap);
	reader = read_sample(sample);
	fixture_assert_sound(reader);
	for (uint32_t w = 0; w < WRITERS; w++) {
		uint64_t next = 0;

		spool_cursor_init(&cursor, reader, w);
		while (spool_cursor_next(&cursor, &record))
			if (record.type == RECORD_API)
				assert_int_equal(((const struct record_api *)record.header)->cid,
						 next++);
		assert_int_equal(next, RECORDS_PER_WRITER);
	}
	spool_reader_close(reader);
}

/* ---- open spools, whose records no checksum protects ---- */

static void an_open_spool_is_sound(void **state)
{
	struct sample *sample = *state;
	struct spool_reader *reader;

	make_open(sample);
	reader = read_sample(sample);
	assert_false(spool_reader_info(reader)->closed);
	fixture_assert_sound(reader);
	assert_int_equal(fixture_count(reader, RECORD_API), WRITERS * RECORDS_PER_WRITER);
	spool_reader_close(reader);
}

static void assert_record_damage(struct sample *sample, const char *cause)
{
	struct spool_reader *reader = read_sample(sample);
	const struct spool_damage *damages;
	uint64_t total;
	size_t kept;

	damages = spool_reader_damages(reader, &kept, &total);
	assert_int_equal(total, 1);
	assert_int_equal(damages[0].kind, SPOOL_DAMAGE_RECORD);
	assert_string_equal(damages[0].cause, cause);
	fixture_count(reader, RECORD_API);
	spool_reader_close(reader);
}

static void records_that_make_no_sense_end_their_chunk(void **state)
{
	struct sample *sample = *state;
	struct record_header *first = (struct record_header *)chunk_of(sample, 0)->records;
	struct record_header *second = (struct record_header *)(chunk_of(sample, 0)->records +
								sizeof(struct record_thread));
	struct record_header saved = *second;

	make_open(sample);
	second->words = 0;
	assert_record_damage(sample, "record has no size");
	second->words = UINT16_MAX;
	assert_record_damage(sample, "record runs past the end of its chunk");
	second->words = 2;
	assert_record_damage(sample, "record is too short for its type");
	*second = saved;
	second->type = RECORD_NOTE;
	second->tag = UINT32_MAX;
	assert_record_damage(sample, "text runs past the end of its record");
	second->type = RECORD_SCOPE;
	((struct record_scope *)second)->text_bytes = UINT64_MAX - 7;
	assert_record_damage(sample, "text runs past the end of its record");
	second->words = sizeof(struct record_scope) / 8 + 1;
	((struct record_scope *)second)->text_bytes = 0;
	assert_record_damage(sample, "attributes run past the end of their record");
	second->words = (sizeof(struct record_scope) + sizeof(struct record_attribute)) / 8;
	((struct record_attribute *)((struct record_scope *)second)->text)->key_bytes = 1;
	assert_record_damage(sample, "attributes run past the end of their record");
	*second = saved;
	first->type = RECORD_END;
	assert_record_damage(sample, "chunk does not begin with its thread");
}

/* A type without a row would be cast to its struct whatever its size. */
static void every_type_has_a_least_size(void **state)
{
	for (int type = RECORD_NONE + 1; type < RECORD_TYPE_COUNT; type++)
		assert_true(record_shapes[type].least_bytes >= sizeof(struct record_header));
}

static void unknown_records_are_passed_over(void **state)
{
	struct sample *sample = *state;
	struct record_header *second = (struct record_header *)(chunk_of(sample, 0)->records +
								sizeof(struct record_thread));
	struct spool_reader *reader;

	make_open(sample);
	second->type = RECORD_TYPE_COUNT + 5;
	reader = read_sample(sample);
	assert_int_equal(fixture_damage_count(reader), 0);
	assert_int_equal(spool_reader_ledger(reader)->unknown, 1);
	assert_int_equal(fixture_count(reader, RECORD_API), WRITERS * RECORDS_PER_WRITER - 1);
	spool_reader_close(reader);
}

static void a_wiped_record_is_missed_by_its_writer(void **state)
{
	struct sample *sample = *state;
	struct spool_reader *reader;

	make_open(sample);
	memset(chunk_of(sample, 1)->records + 4800, 0, 800);
	reader = read_sample(sample);
	assert_int_equal(fixture_damage_count(reader), 1);
	assert_true(spool_reader_ledger(reader)->missing[RECORD_CLASS_API] > 0);
	spool_reader_close(reader);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(other_files_are_refused),
		CASE(other_versions_are_refused),
		CASE(sizes_of_another_build_are_refused),
		CASE(a_damaged_header_is_refused),
		CASE(a_file_without_its_head_is_refused),
		CASE(files_that_cannot_be_opened_say_why),
		CASE(a_flipped_byte_costs_its_chunk),
		CASE(a_flipped_count_is_noticed),
		CASE(any_flipped_byte_is_survived),
		CASE(a_cut_tail_is_noticed),
		CASE(a_wiped_chunk_is_missing),
		CASE(a_removed_chunk_is_missing),
		CASE(a_chunk_twice_counts_once),
		CASE(a_foreign_chunk_is_left_out),
		CASE(the_order_of_chunks_does_not_matter),
		CASE(an_open_spool_is_sound),
		CASE(records_that_make_no_sense_end_their_chunk),
		cmocka_unit_test(every_type_has_a_least_size),
		CASE(unknown_records_are_passed_over),
		CASE(a_wiped_record_is_missed_by_its_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
