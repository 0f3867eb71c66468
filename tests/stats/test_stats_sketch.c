/* The sketch: quantiles within its bound, merging, and its bounded memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../launched.h"
#include "stats/sketch.h"

#define VALUES 20000

static uint64_t state;

static uint64_t next_random(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 11;
}

/* Uniform in (0, 1]. */
static double next_unit(void)
{
	return ((double)next_random() + 1) / 9007199254740992.0;
}

static uint64_t constant(void)
{
	return 123456;
}

static uint64_t uniform(void)
{
	return 1 + next_random() % 1000000;
}

static uint64_t exponential(void)
{
	return (uint64_t)(-50000 * log(next_unit()));
}

static uint64_t log_normal(void)
{
	double normal = sqrt(-2 * log(next_unit())) * cos(2 * M_PI * next_unit());

	return (uint64_t)exp(10 + 1.5 * normal);
}

static uint64_t pareto(void)
{
	return (uint64_t)(1000 / pow(next_unit(), 1 / 1.2));
}

/* Short and long kernels, as those of one name with two shapes. */
static uint64_t two_humps(void)
{
	return next_random() % 10 ? 4000 + next_random() % 200 : 9000000 + next_random() % 100000;
}

static uint64_t small_whole_numbers(void)
{
	return next_random() % 40;
}

static uint64_t (*const distributions[])(void) = {
	constant, uniform, exponential, log_normal, pareto, two_humps, small_whole_numbers};

#define DISTRIBUTIONS (sizeof(distributions) / sizeof(*distributions))

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static void assert_same(const struct sketch *left, const struct sketch *right)
{
	assert_int_equal(left->count, right->count);
	assert_int_equal(left->sum, right->sum);
	assert_int_equal(left->least, right->least);
	assert_int_equal(left->largest, right->largest);
	assert_int_equal(left->zeros, right->zeros);
	assert_int_equal(left->collapsed, right->collapsed);
	assert_int_equal(left->first, right->first);
	assert_int_equal(left->bucket_count, right->bucket_count);
	if (left->bucket_count)
		assert_memory_equal(left->buckets, right->buckets,
				    left->bucket_count * sizeof(*left->buckets));
}

/* The bound, with room for the rounding of floating point. */
static void assert_near(double found, uint64_t exact)
{
	double difference = fabs(found - (double)exact);

	if (difference > SKETCH_ERROR * (1 + 1e-9) * (double)exact)
		fail_msg("%.17g instead of %llu", found, (unsigned long long)exact);
}

static void quantiles_are_within_the_bound(void **unused)
{
	static const double quantiles[] = {0, 0.001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1};
	static uint64_t values[VALUES];

	(void)unused;
	for (size_t d = 0; d < DISTRIBUTIONS; d++) {
		struct sketch sketch = {0};
		uint64_t sum = 0;

		for (size_t i = 0; i < VALUES; i++) {
			values[i] = distributions[d]();
			sum += values[i];
			assert_int_equal(sketch_add(&sketch, values[i]), 0);
		}
		qsort(values, VALUES, sizeof(*values), compare);
		for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
			assert_true(sketch_is_bounded(&sketch, quantiles[i]));
			assert_near(sketch_quantile(&sketch, quantiles[i]),
				    values[(size_t)(quantiles[i] * (VALUES - 1))]);
		}
		assert_int_equal(sketch.count, VALUES);
		assert_int_equal(sketch.sum, sum);
		assert_int_equal(sketch.least, values[0]);
		assert_int_equal(sketch.largest, values[VALUES - 1]);
		sketch_release(&sketch);
	}
}

static void merged_parts_are_the_whole(void **unused)
{
	(void)unused;
	for (size_t d = 0; d < DISTRIBUTIONS; d++) {
		struct sketch whole = {0}, merged = {0}, parts[3] = {{0}};

		for (size_t i = 0; i < VALUES; i++) {
			uint64_t value = distributions[d]();

			assert_int_equal(sketch_add(&whole, value), 0);
			assert_int_equal(sketch_add(&parts[next_random() % 3], value), 0);
		}
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(sketch_merge(&merged, &parts[i]), 0);
		assert_same(&merged, &whole);
		for (size_t i = 0; i < 3; i++)
			sketch_release(&parts[i]);
		sketch_release(&merged);
		sketch_release(&whole);
	}
}

/* Values over more than SKETCH_BUCKETS_MOST buckets: 1 to 2^40. */
static uint64_t far_apart(void)
{
	return (uint64_t)1 << next_random() % 41;
}

static void the_lowest_buckets_collapse_and_it_is_said(void **unused)
{
	struct sketch whole = {0}, merged = {0}, parts[2] = {{0}};
	static uint64_t values[VALUES];

	(void)unused;
	for (size_t i = 0; i < VALUES; i++) {
		values[i] = far_apart();
		assert_int_equal(sketch_add(&whole, values[i]), 0);
		assert_int_equal(sketch_add(&parts[i % 2], values[i]), 0);
		assert_true(whole.bucket_count <= SKETCH_BUCKETS_MOST);
	}
	qsort(values, VALUES, sizeof(*values), compare);
	assert_true(whole.collapsed > 0);
	assert_false(sketch_is_bounded(&whole, 0));
	for (double quantile = 0; quantile <= 1; quantile += 0.01) {
		if (sketch_is_bounded(&whole, quantile))
			assert_near(sketch_quantile(&whole, quantile),
				    values[(size_t)(quantile * (VALUES - 1))]);
	}
	assert_true(sketch_is_bounded(&whole, 0.5));
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(sketch_merge(&merged, &parts[i]), 0);
		sketch_release(&parts[i]);
	}
	assert_same(&merged, &whole);
	sketch_release(&merged);
	sketch_release(&whole);
}

static void every_value_has_a_bucket(void **unused)
{
	struct sketch sketch = {0};

	(void)unused;
	assert_int_equal(sketch_add(&sketch, UINT64_MAX), 0);
	assert_int_equal(sketch_add(&sketch, UINT64_MAX), 0);
	assert_true(sketch.first <= SKETCH_BUCKET_LAST);
	assert_int_equal(sketch.sum, UINT64_MAX);
	assert_near(sketch_quantile(&sketch, 0.5), UINT64_MAX);
	sketch_release(&sketch);
}

static void an_empty_sketch_has_quantiles_of_0(void **unused)
{
	struct sketch sketch = {0}, other = {0};

	(void)unused;
	assert_true(sketch_quantile(&sketch, 0.5) == 0);
	assert_int_equal(sketch_merge(&sketch, &other), 0);
	assert_int_equal(sketch_add(&sketch, 0), 0);
	assert_true(sketch_quantile(&sketch, 1) == 0);
	assert_int_equal(sketch.bucket_count, 0);
}

static void buckets_that_are_no_buckets_are_refused(void **unused)
{
	struct sketch sketch = {0};

	(void)unused;
	assert_int_not_equal(sketch_add_bucket(&sketch, -1, 1), 0);
	assert_int_not_equal(sketch_add_bucket(&sketch, SKETCH_BUCKET_LAST + 1, 1), 0);
	assert_int_equal(sketch_add_bucket(&sketch, SKETCH_BUCKET_LAST, 1), 0);
	assert_int_not_equal(sketch_add_bucket(&sketch, 0, UINT64_MAX), 0);
	assert_int_equal(sketch.count, 1);
	sketch_release(&sketch);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_within_the_bound),
		cmocka_unit_test(merged_parts_are_the_whole),
		cmocka_unit_test(the_lowest_buckets_collapse_and_it_is_said),
		cmocka_unit_test(every_value_has_a_bucket),
		cmocka_unit_test(an_empty_sketch_has_quantiles_of_0),
		cmocka_unit_test(buckets_that_are_no_buckets_are_refused),
	};

	state = test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
