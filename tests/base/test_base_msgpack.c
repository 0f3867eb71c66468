/* The MessagePack reader: each form of a value, and bytes that end too early. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/msgpack.h"

static struct msgpack reader_of(const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	return (struct msgpack){.at = at, .end = at + size};
}

/* Reads one value from BYTES, and fails unless it takes all of them. */
#define TAKE(bytes) take((bytes), sizeof(bytes) - 1)

static struct msgpack_value take(const char *bytes, size_t size)
{
	struct msgpack reader = reader_of(bytes, size);
	struct msgpack_value value = msgpack_take(&reader);

	assert_false(reader.is_broken);
	assert_ptr_equal(reader.at, reader.end);
	return value;
}

static void reads_numbers(void **state)
{
	assert_int_equal(TAKE("\x7f").type, MSGPACK_NUMBER);
	assert_int_equal(TAKE("\x7f").number, 0x7f);
	assert_int_equal(TAKE("\xcc\xfe").number, 0xfe);
	assert_int_equal(TAKE("\xcd\x12\x34").number, 0x1234);
	assert_int_equal(TAKE("\xce\x12\x34\x56\x78").number, 0x12345678);
	assert_true(TAKE("\xcf\x12\x34\x56\x78\x9a\xbc\xde\xf0").number == 0x123456789abcdef0);
	assert_int_equal(TAKE("\xcf\x12\x34\x56\x78\x9a\xbc\xde\xf0").type, MSGPACK_NUMBER);
}

static void reads_texts(void **state)
{
	const struct msgpack_value fixed = TAKE("\xa3one");
	const struct msgpack_value one = TAKE("\xd9\x03two");
	const struct msgpack_value two = TAKE("\xda\x00\x05three");
	const struct msgpack_value four = TAKE("\xdb\x00\x00\x00\x04"
					       "four");

	assert_true(msgpack_is_text(&fixed, "one"));
	assert_false(msgpack_is_text(&fixed, "on"));
	assert_false(msgpack_is_text(&fixed, "ones"));
	assert_true(msgpack_is_text(&one, "two"));
	assert_true(msgpack_is_text(&two, "three"));
	assert_true(msgpack_is_text(&four, "four"));
}

static void reads_the_heads_of_arrays_and_maps(void **state)
{
	assert_int_equal(TAKE("\x95").type, MSGPACK_ARRAY);
	assert_int_equal(TAKE("\x95").number, 5);
	assert_int_equal(TAKE("\xdc\x01\x02").type, MSGPACK_ARRAY);
	assert_int_equal(TAKE("\xdc\x01\x02").number, 0x102);
	assert_int_equal(TAKE("\xdd\x01\x02\x03\x04").number, 0x1020304);
	assert_int_equal(TAKE("\x83").type, MSGPACK_MAP);
	assert_int_equal(TAKE("\x83").number, 3);
	assert_int_equal(TAKE("\xde\x01\x02").type, MSGPACK_MAP);
	assert_int_equal(TAKE("\xdf\x01\x02\x03\x04").number, 0x1020304);
}

static void skips_other_values(void **state)
{
	assert_int_equal(TAKE("\xc0").type, MSGPACK_OTHER);
	assert_int_equal(TAKE("\xc3").type, MSGPACK_OTHER);
	assert_int_equal(TAKE("\xff").type, MSGPACK_OTHER);
	TAKE("\xc4\x02..");
	TAKE("\xc5\x00\x02..");
	TAKE("\xc6\x00\x00\x00\x02..");
	TAKE("\xc7\x02t..");
	TAKE("\xc8\x00\x02t..");
	TAKE("\xc9\x00\x00\x00\x02t..");
	TAKE("\xca....");
	TAKE("\xcb........");
	TAKE("\xd0.");
	TAKE("\xd1..");
	TAKE("\xd2....");
	TAKE("\xd3........");
	TAKE("\xd4t.");
	TAKE("\xd5t..");
	TAKE("\xd6t....");
	TAKE("\xd7t........");
	TAKE("\xd8t................");
}

static void finds_a_key_behind_nested_values(void **state)
{
	static const char bytes[] = "\x83\xa1"
				    "a\x92\x01\x81\xa1k\xc0\xa1"
				    "b\x05\xa1"
				    "c\x06";
	struct msgpack map = reader_of(bytes, sizeof(bytes) - 1), value = {0};

	assert_true(msgpack_find(&map, "b", &value));
	assert_int_equal(msgpack_take(&value).number, 5);
	assert_false(msgpack_find(&map, "k", &value));
	msgpack_skip(&map);
	assert_ptr_equal(map.at, map.end);
	assert_false(map.is_broken);
}

/* Each prefix of a map is broken, and nothing behind it is read. */
static void a_cut_value_is_broken(void **state)
{
	static const char bytes[] = "\x82\xa1"
				    "a\xcd\x01\x02\xa1"
				    "b\xc7\x01t.";

	for (size_t size = 0; size < sizeof(bytes) - 1; size++) {
		struct msgpack map = reader_of(bytes, size), value;

		assert_false(msgpack_find(&map, "z", &value));
		msgpack_skip(&map);
		assert_true(map.is_broken);
		assert_true(map.at <= map.end);
	}
}

static void deep_nesting_is_broken(void **state)
{
	uint8_t bytes[1000];
	struct msgpack reader = reader_of(bytes, sizeof(bytes));

	memset(bytes, 0x91, sizeof(bytes));
	msgpack_skip(&reader);
	assert_true(reader.is_broken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_numbers),
		cmocka_unit_test(reads_texts),
		cmocka_unit_test(reads_the_heads_of_arrays_and_maps),
		cmocka_unit_test(skips_other_values),
		cmocka_unit_test(finds_a_key_behind_nested_values),
		cmocka_unit_test(a_cut_value_is_broken),
		cmocka_unit_test(deep_nesting_is_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
