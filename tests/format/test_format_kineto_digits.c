/* The numbers of Kineto's rows are those that printf writes. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../launched.h"
#include "format/kineto/kineto_text.h"

#define NUMBERS 200000

static void check_number(uint64_t value)
{
	char expected[64], written[64];

	snprintf(expected, sizeof(expected), "%" PRIu64, value);
	*kineto_put_u64(written, value) = '\0';
	assert_string_equal(written, expected);
	snprintf(expected, sizeof(expected), "%" PRId64, (int64_t)value);
	*kineto_put_i64(written, (int64_t)value) = '\0';
	assert_string_equal(written, expected);
	snprintf(expected, sizeof(expected), "%" PRIu64 ".%03" PRIu64, value / 1000, value % 1000);
	*kineto_put_us(written, value) = '\0';
	assert_string_equal(written, expected);
	snprintf(expected, sizeof(expected), "\"0x%" PRIx64 "\"", value);
	*kineto_put_pointer(written, value) = '\0';
	assert_string_equal(written, expected);
	snprintf(expected, sizeof(expected), "%08" PRIu64, value % KINETO_DIGITS_VALUES);
	for (unsigned count = 1; count <= 8; count++) {
		*kineto_put_digits(written, (uint32_t)(value % KINETO_DIGITS_VALUES), count) = '\0';
		assert_string_equal(written, expected + 8 - count);
	}
}

/* The numbers around each power of ten and of two, and numbers of each length. */
static void numbers_are_those_of_printf(void **state)
{
	unsigned short seed[3] = {1, 2, (unsigned short)test_seed()};
	uint64_t power = 1;

	/* Up to the border between 19 and 20 digits. */
	for (int exponent = 0; exponent < 20; exponent++, power *= 10)
		for (uint64_t i = 0; i < 3; i++)
			check_number(power - 1 + i);
	for (int bit = 0; bit < 64; bit++)
		for (uint64_t i = 0; i < 3; i++)
			check_number((UINT64_C(1) << bit) - 1 + i);
	check_number(UINT64_MAX);
	for (int i = 0; i < NUMBERS; i++)
		check_number(((uint64_t)(uint32_t)jrand48(seed) << 32 | (uint32_t)jrand48(seed)) >>
			     (unsigned)nrand48(seed) % 64);
}

static void check_near(struct kineto_near *near, uint64_t value)
{
	char expected[64], written[64];

	snprintf(expected, sizeof(expected), "%" PRIu64, value);
	*kineto_put_near(near, written, value) = '\0';
	assert_string_equal(written, expected);
}

/* Whatever the number before was: none, one around each power of ten, one that is close. */
static void numbers_after_others_are_those_of_printf(void **state)
{
	unsigned short seed[3] = {3, 4, (unsigned short)test_seed()};
	struct kineto_near near = KINETO_NEAR;
	uint64_t value = 0, power = 1;

	check_near(&near, 0);
	for (int exponent = 0; exponent < 20; exponent++, power *= 10)
		for (uint64_t i = 0; i < 3; i++)
			check_near(&near, power - 1 + i);
	for (int i = 0; i < NUMBERS; i++) {
		if (nrand48(seed) % 16 == 0)
			value = ((uint64_t)(uint32_t)jrand48(seed) << 32 |
				 (uint32_t)jrand48(seed)) >>
				(unsigned)nrand48(seed) % 64;
		check_near(&near, value += (uint64_t)(nrand48(seed) % 1200 - 600));
	}
	check_near(&near, UINT64_MAX);
	check_near(&near, 999);
	check_near(&near, 1999);
}

static void check_time(struct kineto_out *out, int64_t ns)
{
	int64_t since = ns - out->origin_ns;
	uint64_t magnitude = since < 0 ? -(uint64_t)since : (uint64_t)since;
	char expected[64], written[64];

	snprintf(expected, sizeof(expected), "%s%" PRIu64 ".%03" PRIu64, since < 0 ? "-" : "",
		 magnitude / 1000, magnitude % 1000);
	*kineto_put_time(out, written, ns) = '\0';
	assert_string_equal(written, expected);
}

/* Times before and within the first second, at the borders of seconds, and far ahead. */
static void times_are_those_of_printf(void **state)
{
	static const int64_t origins[] = {0, 1234567890123, -987654321};
	const int64_t second = 1000000000;
	struct kineto_out out = {0};

	for (size_t i = 0; i < sizeof(origins) / sizeof(*origins); i++) {
		kineto_out_count_from(&out, origins[i]);
		for (int64_t at = -3 * second; at <= 12 * second; at += second / 4)
			for (int64_t step = -1; step <= 1; step++)
				check_time(&out, origins[i] + at + step);
		check_time(&out, origins[i] + INT64_C(4000000000000000001));
		check_time(&out, origins[i] + second);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_of_printf),
		cmocka_unit_test(numbers_after_others_are_those_of_printf),
		cmocka_unit_test(times_are_those_of_printf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
