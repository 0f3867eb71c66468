/* The gaps of GPUs: intervals between two activities in which nothing ran on the GPU, with what the
 * host did meanwhile. */
#ifndef DAGTAP_ANALYZE_GAPS_H
#define DAGTAP_ANALYZE_GAPS_H

#include "analyze/idle.h"
#include "analyze/tally.h"

/* Calls of one function, or scopes with one text, on the threads of the GPU's process. */
struct gap_part {
	uint32_t gap;	   /* index into gaps.rows */
	trace_string name; /* of the function, or text of the scopes */
	uint64_t count;	   /* that overlap the gap */
	int64_t ns;	   /* sum of these overlaps */
};

/* Parts of all gaps, those of one gap together, longest first. */
struct gap_parts {
	struct gap_part *rows;
	uint32_t count;
};

struct gap {
	uint32_t agent;		/* the GPU */
	uint32_t before, after; /* activities: the last one to end, and the first one to start */
	int64_t begin_ns, end_ns;
	int64_t cause_ns[IDLE_CAUSE_COUNT]; /* these add up to the gap; never IDLE_END */
	/* The innermost scope that covers at least half of the gap, on the thread that submitted
	 * the activity after the gap, or else on any thread of the process; or TRACE_NONE. */
	uint32_t scope;
	uint32_t scope_depth;
	bool is_of_submitter;	      /* the scope is on that thread */
	uint32_t first_call, calls;   /* range of gaps.calls */
	uint32_t first_scope, scopes; /* range of gaps.scopes */
};

struct gaps {
	struct gap *rows; /* longest first, then by begin and GPU */
	uint32_t count;
	uint32_t found;		/* gaps before only the longest were kept */
	int64_t total_ns;	/* of all that were found */
	struct gap_parts calls; /* outermost calls */
	struct gap_parts scopes;
};

/* Finds the gaps before the activities that IS_SELECTED, by activity, marks (NULL: all), and keeps
 * the LIMIT longest; 0 = all. DEPS must live only during the call. 0, or -ENOMEM with RET_GAPS
 * unchanged; the caller releases RET_GAPS. Cost: a walk through activities, and for each GPU one
 * through calls and scopes. */
int gaps_find(const struct dependencies *deps, const bool *is_selected, uint32_t limit,
	      struct gaps *ret_gaps);
void gaps_release(struct gaps *gaps);

static inline int64_t gap_ns(const struct gap *gap)
{
	return tally_span(gap->begin_ns, gap->end_ns);
}

/* The cause of the longest part of GAP. */
enum idle_cause gap_cause(const struct gap *gap);

#endif
