/* Brings the clocks of many ranks to one: that of a reference.
 *
 * Collectives of the same communicator and number are matched. Of each communicator, the clock
 * that has the shortest intervals is compared with each other one: a rank that begins last waits
 * for no other, and the shorter its interval, the more it says. From the reference, clocks are
 * reached by the pairs with the least uncertainty, one after the other. Clocks that no pair reaches
 * are joined by their wall clocks.
 *
 * Threading: a function of its arguments. Cost: sorting the collectives, then time linear in their
 * number; memory for the clocks and pairs, not for collectives. */
#ifndef DAGTAP_MERGE_RANK_CLOCKS_H
#define DAGTAP_MERGE_RANK_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merge/clock_steady.h"
#include "trace/rank_clock.h"

/* One collective on one clock: from when its first work may have begun to when its last work had
 * ended. Only operations that no rank ends before all have begun are collectives here. */
struct collective {
	uint64_t communicator; /* equal on all its ranks */
	uint64_t number;       /* of the operation on the communicator */
	int64_t begin_ns, end_ns;
	uint32_t clock;
	uint32_t error_ns; /* the most by which begin and end may be wrong */
};

/* What else is known of a clock. */
struct clock_facts {
	int64_t first_ns, last_ns; /* the times that it has to convert */
	int64_t wall_ns;	   /* the machine's wall clock minus this clock */
	bool has_wall;
	struct steady_clock steady; /* borrowed */
};

/* Fits COUNT collectives of CLOCK_COUNT clocks; sorts ROWS. WALL_ERROR_NS: the most by which the
 * wall clock of a machine is assumed to be wrong. The reference is the clock that the others
 * of the largest communicator are compared with; without collectives the first one. A clock without
 * collectives and wall clock gets the uncertainty INT64_MAX. No two times of ROWS and FACTS, nor
 * one and 0, may be further apart than RANK_CLOCK_TIME_MOST, nor a wall_ns and 0; then all of
 * RET_CLOCKS are possible (rank_clock_is_possible): what would not be is joined by wall clocks, or
 * unknown. Returns 0 or -ENOMEM. */
int rank_clocks_fit(struct collective *rows, size_t count, const struct clock_facts *facts,
		    uint32_t clock_count, uint64_t wall_error_ns, struct rank_clock *ret_clocks);

#endif
