/* Converting by the clock of a merged rank (rank_clock.h). */
#include "trace/rank_clock.h"

/* Each step to the reference adds a drift. */
#define DRIFT_MOST (RANK_CLOCK_PARTS / 10)

static bool is_within(int64_t value, int64_t most)
{
	return -most <= value && value <= most;
}

bool rank_clock_is_possible(const struct rank_clock *clock)
{
	for (int i = 0; i < RANK_CLOCK_KNOTS; i++) {
		if (clock->uncertainty_ns[i] > INT64_MAX)
			return false;
	}
	return clock->source <= RANK_CLOCK_WALL &&
	       is_within(clock->base_ns, RANK_CLOCK_TIME_MOST) &&
	       is_within(clock->offset_ns, RANK_CLOCK_TIME_MOST) &&
	       is_within(clock->drift, DRIFT_MOST) &&
	       is_within(clock->first_ns, RANK_CLOCK_TIME_MOST) &&
	       is_within(clock->last_ns, RANK_CLOCK_TIME_MOST) &&
	       clock->first_ns <= clock->last_ns && clock->spread <= RANK_CLOCK_PARTS &&
	       clock->matched <= INT64_MAX && clock->uneven_ns <= INT64_MAX;
}

uint64_t rank_clock_sum(uint64_t a_ns, uint64_t b_ns)
{
	if (a_ns >= INT64_MAX || b_ns >= INT64_MAX - a_ns)
		return INT64_MAX;
	return a_ns + b_ns;
}

int64_t rank_clock_map(const struct rank_clock *clock, int64_t host_ns)
{
	double drift = (double)clock->drift / (double)RANK_CLOCK_PARTS, drifted;

	if (!is_within(host_ns, RANK_CLOCK_TIME_MOST))
		return host_ns;
	/* A double holds the ns of 104 days exactly, and costs less than a 128-bit division. */
	drifted = (double)(host_ns - clock->base_ns) * drift;
	return host_ns + clock->offset_ns + (int64_t)(drifted + (drifted < 0 ? -0.5 : 0.5));
}

int64_t rank_clock_knot(const struct rank_clock *clock, int knot)
{
	__int128 span = (__int128)clock->last_ns - clock->first_ns;

	return clock->first_ns + (int64_t)(span * knot / (RANK_CLOCK_KNOTS - 1));
}

static uint64_t outside(const struct rank_clock *clock, uint64_t at_edge_ns, int64_t distance_ns)
{
	__int128 grown_ns = (__int128)distance_ns * clock->spread / RANK_CLOCK_PARTS;

	return rank_clock_sum(at_edge_ns, (uint64_t)grown_ns + 1);
}

uint64_t rank_clock_uncertainty(const struct rank_clock *clock, int64_t host_ns)
{
	const uint64_t *knots = clock->uncertainty_ns;

	if (!is_within(host_ns, RANK_CLOCK_TIME_MOST))
		return INT64_MAX;
	if (host_ns < clock->first_ns)
		return outside(clock, knots[0], clock->first_ns - host_ns);
	if (host_ns > clock->last_ns)
		return outside(clock, knots[RANK_CLOCK_KNOTS - 1], host_ns - clock->last_ns);
	for (int i = 1; i < RANK_CLOCK_KNOTS; i++) {
		int64_t begin_ns = rank_clock_knot(clock, i - 1),
			end_ns = rank_clock_knot(clock, i);
		__int128 step = (__int128)knots[i] - knots[i - 1];

		if (host_ns > end_ns || begin_ns == end_ns)
			continue;
		/* Rounded up: division truncates towards zero. */
		return knots[i - 1] + (step > 0) +
		       (uint64_t)(int64_t)(step * (host_ns - begin_ns) / (end_ns - begin_ns));
	}
	return rank_clock_worst(clock);
}

uint64_t rank_clock_uncertainty_mapped(const struct rank_clock *clock, int64_t mapped_ns)
{
	int64_t host_ns;

	if (!is_within(mapped_ns, RANK_CLOCK_TIME_MOST))
		return INT64_MAX;
	/* Each round leaves an error that is smaller by the drift, at most a tenth of it. */
	host_ns = mapped_ns - clock->offset_ns;
	for (int i = 0; i < 3; i++)
		host_ns -= rank_clock_map(clock, host_ns) - mapped_ns;
	return rank_clock_sum(rank_clock_uncertainty(clock, host_ns), 1);
}

uint64_t rank_clock_worst(const struct rank_clock *clock)
{
	/* It is convex, so one of the ends has the most. */
	uint64_t first = clock->uncertainty_ns[0];
	uint64_t last = clock->uncertainty_ns[RANK_CLOCK_KNOTS - 1];

	return first > last ? first : last;
}

const char *rank_clock_source_text(enum rank_clock_source source)
{
	static const char *const texts[] = {
		[RANK_CLOCK_REFERENCE] = "reference",
		[RANK_CLOCK_COLLECTIVES] = "collectives",
		[RANK_CLOCK_WALL] = "wall",
	};

	return texts[source];
}
