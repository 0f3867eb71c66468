/* Amounts are parsed as people write them, with units, and printed again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/amount.h"

static void bytes_end_where_they_end(void **state)
{
	const char *both = "64M,30s";
	uint64_t bytes = 0;

	assert_ptr_equal(amount_bytes(both, &bytes), both + 3);
	assert_int_equal(bytes, 64 << 20);
	assert_string_equal(amount_bytes("17179869183G", &bytes), "");
	assert_int_equal(bytes, (uint64_t)17179869183 << 30);
	assert_string_equal(amount_bytes("0", &bytes), "");
	assert_int_equal(bytes, 0);
}

static void what_is_no_amount_is_refused(void **state)
{
	const char *const texts[] = {
		"",
		"M",
		"-1",
		"+1",
		" 1",
		"1 ",
		"1T",
		"1MM",
		"0x1",
		"0s",
		"0M",
		"1,",
		",1s",
		"1M,0s",
		"1M,1",
		"1M,-1s",
		"1s,",
		"1s1s",
		"1sM",
		"1s,1M",
		"17179869184G,1s",
		"18446744073709551616",
		"18446744074s",
		"1M, 1s",
	};
	uint64_t bytes, ns;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (amount_size_and_age(texts[i], &bytes, &ns))
			fail_msg("\"%s\" is taken for an amount", texts[i]);
}

static void a_size_an_age_or_both(void **state)
{
	uint64_t bytes = 1, ns = 1;

	assert_true(amount_size_and_age("30s", &bytes, &ns));
	assert_int_equal(bytes, 0);
	assert_int_equal(ns, 30000000000);
	assert_true(amount_size_and_age("04k", &bytes, &ns));
	assert_int_equal(bytes, 4096);
	assert_int_equal(ns, 0);
	assert_true(amount_size_and_age("2g,1s", &bytes, &ns));
	assert_int_equal(bytes, (uint64_t)2 << 30);
	assert_int_equal(ns, 1000000000);
}

static void seconds_may_have_a_fraction(void **state)
{
	const struct {
		const char *text;
		uint64_t ns;
	} right[] = {
		{"0", 0},
		{"5", 5000000000},
		{"5s", 5000000000},
		{"0.25", 250000000},
		{"1.5s", 1500000000},
		{"0.000000001", 1},
		{"0.0000000019", 1},
		{"18446744072", 18446744072000000000u},
	};
	const char *const wrong[] = {"",    "s",   ".5", "1.",		"-1",
				     "+1",  " 1",  "1 ", "1.s",		"1.5ms",
				     "1e3", "1,5", "1m", "18446744074", "99999999999999999999"};
	uint64_t ns = 7;

	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
		assert_true(amount_seconds(right[i].text, &ns));
		assert_true(ns == right[i].ns);
	}
	ns = 7;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (amount_seconds(wrong[i], &ns))
			fail_msg("\"%s\" is taken for seconds", wrong[i]);
	assert_true(ns == 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_end_where_they_end),
		cmocka_unit_test(what_is_no_amount_is_refused),
		cmocka_unit_test(a_size_an_age_or_both),
		cmocka_unit_test(seconds_may_have_a_fraction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
