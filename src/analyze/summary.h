/* Summary of a trace: totals, and activities or calls grouped by one property. */
#ifndef DAGTAP_ANALYZE_SUMMARY_H
#define DAGTAP_ANALYZE_SUMMARY_H

#include "analyze/tally.h"
#include "trace/trace_model.h"

struct summary_totals {
	uint64_t kernels;
	uint64_t graph_kernels; /* part of kernels: of graph launches */
	uint64_t copies;
	uint64_t memsets;
	uint64_t api_calls;
	uint64_t graph_launches;
	uint64_t untimed;
	uint64_t impossible; /* part of untimed: CUPTI reported impossible times */
	uint64_t orphans;    /* activities without a call */
	uint64_t copied_bytes;
	uint64_t processes, gpus, threads, streams, graphs;
	int64_t kernel_ns; /* sum of durations */
	/* First start and last end of timed activities; 0 if there are none. */
	int64_t begin_ns, end_ns;
};

/* Counts the totals. Walks the activities once. */
struct summary_totals summary_count(const struct trace *trace);

enum summary_by {
	SUMMARY_BY_KERNEL, /* kernels only, by name */
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
	uint64_t bytes;	      /* of copies and memsets */
	uint64_t timed_bytes; /* of those with times */
	uint64_t activities;  /* SUMMARY_BY_API: calls */
	/* By kernel, without parts: the mean over the time of the kernels whose occupancy is known,
	 * from 0 to 1; and the limits of the configuration that took most of that time, 0: none is
	 * known (trace/occupancy.h). */
	double occupancy;
	uint32_t occupancy_limits;
};

/* Parts of a trace that are alike, such as the instances of a scope. */
struct summary_parts {
	const uint32_t *of_activity; /* by activity: its part, or TRACE_NONE */
	uint32_t count;
};

struct summary_table {
	struct summary_row *rows; /* by total time, longest first, then by name */
	uint32_t count;
};

/* Groups the activities (SUMMARY_BY_API: the calls) of TRACE by BY. Keeps no pointer to TRACE; the
 * caller releases RET_TABLE. 0, or -ENOMEM with RET_TABLE unchanged. */
int summary_make(const struct trace *trace, enum summary_by by, struct summary_table *ret_table);

/* Makes COUNT tables by BY[0], BY[1] ... as summary_make does, in one walk through the activities.
 * Counts the totals in the same walk if RET_TOTALS is not NULL. 0, or -ENOMEM with no table. */
int summary_make_all(const struct trace *trace, const enum summary_by *by, uint32_t count,
		     struct summary_table *ret_tables, struct summary_totals *ret_totals);

/* As summary_make, but the durations that a row's tally describes are those in each part of PARTS:
 * the sum over the part's activities, 0 in a part without one. Activities in no part are left out.
 * BY must not be SUMMARY_BY_API. */
int summary_make_by_part(const struct trace *trace, enum summary_by by,
			 const struct summary_parts *parts, struct summary_table *ret_table);
void summary_release(struct summary_table *table);

/* Bytes per second over the time of the copies; 0: no time. */
double summary_bytes_per_s(const struct summary_row *row);

/* A static text for people, such as "copy host to device". */
const char *summary_direction_text(enum trace_copy_direction direction);

#endif
