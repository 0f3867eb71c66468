/* Converting by the clock of a merged rank (rank_clock.h). */
#include "trace/rank_clock.h"

/* Each step to the reference adds a drift. */
#define DRIFT_MOST (RANK_CLOCK_PARTS / 10)

/* Rounds after which a time is found backwards. */
enum { UNMAP_ROUNDS = 20 };

static bool is_within(int64_t value, int64_t most)
{
	return -most <= value && value <= most;
}

/* Whether the joints are in order, and no piece drifts by more than DRIFT_MOST. */
static bool are_joints_possible(const struct rank_clock *clock)
{
	const struct rank_clock_joint *joints = clock->joints;

	if (clock->joint_count == 1 || clock->joint_count > RANK_CLOCK_JOINTS_MOST)
		return false;
	for (uint32_t i = 0; i < clock->joint_count; i++) {
		if (!is_within(joints[i].host_ns, RANK_CLOCK_TIME_MOST) ||
		    !is_within(joints[i].offset_ns, RANK_CLOCK_TIME_MOST) ||
		    joints[i].uncertainty_ns > INT64_MAX)
			return false;
		if (i && (joints[i].host_ns <= joints[i - 1].host_ns ||
			  !is_within(joints[i].offset_ns - joints[i - 1].offset_ns,
				     (joints[i].host_ns - joints[i - 1].host_ns) / 10 + 1)))
			return false;
	}
	return true;
}

bool rank_clock_is_possible(const struct rank_clock *clock)
{
	for (int i = 0; i < RANK_CLOCK_KNOTS; i++) {
		if (clock->uncertainty_ns[i] > INT64_MAX)
			return false;
	}
	return clock->source <= RANK_CLOCK_WALL && are_joints_possible(clock) &&
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

/* The joint at which the piece begins that HOST_NS is in, or that is next to it. */
static const struct rank_clock_joint *piece_of(const struct rank_clock *clock, int64_t host_ns)
{
	uint32_t low = 0, high = clock->joint_count - 2;

	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;

		if (clock->joints[middle].host_ns <= host_ns)
			low = middle;
		else
			high = middle - 1;
	}
	return &clock->joints[low];
}

static int64_t map_piece(const struct rank_clock_joint *piece, int64_t host_ns)
{
	double drift = (double)(piece[1].offset_ns - piece->offset_ns) /
		       (double)(piece[1].host_ns - piece->host_ns);
	double drifted = (double)(host_ns - piece->host_ns) * drift;

	return host_ns + piece->offset_ns + (int64_t)(drifted + (drifted < 0 ? -0.5 : 0.5));
}

int64_t rank_clock_map(const struct rank_clock *clock, int64_t host_ns)
{
	double drift = (double)clock->drift / (double)RANK_CLOCK_PARTS, drifted;

	if (!is_within(host_ns, RANK_CLOCK_TIME_MOST))
		return host_ns;
	if (clock->joint_count)
		return map_piece(piece_of(clock, host_ns), host_ns);
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

/* A moment at which the uncertainty is known. */
struct known {
	int64_t ns;
	uint64_t uncertainty_ns;
};

/* The uncertainty at HOST_NS, on the line from A to B around it; rounded up, but what is known at
 * A and B. */
static uint64_t between(struct known a, struct known b, int64_t host_ns)
{
	__int128 step = (__int128)b.uncertainty_ns - a.uncertainty_ns;

	if (host_ns == a.ns)
		return a.uncertainty_ns;
	if (host_ns == b.ns)
		return b.uncertainty_ns;
	/* Division truncates towards zero. */
	return a.uncertainty_ns + (step > 0) +
	       (uint64_t)(int64_t)(step * (host_ns - a.ns) / (b.ns - a.ns));
}

static struct known known_at(const struct rank_clock *clock, uint32_t i)
{
	const struct rank_clock_joint *joint = &clock->joints[i];

	if (clock->joint_count)
		return (struct known){joint->host_ns, joint->uncertainty_ns};
	return (struct known){rank_clock_knot(clock, (int)i), clock->uncertainty_ns[i]};
}

static uint32_t known_count(const struct rank_clock *clock)
{
	return clock->joint_count ? clock->joint_count : RANK_CLOCK_KNOTS;
}

uint64_t rank_clock_uncertainty(const struct rank_clock *clock, int64_t host_ns)
{
	uint32_t count = known_count(clock);
	struct known first = known_at(clock, 0), last = known_at(clock, count - 1);

	if (!is_within(host_ns, RANK_CLOCK_TIME_MOST))
		return INT64_MAX;
	if (host_ns < first.ns)
		return outside(clock, first.uncertainty_ns, first.ns - host_ns);
	if (host_ns > last.ns)
		return outside(clock, last.uncertainty_ns, host_ns - last.ns);
	for (uint32_t i = 1; i < count; i++) {
		struct known a = known_at(clock, i - 1), b = known_at(clock, i);

		if (host_ns <= b.ns && a.ns < b.ns)
			return between(a, b, host_ns);
	}
	return rank_clock_worst(clock);
}

int64_t rank_clock_unmap(const struct rank_clock *clock, int64_t mapped_ns)
{
	int64_t host_ns;

	if (!is_within(mapped_ns, RANK_CLOCK_TIME_MOST))
		return mapped_ns;
	/* Each round leaves an error that is smaller by the drift, at most a tenth of it. */
	host_ns = mapped_ns - (clock->joint_count ? clock->joints[0].offset_ns : clock->offset_ns);
	for (int i = 0; i < UNMAP_ROUNDS; i++)
		host_ns -= rank_clock_map(clock, host_ns) - mapped_ns;
	return host_ns;
}

uint64_t rank_clock_uncertainty_mapped(const struct rank_clock *clock, int64_t mapped_ns)
{
	if (!is_within(mapped_ns, RANK_CLOCK_TIME_MOST))
		return INT64_MAX;
	return rank_clock_sum(rank_clock_uncertainty(clock, rank_clock_unmap(clock, mapped_ns)), 1);
}

/* The most at one of the joints, first_ns and last_ns. */
static uint64_t worst_of_pieces(const struct rank_clock *clock)
{
	uint64_t first = rank_clock_uncertainty(clock, clock->first_ns);
	uint64_t last = rank_clock_uncertainty(clock, clock->last_ns);
	uint64_t worst = first > last ? first : last;

	for (uint32_t i = 0; i < clock->joint_count; i++) {
		const struct rank_clock_joint *joint = &clock->joints[i];

		if (joint->host_ns >= clock->first_ns && joint->host_ns <= clock->last_ns &&
		    joint->uncertainty_ns > worst)
			worst = joint->uncertainty_ns;
	}
	return worst;
}

uint64_t rank_clock_worst(const struct rank_clock *clock)
{
	/* Of a line it is convex, so one of the ends has the most. */
	uint64_t first = clock->uncertainty_ns[0];
	uint64_t last = clock->uncertainty_ns[RANK_CLOCK_KNOTS - 1];

	if (clock->joint_count)
		return worst_of_pieces(clock);
	return first > last ? first : last;
}

bool rank_clock_is_assumed(const struct rank_clock *clock)
{
	return clock->uneven_ns && !clock->joint_count;
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
