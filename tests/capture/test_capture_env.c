/* The environment variables: defaults, units, the sizes of a ring, and what env_remember keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "capture/env.h"

static void unset_and_empty_mean_the_default(void **state)
{
	unsetenv("DAGTAP_READY");
	assert_string_equal(env_text(ENV_READY), "256M");
	setenv("DAGTAP_READY", "", 1);
	assert_string_equal(env_text(ENV_READY), "256M");
	assert_string_equal(env_text(ENV_LOG), "");
	assert_int_equal(env_bytes(ENV_READY, 1), 256 << 20);
}

static void sizes_have_units(void **state)
{
	const struct {
		const char *text;
		uint64_t bytes;
	} cases[] = {
		{"12345", 12345},
		{"64k", 65536},
		{"3M", 3145728},
		{"2g", 2147483648},
		{"", 268435456},
		{"0", 0},
		{"18446744073709551615", UINT64_MAX},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setenv("DAGTAP_READY", cases[i].text, 1);
		assert_int_equal(env_bytes(ENV_READY, 7), cases[i].bytes);
	}
}

static void nonsense_means_the_fallback(void **state)
{
	const char *const cases[] = {"M", "ten", "5T", "5MM", "5M ", "17179869185G"};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setenv("DAGTAP_READY", cases[i], 1);
		assert_int_equal(env_bytes(ENV_READY, 7), 7);
	}
}

static void a_ring_has_a_size_an_age_or_both(void **state)
{
	const struct {
		const char *text;
		uint64_t bytes, ns;
	} cases[] = {
		{"64M", 67108864, 0},
		{"30s", 0, 30000000000},
		{"4096,1s", 4096, 1000000000},
		{"1g,600s", 1073741824, 600000000000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t bytes = 1, ns = 1;

		setenv("DAGTAP_RING", cases[i].text, 1);
		assert_true(env_size_and_age(ENV_RING, &bytes, &ns));
		assert_int_equal(bytes, cases[i].bytes);
		assert_int_equal(ns, cases[i].ns);
	}
}

static void nonsense_is_no_ring(void **state)
{
	const char *const cases[] = {"",	"s",	  "0",		 "0s",	   "64M,",
				     "30s,64M", "64M,30", "64X",	 "64M30s", "64M 30s",
				     "64M,0s",	"30ss",	  "99999999999s"};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t bytes = 5, ns = 5;

		setenv("DAGTAP_RING", cases[i], 1);
		assert_false(env_size_and_age(ENV_RING, &bytes, &ns));
		assert_int_equal(bytes, 5);
		assert_int_equal(ns, 5);
	}
}

/*
 * env_remember runs for each dispatch table that a library hands over; the first value that is set
 * is kept for each variable.
 */
static void what_is_remembered_stays(void **state)
{
	setenv("DAGTAP_SPOOL", "", 1);
	unsetenv("DAGTAP_RING");
	setenv("DAGTAP_READY", "8M", 1);
	env_remember();
	setenv("DAGTAP_SPOOL", "/first", 1);
	env_remember();
	setenv("DAGTAP_SPOOL", "/second", 1);
	setenv("DAGTAP_READY", "16M", 1);
	env_remember();
	assert_string_equal(env_text(ENV_SPOOL), "/first");
	assert_int_equal(env_bytes(ENV_READY, 1), 8 << 20);
	unsetenv("DAGTAP_SPOOL");
	assert_string_equal(env_text(ENV_SPOOL), "/first");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unset_and_empty_mean_the_default),
		cmocka_unit_test(sizes_have_units),
		cmocka_unit_test(nonsense_means_the_fallback),
		cmocka_unit_test(a_ring_has_a_size_an_age_or_both),
		cmocka_unit_test(nonsense_is_no_ring),
		cmocka_unit_test(what_is_remembered_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
