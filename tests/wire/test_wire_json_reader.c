/* The JSON reader: tokens from pieces of any size, and where the reader stops. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../launched.h"
#include "wire/json_reader.h"

/* The tokens as text, strings in quotes. */
struct reading {
	const char *text;
	size_t size, used, piece;
	char seen[4096];
	size_t seen_bytes;
	const char *give_up_at;
};

static bool see_bytes(struct reading *reading, const char *format, const char *text, size_t bytes)
{
	reading->seen_bytes += (size_t)snprintf(reading->seen + reading->seen_bytes,
						sizeof(reading->seen) - reading->seen_bytes, format,
						(int)bytes, text);
	return !reading->give_up_at || strlen(reading->give_up_at) != bytes ||
	       memcmp(text, reading->give_up_at, bytes) != 0;
}

static bool see(struct reading *reading, const char *format, const char *text)
{
	return see_bytes(reading, format, text, strlen(text));
}

static bool on_begin(void *context, bool is_object)
{
	return see(context, "%.*s ", is_object ? "{" : "[");
}

static bool on_end(void *context, bool is_object)
{
	return see(context, "%.*s ", is_object ? "}" : "]");
}

static bool on_key(void *context, const char *text, size_t bytes)
{
	return see_bytes(context, "%.*s: ", text, bytes);
}

static bool on_text(void *context, const char *text, size_t bytes)
{
	return see_bytes(context, "\"%.*s\" ", text, bytes);
}

static bool on_number(void *context, const char *text, size_t bytes)
{
	return see_bytes(context, "%.*s ", text, bytes);
}

static bool on_literal(void *context, const char *text)
{
	return see(context, "%.*s ", text);
}

static size_t on_next(void *context, const char **ret_piece)
{
	struct reading *reading = context;
	size_t left = reading->size - reading->used;
	size_t bytes = left < reading->piece ? left : reading->piece;

	*ret_piece = reading->text + reading->used;
	reading->used += bytes;
	return bytes;
}

static const struct json_handler handler = {on_begin,  on_end,	   on_key, on_text,
					    on_number, on_literal, on_next};

static int read_text(struct reading *reading, const char *text, size_t piece,
		     struct json_stop *ret_stop)
{
	*reading = (struct reading){.text = text, .size = strlen(text), .piece = piece};
	return json_read(&handler, reading, ret_stop);
}

static void tokens_from_any_pieces(void **state)
{
	static const char text[] = " {\"a\\n\": [1, -2.50e+3, true, false, null, {}],\n"
				   "\"\\u00e9\": \"x\\\"\\\\\xc3\xa9\"} ";
	static const char expected[] = "{ a\n: [ 1 -2.50e+3 true false null { } ] "
				       "\xc3\xa9: \"x\"\\\xc3\xa9\" } ";
	struct json_stop stop;
	struct reading reading;

	for (size_t piece = 1; piece < sizeof(text) + 1; piece++) {
		assert_int_equal(read_text(&reading, text, piece, &stop), 0);
		assert_string_equal(reading.seen, expected);
	}
}

/* Numbers of any length are handed over as their digits. */
static void long_numbers(void **state)
{
	struct json_stop stop;
	struct reading reading;

	assert_int_equal(read_text(&reading, "[4293868439749.373, 18446744073709551615]", 3, &stop),
			 0);
	assert_string_equal(reading.seen, "[ 4293868439749.373 18446744073709551615 ] ");
}

static void where_it_stops(void **state)
{
	static const struct {
		const char *text;
		uint64_t offset;
		bool is_cut_off;
	} cases[] = {
		{"", 0, true},		 {"[1, 2", 5, true},	   {"{\"a\": \"b", 8, true},
		{"[1 2]", 3, false},	 {"{\"a\" 1}", 5, false},  {"[1,]", 3, false},
		{"[1] 2", 4, false},	 {"[\"a\nb\"]", 3, false}, {"[01]", 2, false},
		{"[\"\\q\"]", 2, false},
	};
	struct json_stop stop;
	struct reading reading;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(read_text(&reading, cases[i].text, 2, &stop), -EBADMSG);
		assert_int_equal(stop.is_cut_off, cases[i].is_cut_off);
		assert_non_null(stop.cause);
		if (stop.offset != cases[i].offset)
			fail_msg("%s: %d", cases[i].text, (int)stop.offset);
	}
}

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	return *state ^= *state << 5;
}

/* Replaces a few bytes of a text, each by a byte that JSON gives a meaning or by any byte. */
static void spoil(char *text, size_t size, uint32_t *state)
{
	static const char bytes[] = "\"\\{}[]:,0123456789.-+eEutfn \t\x01";

	for (uint32_t left = next_random(state) % 4; left; left--) {
		uint32_t any = next_random(state);

		text[next_random(state) % size] =
			any % 8 ? bytes[any / 8 % (sizeof(bytes) - 1)] : (char)(any >> 8);
	}
}

/*
 * Tokens that lie in one piece are handed over from there, and RapidJSON does not even parse
 * numbers among them; in pieces of one byte no token does.
 */
static void pieces_do_not_matter(void **state)
{
	static const char sound[] =
		"{\"a\\u0000\\\"b\": [0, -0, 10, -1.5, 0.25, 1e5, 2.5E-3, 12345678901234567890123, "
		"1],"
		" \"\xc3\xa9 a text of some length, with \\\\ and \\ud83d\\ude00 in it\": \"\","
		"\"x\": {\"y\": [true, false, null, \"\\n\", 7.0]}, \"z\": -12.000001}";
	struct reading whole, pieces;
	struct json_stop stop = {0}, stop_of_pieces = {0};
	char text[sizeof(sound)];
	uint32_t random = (uint32_t)test_seed();

	for (int i = 0; i < 20000; i++) {
		int result;

		memcpy(text, sound, sizeof(sound));
		spoil(text, sizeof(sound) - 1, &random);
		whole = (struct reading){.text = text, .size = strlen(text), .piece = sizeof(text)};
		result = json_read(&handler, &whole, &stop);
		pieces = (struct reading){.text = text, .size = whole.size, .piece = 1 + i % 3};
		assert_int_equal(json_read(&handler, &pieces, &stop_of_pieces), result);
		assert_string_equal(pieces.seen, whole.seen);
		if (result == 0)
			continue;
		assert_int_equal(stop_of_pieces.offset, stop.offset);
		assert_string_equal(stop_of_pieces.cause, stop.cause);
		assert_int_equal(stop_of_pieces.is_cut_off, stop.is_cut_off);
	}
}

static void the_handler_gives_up(void **state)
{
	struct reading reading = {.text = "[1, 2, 3]", .size = 9, .piece = 9, .give_up_at = "2"};
	struct json_stop stop;

	assert_int_equal(json_read(&handler, &reading, &stop), -ECANCELED);
	assert_string_equal(reading.seen, "[ 1 2 ");
}

static bool drop_edge(void *context, bool is_object)
{
	return true;
}

static bool drop_text(void *context, const char *text, size_t bytes)
{
	return true;
}

static void deep_and_long(void **state)
{
	const struct json_handler drop = {drop_edge, drop_edge,	 drop_text, drop_text,
					  drop_text, on_literal, on_next};
	size_t size = JSON_TOKEN_MOST + 16;
	char *text = malloc(size);
	struct reading reading = {.text = text, .size = size, .piece = 1 << 20};
	struct json_stop stop;

	memset(text, '[', size);
	assert_int_equal(json_read(&drop, &reading, &stop), -EBADMSG);
	assert_false(stop.is_cut_off);
	assert_non_null(strstr(stop.cause, "nested"));
	memset(text, 'a', size);
	text[0] = '"';
	reading.used = 0;
	assert_int_equal(json_read(&drop, &reading, &stop), -EBADMSG);
	assert_false(stop.is_cut_off);
	assert_non_null(strstr(stop.cause, "64 MiB"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_from_any_pieces), cmocka_unit_test(long_numbers),
		cmocka_unit_test(where_it_stops),	  cmocka_unit_test(the_handler_gives_up),
		cmocka_unit_test(deep_and_long),	  cmocka_unit_test(pieces_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
