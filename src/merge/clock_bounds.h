/* What is known of one clock by another: moments of which one was not before the other. A
 * collective gives two: no rank ends it before every rank has begun it.
 *
 * The clocks are assumed to run at rates that do not change, so the time of the other clock is a
 * straight line over that of the own clock. The lines that contradict no moment are the possible
 * ones. At each time the highest and the lowest of them bound the other clock's time, and both
 * bounds are computed exactly from the convex hulls of the moments.
 *
 * Threading: one thread at a time. Cost: adding is that of a border (merge/border.h); a
 * fit takes a few thousand steps for each doubling of the border. */
#ifndef DAGTAP_MERGE_CLOCK_BOUNDS_H
#define DAGTAP_MERGE_CLOCK_BOUNDS_H

#include <stdint.h>

#include "merge/border.h"
#include "trace/rank_clock.h"

/* Zero is without moments. The points are (own time, other time - own time). */
struct clock_bounds {
	struct border not_after;  /* the line is below these points */
	struct border not_before; /* mirrored: the negative line is below these points */
	uint64_t matched;	  /* collectives that were added */
};

/* A time of a clock on each of two clocks. */
struct clock_interval {
	int64_t begin_ns, end_ns;
};

/* Adds a collective: when each rank began and ended it, on the rank's own clock. ERROR_NS is the
 * most by which the distance of two of these times may be wrong, 2^32 or less. No two times of
 * BOUNDS, nor one and 0, may be further apart than RANK_CLOCK_TIME_MOST. Returns 0 or -ENOMEM. */
int clock_bounds_add(struct clock_bounds *bounds, struct clock_interval own,
		     struct clock_interval other, int64_t error_ns);

/* Adds to BOUNDS what FROM says of the same clocks, own and other exchanged. Returns 0 or
 * -ENOMEM. */
int clock_bounds_mirror(struct clock_bounds *bounds, const struct clock_bounds *from);

/* Frees the borders and makes BOUNDS empty. */
void clock_bounds_release(struct clock_bounds *bounds);

/* Fills base_ns to uneven_ns of RET_CLOCK with the line in the middle of the possible ones, for
 * own times from FIRST_NS to LAST_NS. BOUNDS must have a collective. The result is not possible
 * (rank_clock_is_possible) if the clocks are too far apart. */
void clock_bounds_fit(const struct clock_bounds *bounds, int64_t first_ns, int64_t last_ns,
		      struct rank_clock *ret_clock);

#endif
