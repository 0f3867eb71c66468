/* Converts ticks to host ns. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../launched.h"
#include "trace/clock_fit.h"

#define SECOND 1000000000ll

static int64_t convert(const struct clock_fit *fit, uint64_t tick)
{
	uint32_t hint = 0;

	return clock_fit_convert(fit, tick, &hint);
}

static void clock_drift_corrected(void **state)
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

#define TRIALS	64
#define ANCHORS 40
#define TICKS	500

static uint64_t next_random(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

static int compare_ticks(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Makes readings of a clock at 100 MHz as on a bad machine: jitter of up to JITTER_NS, every eighth
 * reading far off in either direction, some twice, none in order.
 */
static uint32_t make_noise(struct clock_anchor *anchors, uint64_t *random, uint64_t jitter_ns)
{
	uint32_t count = 1 + (uint32_t)(next_random(random) % ANCHORS);
	uint64_t first_tick = 1 + next_random(random) % 1000000000;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t after_ns = next_random(random) % (10 * SECOND);
		uint64_t noise_ns = next_random(random) % (jitter_ns + 1);

		if (next_random(random) % 8 == 0)
			noise_ns += next_random(random) % (2 * SECOND);
		anchors[i] = (struct clock_anchor){
			.tick = first_tick + after_ns / 10,
			.host_ns = (int64_t)(5 * SECOND + after_ns + noise_ns),
			.uncertainty_ns = next_random(random) % (jitter_ns + 1),
		};
		if (i && next_random(random) % 8 == 0)
			anchors[i].tick = anchors[i - 1].tick;
	}
	return count;
}

/* Makes ticks from before the first anchor to after the last one, and arbitrary ones. */
static void make_ticks(uint64_t *ticks, uint64_t *random)
{
	for (int i = 0; i < TICKS; i++) {
		ticks[i] = 1 + next_random(random) % 3000000000u;
		if (i % 10 == 0)
			ticks[i] = next_random(random) | 1;
	}
	qsort(ticks, TICKS, sizeof(*ticks), compare_ticks);
}

static void conversion_never_reverses_two_ticks(void **state)
{
	static const uint64_t jitters_ns[] = {0, 50, 5000, 3000000, 900000000};
	uint64_t random = 88172645463325252u + test_seed(), ticks[TICKS];
	struct clock_anchor anchors[ANCHORS];

	for (int trial = 0; trial < TRIALS * 5; trial++) {
		uint32_t count = make_noise(anchors, &random, jitters_ns[trial % 5]), hint = 0;
		int64_t last = INT64_MIN;
		struct clock_fit fit;

		assert_int_equal(clock_fit_init(&fit, anchors, count, 100000000), 0);
		make_ticks(ticks, &random);
		for (int i = 0; i < TICKS; i++) {
			int64_t now = clock_fit_convert(&fit, ticks[i], &hint);

			assert_true(now >= last);
			assert_int_equal(now, convert(&fit, ticks[i]));
			last = now;
		}
		clock_fit_release(&fit);
	}
}

/* The ticks have restarted from 0 a second after the only anchor. */
static void one_anchor_near_the_last_tick_is_monotone(void **state)
{
	const struct clock_anchor anchor = {UINT64_MAX - 10, 5 * SECOND, 20};
	struct clock_fit fit;

	assert_int_equal(clock_fit_init(&fit, &anchor, 1, 100000000), 0);
	assert_int_equal(convert(&fit, UINT64_MAX - 5), 5 * SECOND + 50);
	assert_int_equal(convert(&fit, UINT64_MAX - 15), 5 * SECOND - 50);
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
	/* 100 us apart and 100 ns wrong: the slope is wrong by 0.1 %. */
	const struct clock_anchor anchors[] = {{100000, 1000000, 100}, {110000, 1100100, 100}};
	struct clock_fit fit;

	assert_int_equal(clock_fit_init(&fit, anchors, 2, 100000000), 0);
	assert_int_equal(convert(&fit, 100000 + 100000000), 1000000 + SECOND);
	clock_fit_release(&fit);
}

static void absurd_ticks_saturate(void **state)
{
	const struct clock_anchor anchors[] = {{1, 1, 0}, {2, INT64_MAX / 4, 0}};
	const struct clock_anchor late[] = {{1, 8, 0}, {2, 8 + INT64_MAX / 5, 0}};
	struct clock_fit fit;

	assert_int_equal(clock_fit_init(&fit, anchors, 2, 0), 0);
	assert_true(convert(&fit, UINT64_MAX) > 0);
	clock_fit_release(&fit);
	assert_int_equal(clock_fit_init(&fit, late, 2, 0), 0);
	assert_int_equal(convert(&fit, 6), INT64_MAX / 4);
	clock_fit_release(&fit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clock_drift_corrected),
		cmocka_unit_test(outside_the_neighbouring_slope_goes_on),
		cmocka_unit_test(conversion_is_monotone_across_pieces),
		cmocka_unit_test(conversion_never_reverses_two_ticks),
		cmocka_unit_test(one_anchor_near_the_last_tick_is_monotone),
		cmocka_unit_test(reads_that_were_held_up_are_left_out),
		cmocka_unit_test(anchors_that_run_backwards_are_left_out),
		cmocka_unit_test(one_anchor_needs_a_known_rate),
		cmocka_unit_test(anchors_close_together_give_no_slope),
		cmocka_unit_test(absurd_ticks_saturate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
