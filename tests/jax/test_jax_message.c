/* The XSpace of a message: any text gives one that readers accept. */
#include <dagtap/trace.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "jax/message.h"
#include "wire/proto_reader.h"

#define NS UINT64_C(1795716294883474587)

/* The first field NUMBER of the message at BYTES. */
static struct proto_field find(const void *bytes, size_t size, uint32_t number)
{
	struct proto_reader reader = proto_reader_of(bytes, size);
	struct proto_field field;
	int got;

	while ((got = proto_reader_next(&reader, &field)) > 0) {
		if (field.number == number)
			return field;
	}
	fail_msg("no field %u", number);
	return field;
}

static struct proto_field inside(struct proto_field field, uint32_t number)
{
	return find(field.bytes, field.size, number);
}

static void assert_text(struct proto_field field, const char *text)
{
	assert_int_equal(field.size, strlen(text));
	assert_memory_equal(field.bytes, text, field.size);
}

static void expect_message(const char *text, const char *expected)
{
	uint8_t *room = malloc(MESSAGE_BYTES);
	size_t bytes = message_xspace(text, NS, NS + 5, room);
	struct proto_field plane, line, event, name;

	assert_true(bytes <= MESSAGE_BYTES);
	plane = find(room, bytes, 1);
	assert_ptr_equal(plane.bytes + plane.size, room + bytes);
	assert_text(inside(plane, 2), "/host:ROCTRACER");
	line = inside(plane, 3);
	assert_text(inside(line, 2), "dagtap messages");
	assert_int_equal(inside(line, 3).value, NS);
	event = inside(line, 4);
	assert_int_equal(inside(event, 1).value, 1);
	assert_int_equal(inside(event, 2).value, 0);
	assert_int_equal(inside(event, 3).value, 5000);
	name = inside(inside(plane, 4), 2);
	assert_int_equal(inside(name, 1).value, 1);
	assert_text(inside(name, 2), expected);
	free(room);
}

static void texts_of_all_lengths(void **state)
{
	char text[MESSAGE_TEXT_BYTES];

	for (size_t bytes = 0; bytes < sizeof(text); bytes++) {
		memset(text, 'x', bytes);
		text[bytes] = '\0';
		expect_message(text, text);
	}
}

static void a_longer_text_is_cut_off(void **state)
{
	char text[2 * MESSAGE_TEXT_BYTES], cut[MESSAGE_TEXT_BYTES];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	memcpy(cut, text, sizeof(cut));
	cut[sizeof(cut) - 1] = '\0';
	expect_message(text, cut);
}

static void other_bytes_are_replaced(void **state)
{
	expect_message("a\xff\xc3\xa4z", "a???z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_of_all_lengths),
		cmocka_unit_test(a_longer_text_is_cut_off),
		cmocka_unit_test(other_bytes_are_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
