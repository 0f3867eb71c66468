#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "capture/env.h"

static void unset_and_empty_mean_the_default(void **state)
{
	unsetenv("DAGTAP_RING");
	assert_string_equal(env_text(ENV_RING), "256M");
	setenv("DAGTAP_RING", "", 1);
	assert_string_equal(env_text(ENV_RING), "256M");
	assert_string_equal(env_text(ENV_LOG), "");
	assert_int_equal(env_bytes(ENV_RING, 1), 256 << 20);
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
		setenv("DAGTAP_RING", cases[i].text, 1);
		assert_int_equal(env_bytes(ENV_RING, 7), cases[i].bytes);
	}
}

static void nonsense_means_the_fallback(void **state)
{
	const char *const cases[] = {"M", "ten", "5T", "5MM", "5M ", "17179869185G"};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setenv("DAGTAP_RING", cases[i], 1);
		assert_int_equal(env_bytes(ENV_RING, 7), 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unset_and_empty_mean_the_default),
		cmocka_unit_test(sizes_have_units),
		cmocka_unit_test(nonsense_means_the_fallback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
