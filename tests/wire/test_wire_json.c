/* The JSON writer: layout, escaping, numbers, and wrong uses that it refuses. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/json.h"

struct fixture {
	struct json json;
	FILE *out;
	char *text;
	size_t bytes;
};

static void begin(struct fixture *fixture)
{
	fixture->out = open_memstream(&fixture->text, &fixture->bytes);
	assert_non_null(fixture->out);
	json_init(&fixture->json, fixture->out);
}

static void expect(struct fixture *fixture, const char *text)
{
	assert_int_equal(json_finish(&fixture->json), 0);
	fclose(fixture->out);
	assert_string_equal(fixture->text, text);
	free(fixture->text);
}

static void expect_misuse(struct fixture *fixture)
{
	assert_int_equal(json_finish(&fixture->json), -EINVAL);
	fclose(fixture->out);
	free(fixture->text);
}

static void objects_and_arrays_nest_with_indentation(void **state)
{
	struct fixture f;

	begin(&f);
	json_object_begin(&f.json);
	json_put_u64(&f.json, "kernels", UINT64_MAX);
	json_put_i64(&f.json, "least", INT64_MIN);
	json_put_bool(&f.json, "ok", true);
	json_key(&f.json, "names");
	json_array_begin(&f.json);
	json_text(&f.json, "a");
	json_null(&f.json);
	json_text(&f.json, NULL);
	json_array_end(&f.json);
	json_key(&f.json, "none");
	json_array_begin(&f.json);
	json_array_end(&f.json);
	json_object_end(&f.json);
	expect(&f, "{\n"
		   "  \"kernels\": 18446744073709551615,\n"
		   "  \"least\": -9223372036854775808,\n"
		   "  \"ok\": true,\n"
		   "  \"names\": [\n    \"a\",\n    null,\n    null\n  ],\n"
		   "  \"none\": []\n"
		   "}\n");
}

static void rows_stay_on_one_line(void **state)
{
	struct fixture f;

	begin(&f);
	json_array_begin(&f.json);
	for (int i = 0; i < 2; i++) {
		json_row_begin(&f.json);
		json_put_i64(&f.json, "id", i);
		json_key(&f.json, "dropped");
		json_row_begin(&f.json);
		json_object_end(&f.json);
		json_key(&f.json, "grid");
		json_array_begin(&f.json);
		json_u64(&f.json, 1);
		json_u64(&f.json, 2);
		json_array_end(&f.json);
		json_object_end(&f.json);
	}
	json_array_end(&f.json);
	expect(&f, "[\n"
		   "  {\"id\": 0, \"dropped\": {}, \"grid\": [1, 2]},\n"
		   "  {\"id\": 1, \"dropped\": {}, \"grid\": [1, 2]}\n"
		   "]\n");
}

static void text_is_escaped_and_always_utf8(void **state)
{
	struct fixture f;

	begin(&f);
	json_text(&f.json, "q\" b\\ n\n t\t e\x1b \xc3\xa9 \xf0\x9f\x98\x80 bad\xff\xc3 "
			   "over\xc0\xaf half\xed\xa0\x80");
	expect(&f, "\"q\\\" b\\\\ n\\n t\\t e\\u001b \xc3\xa9 \xf0\x9f\x98\x80 "
		   "bad\xef\xbf\xbd\xef\xbf\xbd over\xef\xbf\xbd\xef\xbf\xbd "
		   "half\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n");
}

static void text_may_hold_a_zero_byte(void **state)
{
	struct fixture f;

	begin(&f);
	json_text_n(&f.json, "a\0b", 3);
	expect(&f, "\"a\\u0000b\"\n");
}

static void doubles_read_back_as_they_were(void **state)
{
	const double values[] = {0.1, 1e300, -2.5, 1.0 / 3.0, 12345678.25};
	struct fixture f;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		begin(&f);
		json_double(&f.json, values[i]);
		assert_int_equal(json_finish(&f.json), 0);
		fclose(f.out);
		assert_true(strtod(f.text, NULL) == values[i]);
		free(f.text);
	}
}

static void doubles_that_json_has_not_are_null(void **state)
{
	struct fixture f;

	begin(&f);
	json_array_begin(&f.json);
	json_double(&f.json, (double)NAN);
	json_double(&f.json, (double)INFINITY);
	json_double(&f.json, 0.1);
	json_array_end(&f.json);
	expect(&f, "[\n  null,\n  null,\n  0.1\n]\n");
}

static void value_without_key_is_refused(void **state)
{
	struct fixture f;

	begin(&f);
	json_object_begin(&f.json);
	json_u64(&f.json, 1);
	json_object_end(&f.json);
	expect_misuse(&f);
}

static void key_without_value_is_refused(void **state)
{
	struct fixture f;

	begin(&f);
	json_object_begin(&f.json);
	json_key(&f.json, "a");
	json_object_end(&f.json);
	expect_misuse(&f);
}

static void key_in_an_array_is_refused(void **state)
{
	struct fixture f;

	begin(&f);
	json_array_begin(&f.json);
	json_key(&f.json, "a");
	json_array_end(&f.json);
	expect_misuse(&f);
}

static void wrong_end_is_refused(void **state)
{
	struct fixture f;

	begin(&f);
	json_array_begin(&f.json);
	json_object_end(&f.json);
	expect_misuse(&f);
}

static void missing_end_is_refused(void **state)
{
	struct fixture f;

	begin(&f);
	json_array_begin(&f.json);
	expect_misuse(&f);
}

static void two_roots_are_refused(void **state)
{
	struct fixture f;

	begin(&f);
	json_u64(&f.json, 1);
	json_u64(&f.json, 2);
	expect_misuse(&f);
}

static void nesting_is_bounded(void **state)
{
	struct fixture f;

	begin(&f);
	for (int i = 0; i < JSON_DEPTH_MAX; i++)
		json_array_begin(&f.json);
	assert_int_equal(f.json.error, 0);
	json_array_begin(&f.json);
	expect_misuse(&f);
}

static void write_errors_are_reported(void **state)
{
	struct json json;
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	json_init(&json, full);
	json_text(&json, "x");
	assert_int_equal(json_finish(&json), -ENOSPC);
	fclose(full);
}

/*
 * json_quote gives what the JSON writer writes. Bytes that need the longest escape fill
 * JSON_QUOTED_BYTES exactly, and never more.
 */
static void quoted_text_is_what_the_writer_writes(void **state)
{
	const char text[] = "a\"\\\n\x01\xff\xc3\xa9";
	char quoted[JSON_QUOTED_BYTES(sizeof(text) - 1) + 2];
	char most[JSON_QUOTED_BYTES(3)];
	struct fixture f;
	size_t bytes = json_quote(text, sizeof(text) - 1, quoted);

	memcpy(quoted + bytes, "\n", 2);
	begin(&f);
	json_text_n(&f.json, text, sizeof(text) - 1);
	expect(&f, quoted);
	assert_int_equal(json_quote("\x01\x02\x03", 3, most), sizeof(most));
	assert_int_equal(json_quote("", 0, most), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_and_arrays_nest_with_indentation),
		cmocka_unit_test(rows_stay_on_one_line),
		cmocka_unit_test(text_is_escaped_and_always_utf8),
		cmocka_unit_test(text_may_hold_a_zero_byte),
		cmocka_unit_test(quoted_text_is_what_the_writer_writes),
		cmocka_unit_test(doubles_read_back_as_they_were),
		cmocka_unit_test(doubles_that_json_has_not_are_null),
		cmocka_unit_test(value_without_key_is_refused),
		cmocka_unit_test(key_without_value_is_refused),
		cmocka_unit_test(key_in_an_array_is_refused),
		cmocka_unit_test(wrong_end_is_refused),
		cmocka_unit_test(missing_end_is_refused),
		cmocka_unit_test(two_roots_are_refused),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(write_errors_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
