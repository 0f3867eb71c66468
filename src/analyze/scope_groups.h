/* All scopes of a trace in groups: those whose texts differ in numbers alone. */
#ifndef DAGTAP_ANALYZE_SCOPE_GROUPS_H
#define DAGTAP_ANALYZE_SCOPE_GROUPS_H

#include "analyze/distribution.h"
#include "trace/trace_model.h"

struct scope_group {
	char *name; /* owned; with '*' for each run of digits */
	uint32_t scopes;
	uint64_t activities; /* of calls in the scopes, or in scopes inside them */
	/* Of all scopes, and of those that caused a timed activity (scope_stats.h says what the
	 * projection is). */
	struct distribution host, projection;
};

struct scope_groups {
	/* By total of the projections, longest first, then of the host's times, then by name. */
	struct scope_group *rows;
	uint32_t count;
};

/* Groups the intervals among the scopes. A scope inside another one of its group counts too. 0, or
 * -ENOMEM with RET_GROUPS unchanged; the caller releases RET_GROUPS. Cost: for each activity a walk
 * through the scopes around it. */
int scope_groups_make(const struct trace *trace, struct scope_groups *ret_groups);
void scope_groups_release(struct scope_groups *groups);

#endif
