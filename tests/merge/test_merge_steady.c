/* Clocks that are slewed, by their machine's steady clock. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "merge/clock_steady.h"
#include "merge/rank_steady.h"
#include "merge_job.h"
#include "record/record.h"

enum { MOMENTS = 400, SPAN_NS = 250000000, ERROR_NS = 100 };

/* A host's clock by the steady time: its rate changes once at most in each span of SPAN_NS. */
struct slewed {
	double host_ns[MOMENTS + 1]; /* at the span's begin */
	double before[MOMENTS], behind[MOMENTS];
	double change_ns[MOMENTS]; /* from the span's begin */
	struct steady_moment moments[MOMENTS + 1];
	struct steady_clock clock;
};

static double host_at(const struct slewed *slewed, double steady_ns)
{
	int span = (int)fmin(steady_ns / SPAN_NS, MOMENTS - 1);
	double within = steady_ns - (double)span * SPAN_NS;
	double first = fmin(within, slewed->change_ns[span]);

	return slewed->host_ns[span] + first * (1 + slewed->before[span]) +
	       (within - first) * (1 + slewed->behind[span]);
}

static double span_end(const struct slewed *slewed, int span)
{
	return slewed->host_ns[span] + slewed->change_ns[span] * (1 + slewed->before[span]) +
	       (SPAN_NS - slewed->change_ns[span]) * (1 + slewed->behind[span]);
}

/* CHANGES: the part of the spans in which the rate changes. APART: how many spans there are from
 * one to the next one, and to the ends. GRAIN: a rate is a multiple of it. */
static void make(struct slewed *slewed, uint64_t seed, double changes, int apart, double grain)
{
	double rate = 0;
	int last = 0;

	slewed->host_ns[0] = 5e9;
	for (int i = 0; i < MOMENTS; i++) {
		slewed->before[i] = rate;
		if (job_random(&seed) < changes && i - last >= apart && i < MOMENTS - apart) {
			rate = floor((job_random(&seed) - 0.5) * 1e-3 / grain) * grain;
			last = i;
		}
		slewed->behind[i] = rate;
		slewed->change_ns[i] = job_random(&seed) * SPAN_NS;
		slewed->host_ns[i + 1] = span_end(slewed, i);
	}
	for (int i = 0; i <= MOMENTS; i++) {
		double wrong = (job_random(&seed) * 2 - 1) * (ERROR_NS - 1);

		slewed->moments[i] = (struct steady_moment){llround(slewed->host_ns[i] + wrong),
							    (int64_t)i * SPAN_NS, ERROR_NS};
	}
	slewed->clock = (struct steady_clock){slewed->moments, MOMENTS + 1};
}

static bool fit(const struct slewed *slewed, struct rank_clock *to, struct rank_clock *from)
{
	return clock_steady_fit(&slewed->clock, slewed->moments[0].host_ns,
				slewed->moments[MOMENTS].host_ns, to, from);
}

/* Returns the largest uncertainty at random moments, at each of which the error is less. */
static uint64_t compare(const struct slewed *slewed, uint64_t seed, const struct rank_clock *to,
			const struct rank_clock *from)
{
	uint64_t worst = 0;

	for (int i = 0; i < 2000; i++) {
		double steady = job_random(&seed) * MOMENTS * SPAN_NS;
		double host = host_at(slewed, steady);
		uint64_t there = rank_clock_uncertainty(to, llround(host));
		uint64_t back = rank_clock_uncertainty(from, llround(steady));

		assert_true(fabs((double)rank_clock_map(to, llround(host)) - steady) <=
			    (double)there);
		assert_true(fabs((double)rank_clock_map(from, llround(steady)) - host) <=
			    (double)back);
		worst = there > worst ? there : worst;
	}
	return worst;
}

static void the_moment_of_a_change_is_found(void **state)
{
	static struct slewed slewed;
	struct rank_clock to, from;

	(void)state;
	for (uint64_t seed = 0; seed < 500; seed++) {
		make(&slewed, seed, 0.08, 4, 1e-9);
		assert_true(fit(&slewed, &to, &from));
		compare(&slewed, seed, &to, &from);
		/* A moment soon after a change may seem to be before it, so two must remain. */
		make(&slewed, seed, 0.08, 4, 1e-4);
		assert_true(fit(&slewed, &to, &from));
		assert_true(compare(&slewed, seed, &to, &from) < 20 * ERROR_NS);
	}
}

/* The rate goes up in a span, and down in the next one. */
static void changes_that_are_too_near_are_in_the_uncertainty(void **state)
{
	static struct slewed slewed;
	struct rank_clock to, from;
	double at = MOMENTS / 2 * (double)SPAN_NS;

	(void)state;
	make(&slewed, 1, 0, 0, 1);
	slewed.behind[MOMENTS / 2 - 1] = slewed.before[MOMENTS / 2] = 5e-4;
	slewed.behind[MOMENTS / 2] = -5e-4;
	for (int i = MOMENTS / 2 - 1; i < MOMENTS; i++) {
		if (i > MOMENTS / 2)
			slewed.before[i] = slewed.behind[i] = -5e-4;
		slewed.host_ns[i + 1] = span_end(&slewed, i);
		slewed.moments[i + 1].host_ns = llround(slewed.host_ns[i + 1]);
	}
	assert_true(fit(&slewed, &to, &from));
	assert_true(compare(&slewed, 1, &to, &from) > 1000 * ERROR_NS);
	assert_true(rank_clock_uncertainty(&from, llround(at)) > 1000 * ERROR_NS);
	assert_true(rank_clock_uncertainty(&from, 10ll * SPAN_NS) < 1000 * ERROR_NS);
}

static void too_many_changes_and_gaps_tell_nothing(void **state)
{
	static struct slewed slewed;
	struct rank_clock to, from;

	(void)state;
	make(&slewed, 1, 1, 0, 1e-9);
	assert_false(fit(&slewed, &to, &from));
	make(&slewed, 1, 0, 0, 1);
	assert_true(fit(&slewed, &to, &from));
	assert_int_equal(to.joint_count, 2);
	slewed.clock.count = 2;
	assert_false(fit(&slewed, &to, &from));
	slewed.clock.count = MOMENTS + 1;
	for (int i = MOMENTS / 2; i <= MOMENTS; i++) {
		slewed.moments[i].host_ns += CLOCK_STEADY_GAP_NS;
		slewed.moments[i].steady_ns += CLOCK_STEADY_GAP_NS;
	}
	assert_false(fit(&slewed, &to, &from));
}

/* The rate may be any possible one there. */
static void outside_of_the_moments_the_uncertainty_grows(void **state)
{
	static struct slewed slewed;
	struct rank_clock to, from;
	int64_t first, last;

	(void)state;
	make(&slewed, 1, 0, 0, 1);
	first = slewed.moments[0].host_ns;
	last = slewed.moments[MOMENTS].host_ns;
	assert_true(clock_steady_fit(&slewed.clock, first - 1000000, last + 2000000, &to, &from));
	assert_int_equal(to.joint_count, 4);
	assert_in_range(rank_clock_uncertainty(&to, first - 1000000), 2000, 2000 + 10 * ERROR_NS);
	assert_in_range(rank_clock_uncertainty(&to, last + 2000000), 4000, 4000 + 10 * ERROR_NS);
	assert_true(rank_clock_uncertainty(&to, (first + last) / 2) < 10 * ERROR_NS);
}

/* A clock that is slewed by RATE from BEGIN_NS to END_NS, at HOST_NS. */
static double steady_at(double rate, double begin_ns, double end_ns, double host_ns)
{
	return host_ns - rate * (fmin(fmax(host_ns, begin_ns), end_ns) - begin_ns);
}

/* Fits such a clock by COUNT moments, whose steady times are wrong by WRONG_NS, and looks whether
 * the error is within the uncertainty at all times. Returns the largest uncertainty. */
static uint64_t fit_slew(double rate, double begin_ns, double end_ns, const int64_t *host_ns,
			 const int64_t *wrong_ns, size_t count)
{
	struct steady_moment rows[16];
	struct rank_clock to, from;

	for (size_t i = 0; i < count; i++) {
		double steady = steady_at(rate, begin_ns, end_ns, (double)host_ns[i]);

		rows[i] = (struct steady_moment){
			host_ns[i], llround(steady) + (wrong_ns ? wrong_ns[i] : 0), ERROR_NS};
	}
	assert_true(clock_steady_fit(&(struct steady_clock){rows, count}, host_ns[0],
				     host_ns[count - 1], &to, &from));
	for (int64_t ns = host_ns[0]; ns <= host_ns[count - 1]; ns += 1000000) {
		double error = fabs((double)rank_clock_map(&to, ns) -
				    steady_at(rate, begin_ns, end_ns, (double)ns));

		assert_true(error <= (double)rank_clock_uncertainty(&to, ns));
	}
	return rank_clock_worst(&to);
}

/* The moments are on one line: the clock leaves it between them, and is back at each. */
static void a_slew_between_moments_is_in_the_uncertainty(void **state)
{
	const int64_t seconds[] = {0, 1000000000, 2000000000, 3000000000};
	int64_t often[16];

	(void)state;
	assert_true(fit_slew(5e-4, 5e8, 15e8, seconds, NULL, 3) > 125000);
	assert_true(fit_slew(5e-4, 5e8, 15e8, seconds, NULL, 4) > 125000);
	/* Often enough to see it. */
	for (int i = 0; i < 16; i++)
		often[i] = i * (int64_t)SPAN_NS;
	assert_true(fit_slew(5e-4, 13e8, 23e8, often, NULL, 16) < 20 * ERROR_NS);
}

/* Short spans tell a rate badly, and a long one is far from them. */
static void lines_of_short_spans_are_wrong_in_long_ones(void **state)
{
	const int64_t ms = 1000000;
	const int64_t host_ns[] = {0, 100 * ms, 200 * ms, 900 * ms, 1000 * ms, 1100 * ms};
	const int64_t wrong_ns[] = {ERROR_NS, -ERROR_NS, -ERROR_NS, 0, 0, 0};
	const int64_t mirrored_ns[] = {0, 0, 0, -ERROR_NS, -ERROR_NS, ERROR_NS};

	(void)state;
	for (int64_t change = 210 * ms; change < 900 * ms; change += 10 * ms) {
		for (double rate = -5e-4; rate < 6e-4; rate += 1e-4) {
			assert_true(fit_slew(rate, (double)change, 2e9, host_ns, wrong_ns, 6) <
				    60 * ERROR_NS);
			assert_true(fit_slew(rate, (double)change, 2e9, host_ns, mirrored_ns, 6) <
				    60 * ERROR_NS);
		}
	}
}

/* Of any lengths, with rates that do not change twice within CLOCK_STEADY_ALONE_NS. */
static void slews_are_bounded_by_any_spans(void **state)
{
	int64_t host_ns[16] = {0}, wrong_ns[16];

	(void)state;
	for (uint64_t number = 0; number < 1000; number++) {
		uint64_t seed = number;
		double longest = number % 2 ? 1e9 : 3e8;
		double begin = job_random(&seed) * 3e9;
		double end = begin + CLOCK_STEADY_ALONE_NS + job_random(&seed) * 1e9;

		for (int i = 0; i < 16; i++) {
			if (i)
				host_ns[i] = host_ns[i - 1] + CLOCK_STEADY_APART_NS +
					     (int64_t)(job_random(&seed) *
						       (longest - CLOCK_STEADY_APART_NS));
			wrong_ns[i] = job_random(&seed) < 0.5 ? ERROR_NS - 1 : 1 - ERROR_NS;
		}
		fit_slew((job_random(&seed) - 0.5) * 1e-3, begin, end, host_ns, wrong_ns, 16);
	}
}

static struct record_anchor anchor(uint32_t agent, uint64_t host_ns, uint64_t uncertainty_ns)
{
	return (struct record_anchor){
		.header = {RECORD_ANCHOR, sizeof(struct record_anchor) / 8, agent},
		.tick = host_ns + 7,
		.host_ns = host_ns,
		.uncertainty_ns = uncertainty_ns,
	};
}

static void moments_come_from_anchors_of_steady_clocks(void **state)
{
	const uint64_t second = 1000000000;
	const struct record_anchor rows[] = {
		anchor(RECORD_STEADY_CLOCK, 3 * second, 100),
		anchor(1, second, 100),
		anchor(RECORD_STEADY_CLOCK, 2 * second, 60),
		/* Of another process, soon after. */
		anchor(RECORD_STEADY_CLOCK, 2 * second + 50000000, 60),
		/* Its read was interrupted. */
		anchor(RECORD_STEADY_CLOCK, 4 * second, 500000),
		anchor(RECORD_STEADY_CLOCK, UINT64_MAX, 60),
	};
	const struct record_run run = {rows, sizeof(rows), 1};
	struct rank_steady steady = {0}, all = {0};
	struct steady_clock clock;

	(void)state;
	assert_int_equal(rank_steady_add(&steady, &run, 1), 0);
	assert_int_equal(rank_steady_join(&all, &steady), 0);
	rank_steady_release(&steady);
	clock = rank_steady_sort(&all);
	assert_int_equal(clock.count, 2);
	assert_int_equal(clock.rows[0].host_ns, 2 * second);
	assert_int_equal(clock.rows[0].steady_ns, 2 * second + 7);
	assert_int_equal(clock.rows[0].error_ns, 32);
	assert_int_equal(clock.rows[1].host_ns, 3 * second);
	rank_steady_release(&all);
	assert_int_equal(rank_steady_sort(&all).count, 0);
}

/* Three ranks of a machine, each with four moments in a second for some hours. */
static void long_recordings_are_thinned(void **state)
{
	struct rank_steady all = {0};
	struct steady_clock clock;
	const uint64_t tick = 250000000, ticks = 50000;

	(void)state;
	for (uint64_t rank = 0; rank < 3; rank++) {
		struct rank_steady steady = {0};

		for (uint64_t i = 0; i < ticks; i++) {
			const struct record_anchor row =
				anchor(RECORD_STEADY_CLOCK, i * tick + rank * 1000, 100);
			const struct record_run run = {&row, sizeof(row), 1};

			assert_int_equal(rank_steady_add(&steady, &run, 1), 0);
			assert_true(steady.count <= RANK_STEADY_MOST);
		}
		assert_int_equal(rank_steady_join(&all, &steady), 0);
		assert_true(all.count <= RANK_STEADY_MOST && all.room <= RANK_STEADY_MOST);
		rank_steady_release(&steady);
	}
	/* They are of all times still. */
	clock = rank_steady_sort(&all);
	assert_true(clock.count > RANK_STEADY_MOST / 4);
	assert_true(clock.rows[0].host_ns < 5 * (int64_t)tick);
	for (size_t i = 1; i < clock.count; i++)
		assert_in_range(clock.rows[i].host_ns - clock.rows[i - 1].host_ns,
				CLOCK_STEADY_APART_NS, 16 * tick);
	assert_true(clock.rows[clock.count - 1].host_ns > (int64_t)((ticks - 10) * tick));
	rank_steady_release(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_moment_of_a_change_is_found),
		cmocka_unit_test(changes_that_are_too_near_are_in_the_uncertainty),
		cmocka_unit_test(too_many_changes_and_gaps_tell_nothing),
		cmocka_unit_test(outside_of_the_moments_the_uncertainty_grows),
		cmocka_unit_test(a_slew_between_moments_is_in_the_uncertainty),
		cmocka_unit_test(lines_of_short_spans_are_wrong_in_long_ones),
		cmocka_unit_test(slews_are_bounded_by_any_spans),
		cmocka_unit_test(moments_come_from_anchors_of_steady_clocks),
		cmocka_unit_test(long_recordings_are_thinned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
