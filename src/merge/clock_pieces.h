/* A clock that no straight line agrees with, by another: its rate changes, as that of a clock that
 * a time server slews.
 *
 * All that is assumed is that the rates of two clocks never differ by more than
 * RANK_CLOCK_DRIFT_MOST. So what a collective says of a moment bounds the other moments, the less
 * the further away they are. The bounds of all collectives make a corridor, in which the clock was
 * at any time. The result is a chain of straight pieces through its middle, with the distance to
 * its sides.
 *
 * Threading: functions of their arguments. Cost: sorting the collectives, then time linear in their
 * number; memory of 24 bytes for each side of each. */
#ifndef DAGTAP_MERGE_CLOCK_PIECES_H
#define DAGTAP_MERGE_CLOCK_PIECES_H

#include <stddef.h>

#include "merge/clock_bounds.h"

/* A collective on both clocks, as clock_bounds_add has it. */
struct clock_match {
	struct clock_interval own, other;
	int64_t error_ns;
};

/* Gives CLOCK, which clock_bounds_fit has filled, joints that agree with COUNT MATCHES, from its
 * first_ns to its last_ns at least. Leaves it without joints if no clock agrees with them. Returns
 * 0 or -ENOMEM. */
int clock_pieces_fit(const struct clock_match *matches, size_t count, struct rank_clock *clock);

/* The uncertainty of a time that was converted by a step, and then by its parent, each with its
 * uncertainty. The parent's clock runs faster than the reference by RANK_CLOCK_DRIFT_MOST at most,
 * and both conversions round. */
uint64_t clock_pieces_sum(uint64_t step_ns, uint64_t parent_ns);

/* Follows STEP, from a clock to PARENT's clock, by PARENT to the reference, if one of the two has
 * joints: gives WAY joints. If there were too many, some are left out, and the uncertainty grows by
 * what that changes. */
void clock_pieces_follow(const struct rank_clock *step, const struct rank_clock *parent,
			 struct rank_clock *way);

#endif
