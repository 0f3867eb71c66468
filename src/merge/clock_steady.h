/* A clock that a time server slews, by the machine's clock that is never slewed
 * (CLOCK_MONOTONIC_RAW). Recordings have moments on both (RECORD_STEADY_CLOCK), so the host's time
 * becomes steady time in straight pieces, and the steady clocks of two machines run evenly: a line
 * (clock_bounds.h) converts one to the other.
 *
 * What is assumed beside that: two neighbouring moments are a span, at most CLOCK_STEADY_GAP_NS,
 * and the rate of the host's clock changes once at most in a span and the next one. Then the lines
 * before and behind a change tell its moment. Where more changes are noticed, the uncertainty
 * allows for any course in these spans.
 *
 * Threading: functions of their arguments. Cost: time linear in the moments and matches. */
#ifndef DAGTAP_MERGE_CLOCK_STEADY_H
#define DAGTAP_MERGE_CLOCK_STEADY_H

#include <stdbool.h>
#include <stddef.h>

#include "merge/clock_pieces.h"

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
