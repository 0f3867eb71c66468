/* What one instance of a scope did that another one did not: kernel by kernel, or node by node. */
#ifndef DAGTAP_ANALYZE_SCOPE_COMPARE_H
#define DAGTAP_ANALYZE_SCOPE_COMPARE_H

#include "analyze/scope_stats.h"

enum scope_compare_by {
	SCOPE_BY_WORK, /* kernels by name, copies by direction, memsets, idle time by cause */
	SCOPE_BY_NODE  /* activities of graph launches, by node */
};

enum scope_part_kind { SCOPE_PART_ACTIVITY, SCOPE_PART_IDLE };

/* Work of the same name in both instances: 0 in the one that is compared with, 1 in the other. */
struct scope_part {
	enum scope_part_kind kind;
	/* ACTIVITY: a row of activities that is one of these. */
	uint32_t activity;
	enum idle_cause cause; /* IDLE */
	uint64_t count[2];     /* timed activities; of IDLE: 0 */
	int64_t ns[2];	       /* sum of their durations; of IDLE: over all GPUs */
};

struct scope_parts {
	struct scope_part *rows; /* by difference of ns, largest first */
	uint32_t count;
};

/* Compares instance INSTANCE of STATS with instance BASE. Parts that are the same in count and time
 * are left out. 0, or -ENOMEM with RET_PARTS unchanged; the caller frees RET_PARTS->rows. */
int scope_compare(const struct trace *trace, const struct scope_stats *stats, uint32_t base,
		  uint32_t instance, enum scope_compare_by by, struct scope_parts *ret_parts);

/* ns[1] - ns[0]. */
int64_t scope_part_difference(const struct scope_part *part);

#endif
