/* How long each GPU was busy within an interval. path_report.c needs it to judge gaps: a gap on one
 * stream may be covered by work of other streams.
 *
 * Callers must ask in the order of time. All questions together take one walk through the
 * activities, and memory per GPU only. */
#ifndef DAGTAP_ANALYZE_BUSY_H
#define DAGTAP_ANALYZE_BUSY_H

#include "analyze/path.h"
#include "analyze/starts.h"

/* The state of a GPU during the walk. */
struct busy_gpu {
	int64_t begin_ns, end_ns; /* last interval without a gap, in host ns */
	int64_t before_ns;	  /* busy time of all intervals before it */
	bool is_begun;		  /* false: it has had no work yet */
};

struct busy {
	const struct starts *starts;
	uint32_t next, stop;   /* part of starts->order that is left */
	struct busy_gpu *gpus; /* by agent */
};

/* Starts a walk through the activities of WINDOW. Borrows STARTS. 0 or -ENOMEM; the caller releases
 * BUSY in both cases. */
int busy_init(struct busy *busy, const struct starts *starts, const struct path_window *window);
void busy_release(struct busy *busy);

/* The time in ns for which AGENT was busy between two moments of the window. 0 for TRACE_NONE.
 * Neither moment may be before those of an earlier call. */
int64_t busy_within(struct busy *busy, uint32_t agent, int64_t begin_ns, int64_t end_ns);

#endif
