/* Ticks to host ns. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "trace/clock.h"

#define SECOND 1000000000ll

static int64_t convert(const struct clock_fit *fit, uint64_t tick)
{
	uint32_t hint = 0;

	return clock_fit_convert(fit, tick, &hint);
}

static void pieces_follow_a_drift_that_changes(void **state)
{
	const struct clock_anchor anchors[] = {
		{200000000, 2 * SECOND + 300000, 20},
		{100, 1000, 20},
		{100000100, SECOND + 1000, 20},
	};
	struct clock_fit fit;

	assert_int_equal(clock_fit_init(&fit, anchors, 3, 0), 0);
	assert_int_equal(fit.count, 3);
	assert_int_equal(convert(&fit, 100), 1000);
	assert_int_equal(convert(&fit, 50000100), SECOND / 2 + 1000);
	assert_int_equal(convert(&fit, 200000000), 2 * SECOND + 300000);
	assert_true(fit.residual_ns > 100000);
	clock_fit_release(&fit);
}

static void outside_the_neighbouring_slope_goes_on(void **state)
{
	const struct clock_anchor anchors[] = {{1000, 10000, 1}, {100001000, SECOND + 10000, 1}};
	struct clock_fit fit;

	assert_int_equal(clock_fit_init(&fit, anchors, 2, 0), 0);
	assert_int_equal(convert(&fit, 900), 9000);
	assert_int_equal(convert(&fit, 200001000), 2 * SECOND + 10000);
	clock_fit_release(&fit);
}

static void conversion_is_monotone_across_pieces(void **state)
{
	struct clock_anchor anchors[64];
	struct clock_fit fit;
	int64_t last = INT64_MIN;
	uint32_t hint = 0;

	for (uint32_t i = 0; i < 64; i++)
		anchors[i] = (struct clock_anchor){1 + 25000000ull * i,
						   7 + 250000000ll * i + (i * 37 % 11), 50};
	assert_int_equal(clock_fit_init(&fit, anchors, 64, 0), 0);
	for (uint64_t tick = 1; tick < 64 * 25000000ull; tick += 99991) {
		int64_t now = clock_fit_convert(&fit, tick, &hint);

		assert_true(now >= last);
		assert_int_equal(now, convert(&fit, tick));
		last = now;
	}
	clock_fit_release(&fit);
}

static void reads_that_were_held_up_are_left_out(void **state)
{
	const struct clock_anchor anchors[] = {
		{100000000, SECOND, 20},
		{150000000, SECOND * 3 / 2 + 4000000, 5000000},
		{200000000, 2 * SECOND, 20},
	};
	struct clock_fit fit;

	assert_int_equal(clock_fit_init(&fit, anchors, 3, 0), 0);
	assert_int_equal(fit.count, 2);
	assert_int_equal(convert(&fit, 150000000), SECOND * 3 / 2);
	clock_fit_release(&fit);
}

static void anchors_that_run_backwards_are_left_out(void **state)
{
	const struct clock_anchor anchors[] = {
		{100000000, SECOND, 20},
		{150000000, SECOND / 2, 20},
		{200000000, 2 * SECOND, 20},
		{0, 1, 20},
	};
	struct clock_fit fit;

	assert_int_equal(clock_fit_init(&fit, anchors, 4, 0), 0);
	assert_int_equal(fit.count, 2);
	clock_fit_release(&fit);
}

static void one_anchor_needs_a_known_rate(void **state)
{
	const struct clock_anchor anchor = {1000, 5000, 20};
	struct clock_fit fit;

	assert_int_equal(clock_fit_init(&fit, &anchor, 1, 0), -ENODATA);
	assert_false(clock_fit_is_usable(&fit));
	assert_int_equal(clock_fit_init(&fit, &anchor, 1, 100000000), 0);
	assert_int_equal(convert(&fit, 1100), 6000);
	clock_fit_release(&fit);
	assert_int_equal(clock_fit_init(&fit, NULL, 0, 100000000), -ENODATA);
}

static void anchors_close_together_give_no_slope(void **state)
{
	/* 100 us apart and 100 ns wrong: as a slope, 0.1 % off. */
	const struct clock_anchor anchors[] = {{100000, 1000000, 100}, {110000, 1100100, 100}};
	struct clock_fit fit;

	assert_int_equal(clock_fit_init(&fit, anchors, 2, 100000000), 0);
	assert_int_equal(convert(&fit, 100000 + 100000000), 1000000 + SECOND);
	clock_fit_release(&fit);
}

static void absurd_ticks_saturate(void **state)
{
	const struct clock_anchor anchors[] = {{1, 1, 0}, {2, INT64_MAX / 4, 0}};
	struct clock_fit fit;

	assert_int_equal(clock_fit_init(&fit, anchors, 2, 0), 0);
	assert_true(convert(&fit, UINT64_MAX) > 0);
	clock_fit_release(&fit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_follow_a_drift_that_changes),
		cmocka_unit_test(outside_the_neighbouring_slope_goes_on),
		cmocka_unit_test(conversion_is_monotone_across_pieces),
		cmocka_unit_test(reads_that_were_held_up_are_left_out),
		cmocka_unit_test(anchors_that_run_backwards_are_left_out),
		cmocka_unit_test(one_anchor_needs_a_known_rate),
		cmocka_unit_test(anchors_close_together_give_no_slope),
		cmocka_unit_test(absurd_ticks_saturate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
