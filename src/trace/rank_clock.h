/* The clock of a merged rank: how its host times become times on the clock of the reference, and
 * how wrong that may be (docs/merge.md).
 *
 * An even clock is a straight line over the host's time. Its uncertainty is known at
 * RANK_CLOCK_KNOTS moments, equally spaced from first_ns to last_ns. It is a convex function of
 * time, so the line between two neighbouring moments is a bound, too. A clock that is known to run
 * unevenly is straight between joints, where it has its uncertainties; again the line between two
 * neighbouring joints is a bound.
 *
 * Threading: functions of their arguments alone; any thread. */
#ifndef DAGTAP_TRACE_RANK_CLOCK_H
#define DAGTAP_TRACE_RANK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define RANK_CLOCK_KNOTS       9
#define RANK_CLOCK_JOINTS_MOST 64

/* Drifts are integers in this part of a ns for each ns, so that files say exactly what is used. */
#define RANK_CLOCK_PARTS 1000000000000000ll

/* No two clocks of machines differ by more in rate, as a part of RANK_CLOCK_PARTS: 1000 ppm. A
 * crystal is wrong by up to 100 ppm, and Linux slews a clock by up to 500 ppm. */
#define RANK_CLOCK_DRIFT_MOST 1000000000000ll

/* No time, offset or wall clock is further from 0: 73 years. Sums of three do not overflow. Damaged
 * records may have any time. */
#define RANK_CLOCK_TIME_MOST (INT64_C(1) << 61)

/* How the clock was compared with the reference. */
enum rank_clock_source {
	RANK_CLOCK_REFERENCE,	/* it is the reference, or runs on the same machine */
	RANK_CLOCK_COLLECTIVES, /* by collectives, maybe through other clocks */
	RANK_CLOCK_WALL,	/* by wall clocks, whose error is an assumption */
};

/* Where two straight pieces of an uneven clock meet. */
struct rank_clock_joint {
	int64_t host_ns;
	int64_t offset_ns; /* the reference's time minus host_ns */
	uint64_t uncertainty_ns;
};

struct rank_clock {
	enum rank_clock_source source;
	/* A host time h is h + offset_ns + drift * (h - base_ns) on the reference's clock. */
	int64_t base_ns;
	int64_t offset_ns;
	int64_t drift; /* RANK_CLOCK_PARTS */
	int64_t first_ns, last_ns;
	uint64_t uncertainty_ns[RANK_CLOCK_KNOTS];
	/* How fast the uncertainty grows outside first_ns and last_ns, RANK_CLOCK_PARTS. */
	uint64_t spread;
	uint64_t matched; /* collectives that were used on the way to the reference */
	/* Not 0: no clocks with a constant drift agree with the collectives. Then this is how far
	 * the clocks are assumed to leave a line, and uncertainty_ns includes it. */
	uint64_t uneven_ns;
	/* Not 0: the clock runs in pieces, whose uncertainty needs no such assumption. The
	 * functions use the joints, by ascending host_ns, and not the line, which is for readers
	 * that know no joints. Before the first joint and behind the last the outer pieces go
	 * on. */
	uint32_t joint_count;
	struct rank_clock_joint joints[RANK_CLOCK_JOINTS_MOST];
};

/* Whether the fields are within the limits that the other functions need, and files may have. */
bool rank_clock_is_possible(const struct rank_clock *clock);

/* The sum of two uncertainties, INT64_MAX at most. */
uint64_t rank_clock_sum(uint64_t a_ns, uint64_t b_ns);

/* HOST_NS on the reference's clock. A time beyond RANK_CLOCK_TIME_MOST stays. */
int64_t rank_clock_map(const struct rank_clock *clock, int64_t host_ns);

/* The host time that rank_clock_map converts to MAPPED_NS, to a ns. A time beyond
 * RANK_CLOCK_TIME_MOST stays. */
int64_t rank_clock_unmap(const struct rank_clock *clock, int64_t mapped_ns);

/* The most by which rank_clock_map may be wrong at HOST_NS; INT64_MAX: nothing is known. */
uint64_t rank_clock_uncertainty(const struct rank_clock *clock, int64_t host_ns);

/* The most by which a time that rank_clock_map gave may be wrong; INT64_MAX: nothing is known. */
uint64_t rank_clock_uncertainty_mapped(const struct rank_clock *clock, int64_t mapped_ns);

/* The largest uncertainty from first_ns to last_ns. */
uint64_t rank_clock_worst(const struct rank_clock *clock);

/* The moment of KNOT, from 0 to RANK_CLOCK_KNOTS - 1. */
int64_t rank_clock_knot(const struct rank_clock *clock, int knot);

/* Whether the uncertainty includes an assumption of how unevenly the clock ran (uneven_ns). */
bool rank_clock_is_assumed(const struct rank_clock *clock);

/* A short word for SOURCE, as JSON has it. */
const char *rank_clock_source_text(enum rank_clock_source source);

#endif
