/* The radix sort. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../launched.h"
#include "base/sort.h"

static void sort_is_stable_and_complete(void **state)
{
	enum { COUNT = 10000 };
	struct sort_row *rows = malloc(COUNT * sizeof(*rows));
	uint64_t random = test_seed();

	for (uint32_t i = 0; i < COUNT; i++) {
		random = random * 6364136223846793005ull + 1;
		rows[i] = (struct sort_row){random >> 57 << 50 | (random >> 40 & 3), i};
	}
	assert_int_equal(sort_rows(rows, COUNT), 0);
	for (uint32_t i = 1; i < COUNT; i++) {
		assert_true(rows[i - 1].key <= rows[i].key);
		if (rows[i - 1].key == rows[i].key)
			assert_true(rows[i - 1].index < rows[i].index);
	}
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sort_is_stable_and_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
