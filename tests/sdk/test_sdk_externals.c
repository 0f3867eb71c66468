/* How long external correlation ids are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sdk/externals.h"

static void those_of_a_recording_that_is_over_are_forgotten(void **state)
{
	(void)state;
	for (uint64_t cid = 1; cid <= 100; cid++) {
		externals_put(0, cid, 1, cid * 10);
		externals_put(1, cid, 1, cid * 20);
	}
	externals_drop(7);
	externals_drop_until(90);
	for (uint64_t cid = 1; cid <= 100; cid++) {
		assert_int_equal(externals_find(0, cid, 1), cid <= 90 ? 0 : cid * 10);
		assert_int_equal(externals_find(1, cid, 1), cid <= 90 ? 0 : cid * 20);
	}
	externals_put(0, 101, 1, 5);
	assert_int_equal(externals_find(0, 101, 1), 5);
	externals_drop_until(101);
	assert_int_equal(externals_find(0, 101, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_of_a_recording_that_is_over_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
