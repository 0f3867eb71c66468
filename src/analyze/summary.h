/* Where the time went: totals, and activities or calls grouped by one property. */
#ifndef DAGTAP_ANALYZE_SUMMARY_H
#define DAGTAP_ANALYZE_SUMMARY_H

#include "analyze/tally.h"
#include "trace/model.h"

struct summary_totals {
	uint64_t kernels;
	uint64_t graph_kernels; /* those of them that a graph launch brought */
	uint64_t copies;
	uint64_t memsets;
	uint64_t api_calls;
	uint64_t graph_launches;
	uint64_t untimed;
	uint64_t impossible; /* of them: their times cannot be */
	uint64_t orphans;    /* activities without a call */
	uint64_t copied_bytes;
	uint64_t processes, gpus, threads, streams, graphs;
	int64_t kernel_ns;
	int64_t begin_ns, end_ns; /* first start and last end of any timed activity */
};

struct summary_totals summary_count(const struct trace *trace);

enum summary_by {
	SUMMARY_BY_KERNEL, /* kernels alone */
	SUMMARY_BY_COPY,   /* copies and memsets, by direction */
	SUMMARY_BY_STREAM,
	SUMMARY_BY_GRAPH,
	SUMMARY_BY_NODE,  /* "graph 3 node 5: KERNEL" */
	SUMMARY_BY_SCOPE, /* the innermost scope, named by its path */
	SUMMARY_BY_API,	  /* host time of calls */
};

struct summary_row {
	char *name; /* owned by the table */
	struct tally tally;
	uint64_t bytes; /* copies and memsets */
};

struct summary_table {
	struct summary_row *rows; /* by total time, longest first, then by name */
	uint32_t count;
};

/* 0 or -ENOMEM. */
int summary_make(const struct trace *trace, enum summary_by by, struct summary_table *ret_table);
void summary_release(struct summary_table *table);

const char *summary_direction_text(enum trace_copy_direction direction);

#endif
