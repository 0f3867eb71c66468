/* A reader whose chunks are read while they are checked finds what a checked one gives. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "spool_fixture.h"

#define WRITERS	       3
#define RECORDS	       5000
#define RECORD_SIZE    (sizeof(struct record_api) + 5 * 8)
#define STEP_BYTES_MAX ((size_t)WRITERS * RECORDS * RECORD_SIZE)

struct sample {
	struct fixture *fixture;
	unsigned char *bytes;
	size_t length;
};

/* What is read of a step, of which the sample has one. */
struct reading {
	unsigned chunks_most; /* stop after so many */
	int result;
	unsigned chunks;
	size_t bytes;
	unsigned char *records;
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
	for (uint64_t i = 0; i < RECORDS; i++)
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

static int read_step(void *reading_of_test, unsigned worker, uint32_t number,
		     struct spool_part *part)
{
	struct reading *reading = reading_of_test;
	struct spool_stretch stretch;

	assert_int_equal(number, 0);
	while (reading->chunks < reading->chunks_most && spool_part_next(part, &stretch)) {
		assert_true(reading->bytes + stretch.bytes <= 2 * STEP_BYTES_MAX);
		memcpy(reading->records + reading->bytes, stretch.records, stretch.bytes);
		reading->bytes += stretch.bytes;
		reading->chunks++;
	}
	return reading->result;
}

static struct spool_reader *open_unchecked(const struct sample *sample)
{
	struct spool_reader *reader = NULL;

	assert_int_equal(spool_reader_open_memory_unchecked(sample->bytes, sample->length, "sample",
							    &reader, NULL),
			 0);
	assert_false(spool_reader_is_checked(reader));
	return reader;
}

/* READER, which was checked while it was read, agrees with a reader that was checked alone. */
static void assert_as_checked(const struct sample *sample, const struct spool_reader *reader)
{
	struct spool_reader *checked = NULL;

	assert_true(spool_reader_is_checked(reader));
	assert_int_equal(
		spool_reader_open_memory(sample->bytes, sample->length, "sample", &checked, NULL),
		0);
	assert_memory_equal(spool_reader_ledger(reader), spool_reader_ledger(checked),
			    sizeof(struct spool_ledger));
	assert_int_equal(fixture_damage_count(reader), fixture_damage_count(checked));
	assert_int_equal(spool_reader_chunk_count(reader), spool_reader_chunk_count(checked));
	assert_int_equal(fixture_count(reader, RECORD_API), fixture_count(checked, RECORD_API));
	spool_reader_close(checked);
}

static void init_reading(struct reading *reading, unsigned chunks_most)
{
	*reading =
		(struct reading){.chunks_most = chunks_most, .records = malloc(2 * STEP_BYTES_MAX)};
	assert_non_null(reading->records);
}

static void chunks_are_read_in_the_order_of_the_file(void **state)
{
	struct sample *sample = *state;
	struct spool_reader *reader = open_unchecked(sample);
	struct reading reading;
	size_t at = 0;

	init_reading(&reading, UINT32_MAX);
	assert_int_equal(spool_reader_check(reader, read_step, &reading), 0);
	assert_as_checked(sample, reader);
	assert_int_equal(reading.chunks, spool_reader_chunk_count(reader));
	for (uint32_t i = 0; i < reading.chunks; i++) {
		struct spool_stretch stretch;

		spool_reader_stretch(reader, spool_reader_chunk_in_file(reader, i), &stretch);
		assert_memory_equal(reading.records + at, stretch.records, stretch.bytes);
		at += stretch.bytes;
	}
	assert_int_equal(reading.bytes, at);
	free(reading.records);
	spool_reader_close(reader);
}

static void chunks_that_are_not_read_are_checked(void **state)
{
	struct sample *sample = *state;
	struct spool_reader *reader = open_unchecked(sample);
	struct reading reading;

	init_reading(&reading, 2);
	sample->bytes[sample->length - SPOOL_CHUNK_BYTES + SPOOL_CHUNK_HEAD_BYTES + 100] ^= 1;
	assert_int_equal(spool_reader_check(reader, read_step, &reading), 0);
	assert_int_equal(fixture_damage_count(reader), 1);
	assert_as_checked(sample, reader);
	free(reading.records);
	spool_reader_close(reader);
}

static void damaged_chunk_has_no_bytes(void **state)
{
	struct sample *sample = *state;
	struct spool_reader *reader = open_unchecked(sample);
	struct reading reading;

	init_reading(&reading, 1);
	sample->bytes[SPOOL_CHUNK_OFFSET + SPOOL_CHUNK_HEAD_BYTES + 100] ^= 1;
	assert_int_equal(spool_reader_check(reader, read_step, &reading), 0);
	assert_int_equal(reading.chunks, 1);
	assert_int_equal(reading.bytes, 0);
	assert_as_checked(sample, reader);
	free(reading.records);
	spool_reader_close(reader);
}

static void chunk_twice_is_reported_to_who_read_it(void **state)
{
	struct sample *sample = *state;
	struct spool_reader *reader;
	struct reading reading;

	init_reading(&reading, UINT32_MAX);
	sample->bytes = realloc(sample->bytes, sample->length + SPOOL_CHUNK_BYTES);
	memcpy(sample->bytes + sample->length, sample->bytes + SPOOL_CHUNK_OFFSET,
	       SPOOL_CHUNK_BYTES);
	sample->length += SPOOL_CHUNK_BYTES;
	reader = open_unchecked(sample);
	assert_int_equal(spool_reader_check(reader, read_step, &reading), 1);
	assert_int_equal(reading.chunks, spool_reader_chunk_count(reader) + 1);
	assert_as_checked(sample, reader);
	free(reading.records);
	spool_reader_close(reader);
}

static void error_of_the_reading_is_returned(void **state)
{
	struct spool_reader *reader = open_unchecked(*state);
	struct reading reading;

	init_reading(&reading, 1);
	reading.result = -E2BIG;
	assert_int_equal(spool_reader_check(reader, read_step, &reading), -E2BIG);
	assert_false(spool_reader_is_checked(reader));
	free(reading.records);
	spool_reader_close(reader);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(chunks_are_read_in_the_order_of_the_file),
		CASE(chunks_that_are_not_read_are_checked),
		CASE(damaged_chunk_has_no_bytes),
		CASE(chunk_twice_is_reported_to_who_read_it),
		CASE(error_of_the_reading_is_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
