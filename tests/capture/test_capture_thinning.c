/* Which ticks of a long recording are kept; the clock is given the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "capture/thinning.h"

#define SECOND_NS 1000000000ull
#define MINUTE_NS (60 * SECOND_NS)
#define DAY_NS	  (24 * 60 * MINUTE_NS)
#define TICK_NS	  (SECOND_NS / 4)
#define BEGIN_NS  (1234567 * SECOND_NS)

/*
 * Returns how many ticks of DURATION are kept. Asserts that no gap is longer than 1/1024 of the
 * time before it plus one tick.
 */
static uint64_t count_kept(struct thinning *thinning, uint64_t begin_ns, uint64_t duration_ns)
{
	uint64_t count = 0, kept_ns = begin_ns;

	for (uint64_t at_ns = 0; at_ns < duration_ns; at_ns += TICK_NS) {
		if (!thinning_keeps(thinning, begin_ns + at_ns))
			continue;
		assert_true(begin_ns + at_ns - kept_ns <= at_ns / 1024 + TICK_NS);
		kept_ns = begin_ns + at_ns;
		count++;
	}
	return count;
}

static void all_of_the_first_four_minutes_are_kept(void **state)
{
	struct thinning thinning = {0};

	(void)state;
	thinning_begin(&thinning, BEGIN_NS);
	assert_int_equal(count_kept(&thinning, BEGIN_NS, 4 * MINUTE_NS), 4 * 60 * 4);
}

static void of_a_day_some_thousands_are_kept(void **state)
{
	struct thinning thinning = {0};

	(void)state;
	thinning_begin(&thinning, BEGIN_NS);
	assert_in_range(count_kept(&thinning, BEGIN_NS, DAY_NS), 4000, 7500);
}

/* A day has 6000 more than its first four minutes; a month has far fewer than 30 times as many. */
static void a_month_has_not_many_more(void **state)
{
	struct thinning thinning = {0};

	(void)state;
	thinning_begin(&thinning, BEGIN_NS);
	assert_in_range(count_kept(&thinning, BEGIN_NS, 30 * DAY_NS), 5000, 12000);
}

static void the_next_recording_begins_anew(void **state)
{
	struct thinning thinning = {0};

	(void)state;
	thinning_begin(&thinning, BEGIN_NS);
	count_kept(&thinning, BEGIN_NS, DAY_NS);
	thinning_begin(&thinning, BEGIN_NS + DAY_NS);
	assert_int_equal(count_kept(&thinning, BEGIN_NS + DAY_NS, MINUTE_NS), 60 * 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_the_first_four_minutes_are_kept),
		cmocka_unit_test(of_a_day_some_thousands_are_kept),
		cmocka_unit_test(a_month_has_not_many_more),
		cmocka_unit_test(the_next_recording_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
