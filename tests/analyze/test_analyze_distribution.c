/* Distributions of many durations, which are sorted by digits, against plain counting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../launched.h"
#include "analyze/distribution.h"
#include "analyze/spread.h"

#define COUNT 5000

static int compare(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* A value of at most BITS bits. */
static int64_t draw(int bits)
{
	uint64_t value = (uint64_t)random() << 33 ^ (uint64_t)random() << 16 ^ (uint64_t)random();

	return (int64_t)(bits ? value >> (64 - bits) : 0);
}

static void values_are_sorted(void **state)
{
	int64_t values[COUNT], wanted[COUNT];

	for (int bits = 0; bits <= 64; bits++) {
		struct distribution made;

		for (int i = 0; i < COUNT; i++)
			values[i] = wanted[i] = draw(bits);
		qsort(wanted, COUNT, sizeof(*wanted), compare);
		distribution_make(values, COUNT, &made);
		assert_memory_equal(values, wanted, sizeof(values));
		assert_int_equal(made.min, wanted[0]);
		assert_int_equal(made.max, wanted[COUNT - 1]);
	}
}

static void groups_are_described_alone(void **state)
{
	struct tally tallies[3] = {0};
	struct spread spread = {0};

	for (int i = 0; i < 1001; i++) {
		spread_add(&spread, 0, &tallies[0], i);
		spread_add(&spread, 2, &tallies[2], 7);
	}
	assert_int_equal(spread_finish(&spread, tallies, sizeof(tallies[0]), 3), 0);
	assert_int_equal(tallies[0].timed, 1001);
	assert_true(tallies[0].median_ns == 500);
	/* Of 0 to n - 1: the square root of n * (n + 1) / 12. */
	assert_float_equal(tallies[0].stddev_ns * tallies[0].stddev_ns, 1001.0 * 1002 / 12, 1e-4);
	assert_true(tallies[1].median_ns == 0 && tallies[1].stddev_ns == 0);
	assert_true(tallies[2].median_ns == 7 && tallies[2].stddev_ns == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_sorted),
		cmocka_unit_test(groups_are_described_alone),
	};

	srandom((unsigned)test_seed());
	return cmocka_run_group_tests(tests, NULL, NULL);
}
