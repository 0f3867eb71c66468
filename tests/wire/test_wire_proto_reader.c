/* The reader of protocol buffers: reads what the writer wrote, and refuses invalid input. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/proto.h"
#include "wire/proto_reader.h"

static void what_was_written_is_read(void **state)
{
	struct proto_reader reader;
	struct proto_field field;
	struct proto proto;
	size_t mark;

	proto_init(&proto);
	proto_put_u64(&proto, 1, 150);
	proto_put_i64(&proto, 2, -2);
	proto_put_double(&proto, 3, 0.25);
	mark = proto_begin(&proto, 536870911);
	proto_put_text(&proto, 5, "text");
	proto_end(&proto, mark);
	reader = proto_reader_of(proto.bytes, proto.used);
	assert_int_equal(proto_reader_next(&reader, &field), 1);
	assert_int_equal(field.number, 1);
	assert_int_equal(field.wire, PROTO_VARINT);
	assert_int_equal(field.value, 150);
	assert_int_equal(proto_reader_next(&reader, &field), 1);
	assert_true((int64_t)field.value == -2);
	assert_int_equal(proto_reader_next(&reader, &field), 1);
	assert_int_equal(field.wire, PROTO_FIXED64);
	assert_true(proto_field_double(&field) == 0.25);
	assert_int_equal(proto_reader_next(&reader, &field), 1);
	assert_int_equal(field.number, 536870911);
	assert_int_equal(proto_reader_next(&reader, &(struct proto_field){0}), 0);
	reader = proto_reader_into(&field);
	assert_int_equal(proto_reader_next(&reader, &field), 1);
	assert_int_equal(field.number, 5);
	assert_int_equal(field.size, 4);
	assert_memory_equal(field.bytes, "text", 4);
	assert_int_equal(proto_reader_next(&reader, &field), 0);
	proto_release(&proto);
}

static void a_fixed_field_of_four_bytes(void **state)
{
	static const uint8_t bytes[] = {0x0d, 0x78, 0x56, 0x34, 0x12};
	struct proto_reader reader = proto_reader_of(bytes, sizeof(bytes));
	struct proto_field field;

	assert_int_equal(proto_reader_next(&reader, &field), 1);
	assert_int_equal(field.wire, PROTO_FIXED32);
	assert_int_equal(field.value, 0x12345678);
	assert_int_equal(proto_reader_next(&reader, &field), 0);
}

/*
 * Copies BYTES to memory of exactly that size, so that AddressSanitizer detects a read behind it.
 */
static void expect_refused(const void *bytes, size_t size, size_t good)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct proto_reader reader;
	struct proto_field field;
	int got;

	memcpy(copy, bytes, size);
	reader = proto_reader_of(copy, size);
	while ((got = proto_reader_next(&reader, &field)) > 0)
		;
	assert_int_equal(got, -EBADMSG);
	assert_int_equal(reader.at - copy, good);
	free(copy);
}

static void every_cut_is_seen(void **state)
{
	static const uint8_t bytes[] = {0x88, 0x01, 0x96, 0x01}; /* field 17, varint 150 */
	static const uint8_t fixed[] = {0x09, 1, 2, 3, 4, 5, 6, 7, 8};
	static const uint8_t text[] = {0x12, 0x03, 'a', 'b', 'c'};

	for (size_t size = 1; size < sizeof(bytes); size++)
		expect_refused(bytes, size, 0);
	for (size_t size = 1; size < sizeof(fixed); size++)
		expect_refused(fixed, size, 0);
	for (size_t size = 1; size < sizeof(text); size++)
		expect_refused(text, size, 0);
}

static void what_is_not_well_formed(void **state)
{
	expect_refused("\x08\x01\x00\x01", 4, 2);			       /* field number 0 */
	expect_refused("\x0b\x0c", 2, 0);				       /* a group */
	expect_refused("\x0e", 1, 0);					       /* wire type 6 */
	expect_refused("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, 0); /* 65 bits */
	expect_refused("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, 0);
	expect_refused("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x", 12, 0); /* a huge length */
	expect_refused("\x80\x80\x80\x80\x10\x01", 6, 0); /* field number 2^29 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(a_fixed_field_of_four_bytes),
		cmocka_unit_test(every_cut_is_seen),
		cmocka_unit_test(what_is_not_well_formed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
