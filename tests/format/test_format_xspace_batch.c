/* Events of a line, encoded by one thread and by several. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../launched.h"
#include "base/workers.h"
#include "format/xspace/xspace_batch.h"
#include "kept.h"
#include "proto_decode.h"

/* More than several batches of the most threads that a case uses. */
#define EVENTS 150000u

/* A line whose events follow from their number. */
struct line {
	uint32_t next, count;
	struct xspace_pieces pieces;
	const struct xspace_piece *shared;
};

static struct xspace_event event_of(uint32_t number)
{
	return (struct xspace_event){number % 300 + 1, UINT64_C(1000) * number, number % 7};
}

/* Between no byte and some more than one step of a copy; so some events are longer than the 127
 * bytes that one byte of length can say. */
static size_t own_bytes(uint32_t number)
{
	return number % 150;
}

static void gather(void *line_of_all, struct xspace_batch *batch)
{
	struct line *line = line_of_all;
	char own[150];

	for (; !xspace_batch_is_full(batch) && line->next < line->count; line->next++) {
		struct xspace_batch_event *event = xspace_batch_add(batch);

		memset(own, (int)(line->next & 0x7f), sizeof(own));
		*event = (struct xspace_batch_event){
			.head = event_of(line->next),
			.has_correlation = line->next % 3 != 0,
			.has_scope = line->next % 5 != 0,
			.correlation_id = line->next,
			.scope_id = UINT64_C(1) << (line->next % 64),
			.stats = {line->shared, &xspace_no_piece,
				  xspace_pieces_add(&batch->pieces, own, own_bytes(line->next)),
				  &xspace_no_piece},
		};
	}
}

/* Writes COUNT events between two other fields. Returns the first error. */
static int write_line(FILE *file, uint32_t count, uint64_t bytes_max)
{
	static const char shared[33] = "shared by all events of the line";
	struct line line = {.count = count};
	struct xspace_batches batches;
	struct xspace_out out;
	uint64_t mark;
	int err;

	line.shared = xspace_pieces_add(&line.pieces, shared, sizeof(shared));
	assert_int_equal(xspace_batches_init(&batches), 0);
	assert_int_equal(xspace_out_init(&out, file, bytes_max), 0);
	xspace_out_put_u64(&out, 1, 1);
	mark = xspace_out_begin(&out, XPLANE_LINES);
	xspace_batches_put(&batches, &out, gather, &line);
	xspace_out_end(&out, mark);
	xspace_out_put_u64(&out, 1, 2);
	err = xspace_out_finish(&out);
	xspace_out_release(&out);
	xspace_batches_release(&batches);
	xspace_pieces_release(&line.pieces);
	return err;
}

/* What is written with THREADS to a file without a descriptor. */
static struct message line_of(unsigned threads, uint32_t count)
{
	struct message message;
	char *bytes;
	FILE *file = open_memstream(&bytes, &message.size);

	workers_limit(threads);
	assert_int_equal(write_line(file, count, XSPACE_BYTES_MAX), 0);
	workers_limit(0);
	fclose(file);
	message.bytes = keep(bytes, free);
	return message;
}

static void assert_same(struct message a, struct message b)
{
	assert_int_equal(a.size, b.size);
	assert_memory_equal(a.bytes, b.bytes, a.size);
}

static void events_have_their_fields(void **state)
{
	const uint32_t count = 1000;
	struct message space = line_of(1, count), line = decode_message(&space, XPLANE_LINES);
	struct field field;

	for (uint32_t i = 0; i < count; i++) {
		struct xspace_event expected = event_of(i);
		struct message event;
		size_t beside = sizeof("shared by all events of the line") + own_bytes(i);

		assert_true(decode_find(&line, XLINE_EVENTS, i, &field));
		event = field.message;
		assert_true(event.size > beside);
		event.size -= beside;
		assert_int_equal(decode_number(&event, XEVENT_METADATA_ID), expected.metadata_id);
		assert_int_equal(decode_number(&event, XEVENT_OFFSET_PS), expected.offset_ps);
		assert_int_equal(decode_number(&event, XEVENT_DURATION_PS), expected.duration_ps);
		assert_int_equal(decode_find(&event, XEVENT_STATS, 0, &field),
				 i % 3 != 0 || i % 5 != 0);
	}
}

static void bytes_do_not_depend_on_threads(void **state)
{
	static const uint32_t counts[] = {1, 13, 157, 1885, 4096, 4097, 22621, EVENTS};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct message one = line_of(1, counts[i]);

		assert_same(line_of(2, counts[i]), one);
		assert_same(line_of(5, counts[i]), one);
	}
}

static void a_file_gets_the_same_bytes(void **state)
{
	struct message expected = line_of(1, EVENTS), found = {.size = expected.size + 1};
	uint8_t *bytes = keep(malloc(expected.size + 1), free);
	FILE *file = test_file();

	assert_non_null(file);
	assert_true(fputs("head", file) >= 0);
	workers_limit(3);
	assert_int_equal(write_line(file, EVENTS, XSPACE_BYTES_MAX), 0);
	workers_limit(0);
	assert_int_equal(ftello(file), 4 + (off_t)expected.size);
	assert_int_equal(fseeko(file, 4, SEEK_SET), 0);
	found.size = fread(bytes, 1, expected.size + 1, file);
	found.bytes = bytes;
	assert_same(found, expected);
	fclose(file);
}

static void the_first_error_is_kept(void **state)
{
	FILE *full = fopen("/dev/full", "w"), *file = test_file();

	assert_non_null(full);
	assert_non_null(file);
	workers_limit(3);
	assert_int_equal(write_line(full, EVENTS, XSPACE_BYTES_MAX), -ENOSPC);
	assert_int_equal(write_line(file, EVENTS, 2 << 20), -EFBIG);
	assert_int_equal(write_line(NULL, EVENTS, 2 << 20), -EFBIG);
	assert_int_equal(write_line(NULL, EVENTS, XSPACE_BYTES_MAX), 0);
	workers_limit(0);
	fclose(full);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		KEPT_CASE(events_have_their_fields),
		KEPT_CASE(bytes_do_not_depend_on_threads),
		KEPT_CASE(a_file_gets_the_same_bytes),
		KEPT_CASE(the_first_error_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
