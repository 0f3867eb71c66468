/* The encoding of FlatBuffers: bytes that are worked out by hand from its rules. What other readers
 * make of whole messages is in tests/conformance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/flatbuffer.h"

static void expect(struct flatbuffer *message, uint32_t root, const void *bytes, size_t count)
{
	size_t size;
	const void *written = flatbuffer_finish(message, root, &size);

	assert_non_null(written);
	assert_int_equal(size, count);
	assert_memory_equal(written, bytes, count);
	flatbuffer_release(message);
}

static void table_has_its_fields(void **state)
{
	struct flatbuffer message = {0};
	static const uint8_t expected[] = {
		16,   0,    0,	  0,	/* the root is 16 bytes on */
		0,    0,    0,	  0,	/* all must be a multiple of 8 */
		8,    0,    8,	  0,	/* the sizes of vtable and table */
		0,    0,    4,	  0,	/* no field 0; field 1 is at 4 */
		8,    0,    0,	  0,	/* the table: its vtable is 8 bytes before */
		0x78, 0x56, 0x34, 0x12, /* field 1 */
	};

	flatbuffer_begin(&message);
	flatbuffer_number(&message, 0, 0, 8); /* the default is left out */
	flatbuffer_number(&message, 1, 0x12345678, 4);
	expect(&message, flatbuffer_end(&message), expected, sizeof(expected));
}

static void strings_end_with_zero(void **state)
{
	struct flatbuffer message = {0};
	uint32_t text = flatbuffer_string(&message, "abc", 3);
	static const uint8_t expected[] = {
		16,  0,	  0,   0, /* the root is 16 bytes on */
		0,   0,	  0,   0, /* padding */
		0,   0,	  6,   0, /* padding, 2 bytes; the size of the vtable */
		8,   0,	  4,   0, /* the size of the table; field 0 is at 4 */
		6,   0,	  0,   0, /* the table: its vtable is 6 bytes before */
		4,   0,	  0,   0, /* field 0: the text is 4 bytes on */
		3,   0,	  0,   0, /* its bytes */
		'a', 'b', 'c', 0,
	};

	flatbuffer_begin(&message);
	flatbuffer_place(&message, 0, text);
	expect(&message, flatbuffer_end(&message), expected, sizeof(expected));
}

/* The numbers of structs with 8 bytes are at multiples of 8, whatever comes before and behind. */
static void vectors_are_aligned(void **state)
{
	const uint64_t structs[] = {1, 2, 3, 4};
	struct flatbuffer message = {0};

	for (size_t length = 0; length < 9; length++) {
		uint32_t text, vector, root;
		const uint8_t *bytes;
		size_t size, at;

		flatbuffer_restart(&message);
		text = flatbuffer_string(&message, "12345678", length);
		vector = flatbuffer_structs(&message, structs, 2, 16);
		flatbuffer_begin(&message);
		flatbuffer_place(&message, 0, vector);
		flatbuffer_place(&message, 1, text);
		root = flatbuffer_end(&message);
		bytes = flatbuffer_finish(&message, root, &size);
		assert_non_null(bytes);
		at = size - vector + 4;
		assert_int_equal(size % 8, 0);
		assert_int_equal(at % 8, 0);
		assert_int_equal(bytes[at - 4], 2);
		assert_memory_equal(bytes + at, structs, sizeof(structs));
	}
	flatbuffer_release(&message);
}

/* Places stay right when the memory grows. */
static void large_messages_grow(void **state)
{
	enum { COUNT = 1000 };
	struct flatbuffer message = {0};
	uint32_t places[COUNT], vector, root;
	const uint8_t *bytes;
	size_t size;

	for (uint32_t i = 0; i < COUNT; i++)
		places[i] = flatbuffer_string(&message, "some text", 9);
	vector = flatbuffer_places(&message, places, COUNT);
	flatbuffer_begin(&message);
	flatbuffer_place(&message, 0, vector);
	root = flatbuffer_end(&message);
	bytes = flatbuffer_finish(&message, root, &size);
	assert_non_null(bytes);
	for (uint32_t i = 0; i < COUNT; i++) {
		size_t at = size - vector + 4 + (size_t)4 * i;
		uint32_t distance;

		memcpy(&distance, bytes + at, sizeof(distance));
		assert_string_equal((const char *)bytes + at + distance + 4, "some text");
	}
	flatbuffer_release(&message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_has_its_fields),
		cmocka_unit_test(strings_end_with_zero),
		cmocka_unit_test(vectors_are_aligned),
		cmocka_unit_test(large_messages_grow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
