/* Each instance of a scope on the host and on the GPUs: its time, its GPU projection, and why the
 * GPUs were idle in it.
 *
 * The GPU projection of a scope is the time from the first start to the last end of the timed
 * activities that calls in the scope, or in scopes inside it, caused. It may begin after the scope
 * has ended, and projections of instances may overlap. Within it the GPUs on which the instance had
 * work are busy (with any work, also of other instances) or idle (idle.h says why). */
#ifndef DAGTAP_ANALYZE_SCOPE_STATS_H
#define DAGTAP_ANALYZE_SCOPE_STATS_H

#include "analyze/distribution.h"
#include "analyze/idle.h"
#include "analyze/scope_instances.h"

/* The activities that a scope and those inside it caused. */
struct scope_work {
	uint64_t timed, untimed;
	int64_t begin_ns, end_ns; /* of the projection; 0 if no activity is timed */
};

struct scope_instance {
	uint32_t scope; /* row of scopes */
	uint32_t gpus;	/* GPUs on which its work ran */
	struct scope_work work;
	/* Sums over these GPUs; busy_ns and cause_ns add up to their number times the
	 * projection. */
	int64_t busy_ns, cause_ns[IDLE_CAUSE_COUNT];
	bool is_outlier; /* its projection is, among those of all instances */
};

/* What is measured of an instance, in ns. */
enum scope_figure { SCOPE_HOST, SCOPE_PROJECTION, SCOPE_BUSY, SCOPE_IDLE, SCOPE_FIGURE_COUNT };

struct scope_stats {
	struct scope_instances instances;
	struct scope_instance *rows; /* by instance */
	/* Over all instances for SCOPE_HOST, over those with a projection for the others. */
	struct distribution figures[SCOPE_FIGURE_COUNT];
	int64_t cause_ns[IDLE_CAUSE_COUNT]; /* sums over the instances */
	/* The instance whose projection is nearest to the median of them; TRACE_NONE: none has
	 * one. */
	uint32_t median;
	/* Activities by instance: those of instance I are activities[first[I]] to first[I + 1]. */
	uint32_t *activities, *first;
};

/* Analyses the instances of the scopes that match PATTERN (scope_match.h). DEPS must live only
 * during the call. 0, or -ENOMEM with RET_STATS unchanged; the caller releases RET_STATS. Cost: a
 * walk through scopes and activities, and for each instance one through the activities of its
 * projection. */
int scope_stats_make(const struct dependencies *deps, const char *pattern,
		     struct scope_stats *ret_stats);
void scope_stats_release(struct scope_stats *stats);

/* A figure of ROW; 0 for all but the host's time if it has no projection. */
int64_t scope_figure(const struct trace *trace, const struct scope_instance *row,
		     enum scope_figure figure);

#endif
