/* The writer of protocol buffers: encoding, nested messages, and errors of the output. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/proto.h"

static void expect_bytes(const struct proto *proto, const char *hex)
{
	char *text = calloc(proto->used + 1, 2);

	assert_non_null(text);
	assert_int_equal(proto->error, 0);
	for (size_t i = 0; i < proto->used; i++)
		snprintf(text + 2 * i, 3, "%02x", proto->bytes[i]);
	assert_string_equal(text, hex);
	free(text);
}

static int setup(void **state)
{
	struct proto *proto = malloc(sizeof(*proto));

	proto_init(proto);
	*state = proto;
	return 0;
}

static int teardown(void **state)
{
	proto_release(*state);
	free(*state);
	return 0;
}

/* The examples of the encoding guide. */
static void scalars_are_encoded_as_the_guide_says(void **state)
{
	struct proto *proto = *state;

	proto_put_u64(proto, 1, 150);
	expect_bytes(proto, "089601");
	proto_reset(proto);
	proto_put_text(proto, 2, "testing");
	expect_bytes(proto, "120774657374696e67");
	proto_reset(proto);
	proto_put_i64(proto, 1, -2);
	expect_bytes(proto, "08feffffffffffffffff01");
}

static void large_field_numbers_and_values(void **state)
{
	struct proto *proto = *state;

	proto_put_u64(proto, 3000, UINT64_MAX);
	expect_bytes(proto, "c0bb01ffffffffffffffffff01");
	proto_reset(proto);
	proto_put_fixed64(proto, 47, 0x0102030405060708);
	expect_bytes(proto, "f9020807060504030201");
	proto_reset(proto);
	proto_put_double(proto, 1, 1.0);
	expect_bytes(proto, "09000000000000f03f");
	proto_reset(proto);
	proto_put_bytes(proto, 1, NULL, 0);
	expect_bytes(proto, "0a00");
}

static void messages_nest(void **state)
{
	struct proto *proto = *state;
	size_t outer = proto_begin(proto, 3);
	size_t inner;

	proto_put_u64(proto, 1, 1);
	inner = proto_begin(proto, 2);
	proto_put_u64(proto, 1, 2);
	proto_end(proto, inner);
	proto_end(proto, proto_begin(proto, 4));
	proto_end(proto, outer);
	expect_bytes(proto, "1a08080112020802"
			    "2200");
}

/* Lengths of one, two and three bytes, at every level at once. */
static void long_messages_get_longer_lengths(void **state)
{
	struct proto *proto = *state;
	const size_t sizes[] = {0, 127, 128, 16383, 16384, 300000};
	char *text = calloc(1, 300001);

	memset(text, 'x', 300000);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t bytes = sizes[i];
		size_t inner_head = 1 + (bytes < 128 ? 1 : bytes < 16384 ? 2 : 3);
		size_t inner = inner_head + bytes;
		size_t outer_head = 1 + (inner < 128 ? 1 : inner < 16384 ? 2 : 3);
		size_t mark;

		proto_reset(proto);
		mark = proto_begin(proto, 1);
		proto_put_bytes(proto, 2, text, bytes);
		proto_end(proto, mark);
		assert_int_equal(proto->used, outer_head + inner);
		assert_int_equal(proto->bytes[0], 0x0a);
		assert_int_equal(proto->bytes[outer_head], 0x12);
		assert_memory_equal(proto->bytes + proto->used - bytes, text, bytes);
	}
	free(text);
}

static void text_that_is_not_utf8_is_repaired(void **state)
{
	struct proto *proto = *state;

	proto_put_text(proto, 1,
		       "a\xff"
		       "b");
	expect_bytes(proto, "0a0561efbfbd62");
}

static void write_frames_the_buffer_as_a_field(void **state)
{
	struct proto *proto = *state;
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	proto_put_u64(proto, 8, 5);
	assert_int_equal(proto_write(proto, 1, out), 0);
	fclose(out);
	assert_int_equal(bytes, 4);
	assert_memory_equal(text, "\x0a\x02\x40\x05", 4);
	free(text);
}

static void write_errors_are_reported(void **state)
{
	struct proto *proto = *state;
	FILE *full = fopen("/dev/full", "w");

	setbuf(full, NULL);
	proto_put_u64(proto, 1, 1);
	assert_int_equal(proto_write(proto, 1, full), -ENOSPC);
	fclose(full);
}

static void an_error_sticks(void **state)
{
	struct proto *proto = *state;
	FILE *out = fopen("/dev/null", "w");

	proto->error = -ENOMEM;
	proto_put_u64(proto, 1, 1);
	proto_end(proto, proto_begin(proto, 2));
	proto_put_text(proto, 1, "x\xff");
	assert_int_equal(proto->used, 0);
	assert_int_equal(proto_write(proto, 1, out), -ENOMEM);
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(scalars_are_encoded_as_the_guide_says, setup,
						teardown),
		cmocka_unit_test_setup_teardown(large_field_numbers_and_values, setup, teardown),
		cmocka_unit_test_setup_teardown(messages_nest, setup, teardown),
		cmocka_unit_test_setup_teardown(long_messages_get_longer_lengths, setup, teardown),
		cmocka_unit_test_setup_teardown(text_that_is_not_utf8_is_repaired, setup, teardown),
		cmocka_unit_test_setup_teardown(write_frames_the_buffer_as_a_field, setup,
						teardown),
		cmocka_unit_test_setup_teardown(write_errors_are_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(an_error_sticks, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
