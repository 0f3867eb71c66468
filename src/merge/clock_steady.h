/* A clock that a time server slews, by the machine's clock that is never slewed
 * (CLOCK_MONOTONIC_RAW). Recordings have moments on both (RECORD_STEADY_CLOCK), so the host's time
 * becomes steady time in straight pieces, and the steady clocks of two machines run evenly: a line
 * (clock_bounds.h) converts one to the other.
 *
 * What is assumed beside that: the rate of the host's clock does not change twice within
 * CLOCK_STEADY_ALONE_NS. Two neighbouring moments are a span. If three neighbouring spans are no
 * longer than that, the rate changes once at most in them, and the lines through the spans before
 * and behind a change tell its moment. Where moments are further apart, or where they contradict
 * the assumption, the uncertainty allows for any course with a rate of up to RANK_CLOCK_DRIFT_MOST.
 *
 * Threading: functions of their arguments. Cost: time linear in the moments and matches. */
#ifndef DAGTAP_MERGE_CLOCK_STEADY_H
#define DAGTAP_MERGE_CLOCK_STEADY_H

#include <stdbool.h>
#include <stddef.h>

#include "merge/clock_pieces.h"

/* How long a rate lasts at least. The kernel changes it at full seconds, to a few ticks, while it
 * slews a clock. */
#define CLOCK_STEADY_ALONE_NS 900000000

/* The shortest and the longest span. */
#define CLOCK_STEADY_APART_NS 100000000
#define CLOCK_STEADY_GAP_NS   1000000000

/* A moment on a host's clock and on its steady clock, right to ERROR_NS. */
struct steady_moment {
	int64_t host_ns, steady_ns;
	uint64_t error_ns;
};

/* The moments of one machine, borrowed, by ascending host_ns. None: it is not known. */
struct steady_clock {
	const struct steady_moment *rows;
	size_t count;
};

/* The time of the moment ROW, and its steady time minus that, from those of the first moment: so a
 * double has all digits. */
static inline double steady_time(const struct steady_clock *clock, size_t row)
{
	return (double)(clock->rows[row].host_ns - clock->rows[0].host_ns);
}

static inline double steady_offset(const struct steady_clock *clock, size_t row)
{
	return (double)(clock->rows[row].steady_ns - clock->rows[0].steady_ns) -
	       steady_time(clock, row);
}

/* Converts the times of CLOCK from FIRST_NS to LAST_NS: RET_TO, from host to steady time, and
 * RET_FROM, back, get joints with their uncertainties. Returns false if the moments do not tell: if
 * there are too few, with gaps, or with too many changes of the rate. */
bool clock_steady_fit(const struct steady_clock *clock, int64_t first_ns, int64_t last_ns,
		      struct rank_clock *ret_to, struct rank_clock *ret_from);

/* A clock of a comparison, and the host times that are needed of it. */
struct steady_side {
	struct steady_clock clock;
	int64_t first_ns, last_ns;
};

/* Gives CLOCK, which clock_bounds_fit has filled for COUNT MATCHES, joints by the steady clocks of
 * OWN and OTHER, if these agree with the matches and the uncertainty becomes less. Returns 0 or
 * -ENOMEM. */
int clock_steady_follow(const struct clock_match *matches, size_t count,
			const struct steady_side *own, const struct steady_side *other,
			struct rank_clock *clock);

#endif
