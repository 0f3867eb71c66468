/* Fitting a clock by its machine's steady clock (clock_steady.h). */
#include "merge/clock_steady.h"

#include <math.h>
#include <stdlib.h>

#include "merge/clock_doubt.h"

#define TIME_MOST ((double)RANK_CLOCK_TIME_MOST)

/* No piece drifts by more: rank_clock_is_possible allows twice as much. */
#define SLOPE_MOST 0.05

/* A rate changes this part of a span away from its ends. */
#define MARGINS 1024

/* Two lines meet where they are at most this many errors apart. */
#define MEETING 16

/* Moments that one rate agrees with, FIRST to LAST, and the line through the first one. */
struct run {
	size_t first, last;
	double slope;
};

/* What is being fitted: the chain of joints, and the run before the present one. */
struct chain {
	const struct steady_clock *clock;
	struct rank_clock *to;
	double error_ns; /* the largest of all moments */
	struct run before;
};

/* The offset on the line of RUN at the time AT. */
static double on_line(const struct chain *chain, const struct run *run, double at)
{
	return steady_offset(chain->clock, run->first) +
	       run->slope * (at - steady_time(chain->clock, run->first));
}

/* Adds a joint at AT, if the last one is not there. Returns false if there are too many, or if it
 * is not possible: damaged records may say anything. */
static bool add_joint(struct chain *chain, double at, double offset)
{
	const struct steady_moment *zero = chain->clock->rows;
	struct rank_clock *to = chain->to;

	/* Not so either if one is not a number. */
	if (!(fabs(at) < TIME_MOST) || !(fabs(offset) < TIME_MOST))
		return false;
	if (to->joint_count &&
	    to->joints[to->joint_count - 1].host_ns == zero->host_ns + llround(at))
		return true;
	if (to->joint_count == RANK_CLOCK_JOINTS_MOST)
		return false;
	to->joints[to->joint_count++] = (struct rank_clock_joint){
		.host_ns = zero->host_ns + llround(at),
		.offset_ns = zero->steady_ns - zero->host_ns + llround(offset),
	};
	return true;
}

/* The run of moments that begins at FIRST; of one moment alone with the rate of the span before. */
static struct run find_run(const struct chain *chain, size_t first)
{
	double least = -SLOPE_MOST, most = SLOPE_MOST;
	struct run run = {first, first, 0};

	for (size_t i = first + 1; i < chain->clock->count; i++) {
		double distance = steady_time(chain->clock, i) - steady_time(chain->clock, first);
		double rise = steady_offset(chain->clock, i) - steady_offset(chain->clock, first);
		double room = 2 * chain->error_ns;

		if ((rise - room) / distance > most || (rise + room) / distance < least)
			break;
		least = fmax(least, (rise - room) / distance);
		most = fmin(most, (rise + room) / distance);
		run.last = i;
	}
	if (run.last > first)
		run.slope = (least + most) / 2;
	else if (first)
		run.slope =
			(steady_offset(chain->clock, first) -
			 steady_offset(chain->clock, first - 1)) /
			(steady_time(chain->clock, first) - steady_time(chain->clock, first - 1));
	return run;
}

/* Adds the joint where the rate changes, between the last moment of the run before and the first
 * one of RUN: where their lines meet. If they do not meet there, adds joints at both moments. */
static bool add_change(struct chain *chain, const struct run *run)
{
	const struct run *before = &chain->before;
	double begin = steady_time(chain->clock, before->last);
	double end = steady_time(chain->clock, run->first);
	double apart = on_line(chain, run, begin) - on_line(chain, before, begin);
	double at = begin + apart / (before->slope - run->slope);

	/* Not a number: the lines are parallel. Joints are apart, so that no piece is steep. */
	if (!(at > begin + (end - begin) / MARGINS))
		at = begin + (end - begin) / MARGINS;
	if (!(at < end - (end - begin) / MARGINS))
		at = end - (end - begin) / MARGINS;
	apart = on_line(chain, run, at) - on_line(chain, before, at);
	if (fabs(apart) <= MEETING * chain->error_ns)
		return add_joint(chain, at, on_line(chain, before, at) + apart / 2);
	return add_joint(chain, begin, on_line(chain, before, begin)) &&
	       add_joint(chain, end, on_line(chain, run, end));
}

/* Adds the joint of the moment ROW, the first one or the last one, and that of NS if it is outside
 * of the moments. */
static bool add_end(struct chain *chain, const struct run *run, size_t row, int64_t ns)
{
	double at = steady_time(chain->clock, row);
	double there = (double)(ns - chain->clock->rows[0].host_ns);

	if (row == 0 && there < at && !add_joint(chain, there, on_line(chain, run, there)))
		return false;
	return add_joint(chain, at, on_line(chain, run, at)) &&
	       (row == 0 || there <= at || add_joint(chain, there, on_line(chain, run, there)));
}

static bool are_moments_usable(const struct steady_clock *clock)
{
	for (size_t i = 1; i < clock->count; i++) {
		int64_t span_ns = clock->rows[i].host_ns - clock->rows[i - 1].host_ns;

		if (span_ns < CLOCK_STEADY_APART_NS || span_ns > CLOCK_STEADY_GAP_NS)
			return false;
	}
	return clock->count >= 3;
}

/* Adds the joints of all runs. */
static bool lay_runs(struct chain *chain, int64_t first_ns, int64_t last_ns)
{
	size_t count = chain->clock->count;

	for (size_t first = 0; first < count; first = chain->before.last + 1) {
		struct run run = find_run(chain, first);

		if (first ? !add_change(chain, &run) : !add_end(chain, &run, 0, first_ns))
			return false;
		chain->before = run;
	}
	return add_end(chain, &chain->before, count - 1, last_ns);
}

bool clock_steady_fit(const struct steady_clock *clock, int64_t first_ns, int64_t last_ns,
		      struct rank_clock *ret_to, struct rank_clock *ret_from)
{
	struct chain chain = {.clock = clock, .to = ret_to};

	/* Outside of all moments nothing is known of the rates but their limits. */
	*ret_to = (struct rank_clock){
		.first_ns = first_ns, .last_ns = last_ns, .spread = 2 * RANK_CLOCK_DRIFT_MOST};
	if (!are_moments_usable(clock))
		return false;
	for (size_t i = 0; i < clock->count; i++)
		chain.error_ns = fmax(chain.error_ns, (double)clock->rows[i].error_ns);
	if (!lay_runs(&chain, first_ns, last_ns) || !rank_clock_is_possible(ret_to))
		return false;
	clock_doubt_set(clock, chain.error_ns, ret_to);
	*ret_from = *ret_to;
	ret_from->first_ns = rank_clock_map(ret_to, first_ns);
	ret_from->last_ns = rank_clock_map(ret_to, last_ns);
	for (uint32_t i = 0; i < ret_from->joint_count; i++) {
		struct rank_clock_joint *joint = &ret_from->joints[i];

		joint->host_ns += joint->offset_ns;
		joint->offset_ns = -joint->offset_ns;
		joint->uncertainty_ns = clock_pieces_sum(joint->uncertainty_ns, 0);
	}
	return rank_clock_is_possible(ret_to) && rank_clock_is_possible(ret_from);
}

/* INTERVAL in steady time; raises *ERROR_NS by the most that this may be wrong by. */
static struct clock_interval steady_interval(const struct rank_clock *to,
					     const struct clock_interval *interval,
					     int64_t *error_ns)
{
	uint64_t begin = rank_clock_uncertainty(to, interval->begin_ns);
	uint64_t end = rank_clock_uncertainty(to, interval->end_ns);
	uint64_t most = rank_clock_sum((uint64_t)*error_ns, begin > end ? begin : end);

	/* A part: the host's error is longer in steady time. 2: rounding. */
	*error_ns = (int64_t)rank_clock_sum(most, most / 100 + 2);
	return (struct clock_interval){rank_clock_map(to, interval->begin_ns),
				       rank_clock_map(to, interval->end_ns)};
}

/* Whether clock_bounds_add may have INTERVAL with others. */
static bool is_near(const struct clock_interval *interval)
{
	return llabs(interval->begin_ns) <= RANK_CLOCK_TIME_MOST / 2 &&
	       llabs(interval->end_ns) <= RANK_CLOCK_TIME_MOST / 2;
}

/* The line from OWN's steady clock to OTHER's. Returns 1, 0 if there is none, or -ENOMEM. */
static int fit_line(const struct clock_match *matches, size_t count, const struct rank_clock *own,
		    const struct rank_clock *other, struct rank_clock *ret_line)
{
	struct clock_bounds bounds = {0};
	int err = 0;

	for (size_t i = 0; i < count && err == 0; i++) {
		int64_t error_ns = matches[i].error_ns;
		struct clock_interval from = steady_interval(own, &matches[i].own, &error_ns);
		struct clock_interval to = steady_interval(other, &matches[i].other, &error_ns);

		if (error_ns > UINT32_MAX || !is_near(&from) || !is_near(&to))
			continue;
		err = clock_bounds_add(&bounds, from, to, error_ns);
	}
	if (err == 0 && bounds.matched) {
		clock_bounds_fit(&bounds, rank_clock_map(own, own->first_ns),
				 rank_clock_map(own, own->last_ns), ret_line);
		err = rank_clock_is_possible(ret_line) && !ret_line->uneven_ns;
	}
	clock_bounds_release(&bounds);
	return err;
}

int clock_steady_follow(const struct clock_match *matches, size_t count,
			const struct steady_side *own, const struct steady_side *other,
			struct rank_clock *clock)
{
	struct rank_clock to, other_to, back, line = {0}, there, way = *clock;
	int result;

	if (!clock_steady_fit(&own->clock, own->first_ns, own->last_ns, &to, &back) ||
	    !clock_steady_fit(&other->clock, other->first_ns, other->last_ns, &other_to, &back))
		return 0;
	result = fit_line(matches, count, &to, &other_to, &line);
	if (result <= 0)
		return result;
	there = to;
	clock_pieces_follow(&to, &line, &there);
	clock_pieces_follow(&there, &back, &way);
	/* Outside of all moments nothing is known of the rates but their limits. */
	way.spread =
		way.spread > 4 * RANK_CLOCK_DRIFT_MOST ? way.spread : 4 * RANK_CLOCK_DRIFT_MOST;
	if (way.joint_count && rank_clock_is_possible(&way) &&
	    (!clock->joint_count || rank_clock_worst(&way) < rank_clock_worst(clock)))
		*clock = way;
	return 0;
}
