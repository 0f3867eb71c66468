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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_end_where_they_end),
		cmocka_unit_test(what_is_no_amount_is_refused),
		cmocka_unit_test(a_size_an_age_or_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
