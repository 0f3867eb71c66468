/* Where a critical path goes from one rank to another: no rank ends an all-reduce, all-gather,
 * reduce-scatter or all-to-all before the last rank has begun it, so until then the path of the
 * others is that of the last one.
 *
 * A path goes to the last rank only if the uncertainty of the clocks (trace/process_clocks.h)
 * leaves no doubt that its own rank began earlier.
 *
 * Threading: path_jumps_find runs on one thread; afterwards any number of threads may read the
 * result. Cost: if the trace has calls of NCCL or RCCL, that of finding the collectives. */
#ifndef DAGTAP_ANALYZE_PATH_JUMPS_H
#define DAGTAP_ANALYZE_PATH_JUMPS_H

#include "analyze/path.h"

struct path_jump {
	uint32_t activity; /* the first kernel of a rank's operation */
	uint32_t to;	   /* the first kernel of the rank that began the operation last */
	int64_t lead_ns;   /* how much later than the last but one that was */
};

struct path_jumps {
	struct path_jump *rows; /* by activity, each once */
	uint32_t rows_count;
	uint64_t unsure;	 /* collectives whose last rank the clocks do not tell for sure */
	uint64_t worst_error_ns; /* the most by which the moment of one of the jumps may be wrong */
};

/* Finds the jumps of the trace of DEPS; a trace of one rank has none. The caller releases
 * RET_JUMPS. 0, or -ENOMEM with RET_JUMPS unchanged. */
int path_jumps_find(const struct dependencies *deps, struct path_jumps *ret_jumps);
void path_jumps_release(struct path_jumps *jumps);

/* The jump of ACTIVITY, or NULL. JUMPS may be NULL. */
const struct path_jump *path_jumps_get(const struct path_jumps *jumps, uint32_t activity);

#endif
