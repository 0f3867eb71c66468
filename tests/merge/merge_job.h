/* Generated jobs: ranks whose clocks, collectives and wall clocks are made, so that the true time
 * of everything is known. The same seed gives the same job. */
#ifndef DAGTAP_TESTS_MERGE_JOB_H
#define DAGTAP_TESTS_MERGE_JOB_H

#include "merge/rank_clocks.h"

enum { JOB_CLOCKS_MOST = 6, JOB_OPERATIONS_MOST = 400, JOB_MOMENTS_MOST = 2700 };

/* The clock of a rank: at the true time t it shows (t - offset_ns) / (1 + drift), and from
 * slew_begin_ns to slew_end_ns it goes faster by slew. */
struct job_clock {
	double offset_ns, drift;
	double slew, slew_begin_ns, slew_end_ns;
	double end_delay_ns; /* how long after the last begin this rank ends at the earliest */
};

struct job {
	uint32_t clock_count;
	struct job_clock clocks[JOB_CLOCKS_MOST];
	struct clock_facts facts[JOB_CLOCKS_MOST];
	struct collective rows[JOB_CLOCKS_MOST * JOB_OPERATIONS_MOST];
	size_t row_count;
	struct steady_moment moments[JOB_CLOCKS_MOST][JOB_MOMENTS_MOST];
};

/* A random number from 0 to 1, of a generator whose state is SEED. */
double job_random(uint64_t *seed);

/* Fills JOB: 2 to 6 ranks with drifts up to 50 ppm, in one communicator or in two that share a
 * rank; 10 to 400 collectives in 1 s to 10 minutes. */
void job_make(struct job *job, uint64_t seed);

/* The same with clocks that do not run evenly: some are slewed by 200 to 500 ppm for a while, in a
 * job of 1 to 10 minutes with 100 collectives or more. */
void job_make_uneven(struct job *job, uint64_t seed);

/* Gives the clocks of JOB, made with SEED, moments on clocks that are not slewed: four in each
 * second, as recordings have them. */
void job_add_steady(struct job *job, uint64_t seed);

/* What clock B shows when clock A shows NS. */
double job_convert(const struct job *job, uint32_t a, uint32_t b, double ns);

#endif
