/* The lines that contradict no moment of two clocks (clock_bounds.h).
 *
 * For a slope d, the possible lines lie between lowest(d) and highest(d), their values at the
 * origin. highest - lowest is a concave function of d, so the slopes for which it is not negative
 * are an interval. */
#include "merge/clock_bounds.h"

#include <math.h>

#define DRIFT_MOST ((double)RANK_CLOCK_DRIFT_MOST / RANK_CLOCK_PARTS)

/* Steps after which a search has used up the digits of a double. */
enum { SEARCH_STEPS = 90, BISECT_STEPS = 60 };

/* The possible lines. */
struct lines {
	const struct clock_bounds *bounds;
	int64_t origin;	    /* the own time at which lines are given */
	double least, most; /* slopes */
	double slack_ns;    /* by how much each inequality is relaxed */
};

int clock_bounds_add(struct clock_bounds *bounds, struct clock_interval own,
		     struct clock_interval other, int64_t error_ns)
{
	int err = border_add(&bounds->not_after, own.begin_ns,
			     other.end_ns - own.begin_ns + error_ns);

	if (err == 0)
		err = border_add(&bounds->not_before, own.end_ns,
				 own.end_ns - other.begin_ns + error_ns);
	bounds->matched++;
	return err;
}

/* Adds to INTO the points of FROM, own and other exchanged. SIGN: -1 if FROM is mirrored. */
static int mirror(struct border *into, const struct border *from, int sign)
{
	int err = 0;

	/* The point (own, d) says that the other time own + d is not before own, or not after it.
	 * Of a mirrored border, d is negative. */
	for (uint32_t i = 0; i < from->count && err == 0; i++) {
		const struct border_point *point = &from->points[i];

		err = border_add(into, point->x + sign * point->y, point->y);
	}
	return err;
}

int clock_bounds_mirror(struct clock_bounds *bounds, const struct clock_bounds *from)
{
	int err = mirror(&bounds->not_before, &from->not_after, 1);

	if (err == 0)
		err = mirror(&bounds->not_after, &from->not_before, -1);
	bounds->matched += from->matched;
	return err;
}

void clock_bounds_release(struct clock_bounds *bounds)
{
	border_release(&bounds->not_after);
	border_release(&bounds->not_before);
	*bounds = (struct clock_bounds){0};
}

/* How much room the possible lines of SLOPE have; negative: there are none. */
static double room(const struct lines *lines, double slope)
{
	return border_below(&lines->bounds->not_after, slope, lines->origin) +
	       border_below(&lines->bounds->not_before, -slope, lines->origin) +
	       2 * lines->slack_ns;
}

/* The slope for which lines have the most room. */
static double best_slope(const struct lines *lines)
{
	double low = -DRIFT_MOST, high = DRIFT_MOST;

	for (int i = 0; i < SEARCH_STEPS; i++) {
		double third = (high - low) / 3, left = low + third, right = high - third;

		if (room(lines, left) < room(lines, right))
			low = left;
		else
			high = right;
	}
	return (low + high) / 2;
}

/* The slope farthest from INSIDE, towards OUTSIDE, for which there are lines; rounded outwards. */
static double last_slope(const struct lines *lines, double inside, double outside)
{
	if (room(lines, outside) >= 0)
		return outside;
	for (int i = 0; i < BISECT_STEPS; i++) {
		double middle = (inside + outside) / 2;

		if (room(lines, middle) >= 0)
			inside = middle;
		else
			outside = middle;
	}
	return outside;
}

/* Finds the possible lines. If there are none, relaxes the inequalities until there are some. */
static void find_lines(struct lines *lines)
{
	double best = best_slope(lines), most = room(lines, best);

	/* Half of the missing room would give exactly one line; all of it gives lines around it. */
	if (most < 0)
		lines->slack_ns = -most;
	lines->least = last_slope(lines, best, -DRIFT_MOST);
	lines->most = last_slope(lines, best, DRIFT_MOST);
}

static double highest(const struct lines *lines, int64_t ns)
{
	return border_reach(&lines->bounds->not_after, lines->least, lines->most, lines->origin,
			    (double)(ns - lines->origin)) +
	       lines->slack_ns;
}

static double lowest(const struct lines *lines, int64_t ns)
{
	return -border_reach(&lines->bounds->not_before, -lines->most, -lines->least, lines->origin,
			     (double)(ns - lines->origin)) -
	       lines->slack_ns;
}

static double middle(const struct lines *lines, int64_t ns)
{
	return (highest(lines, ns) + lowest(lines, ns)) / 2;
}

/* The line through the middles at the first and the last moment. */
static void choose_line(const struct lines *lines, struct rank_clock *clock)
{
	const struct border *border = &lines->bounds->not_after;
	int64_t first_ns = border->points[0].x, last_ns = border->points[border->count - 1].x;
	double slope = (lines->least + lines->most) / 2;

	if (last_ns > first_ns)
		slope = (middle(lines, last_ns) - middle(lines, first_ns)) /
			(double)(last_ns - first_ns);
	slope = fmin(fmax(slope, lines->least), lines->most);
	clock->base_ns = first_ns;
	clock->offset_ns = (int64_t)llround(middle(lines, first_ns));
	clock->drift = (int64_t)llround(slope * RANK_CLOCK_PARTS);
}

/* Rounded up. */
static uint64_t whole_ns(double ns)
{
	return ns < (double)INT64_MAX ? (uint64_t)ceil(ns) : INT64_MAX;
}

void clock_bounds_fit(const struct clock_bounds *bounds, int64_t first_ns, int64_t last_ns,
		      struct rank_clock *ret_clock)
{
	struct lines lines = {.bounds = bounds, .origin = bounds->not_after.points[0].x};

	find_lines(&lines);
	choose_line(&lines, ret_clock);
	ret_clock->first_ns = first_ns;
	ret_clock->last_ns = last_ns;
	ret_clock->matched = bounds->matched;
	ret_clock->uneven_ns = whole_ns(lines.slack_ns);
	ret_clock->spread = (uint64_t)((lines.most - lines.least) * RANK_CLOCK_PARTS) + 1;
	for (int i = 0; i < RANK_CLOCK_KNOTS; i++) {
		int64_t ns = rank_clock_knot(ret_clock, i);
		double line = (double)(rank_clock_map(ret_clock, ns) - ns);
		double above = highest(&lines, ns) - line, below = line - lowest(&lines, ns);

		/* 2: rounding of the line and of its values. */
		ret_clock->uncertainty_ns[i] =
			rank_clock_sum(whole_ns(fmax(above, below)), ret_clock->uneven_ns + 2);
	}
}
