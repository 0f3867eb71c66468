/* Inside analyze/: what the rows of a summary stand for, how they are called (summary_names.c), the
 * occupancy of kernels (summary_occupancy.c), and the totals (summary_totals.c). */
#ifndef DAGTAP_ANALYZE_SUMMARY_ROWS_H
#define DAGTAP_ANALYZE_SUMMARY_ROWS_H

#include "analyze/summary.h"
#include "base/numbers.h"
#include "base/workers.h"

/* ---- keys and names ---- */

#define SUMMARY_NO_KEY UINT64_MAX /* the activity is in no row */

/* Paths of scopes: scopes with the same label below the same path have the same path. */
struct summary_paths {
	uint32_t *of_scope;	/* by scope: the number of its path */
	struct numbers numbers; /* numbers pairs of parent's path and label of the scope */
};

/* Returns 0 or -ENOMEM. PATHS must be zeroed; release it in both cases. */
int summary_paths_make(const struct trace *trace, struct summary_paths *paths);
void summary_paths_release(struct summary_paths *paths);

/* The key of the graph that LAUNCH launched, and of the node of an activity of a launch. */
uint64_t summary_graph_key(const struct trace *trace, uint32_t launch);
uint64_t summary_node_key(const struct trace *trace, const struct trace_activity *row);

/* The name of the row with KEY; the caller frees it. PATHS is used by scope alone. NULL: out of
 * memory. */
char *summary_row_name(const struct trace *trace, enum summary_by by, uint64_t key,
		       const struct summary_paths *paths);

/* ---- totals ---- */

/* What one thread has counted. */
struct summary_counted {
	struct summary_totals totals;
	__int128 kernel_ns; /* exact, so that the order of adding does not count */
	char apart[WORKERS_APART];
};

struct summary_counts {
	const struct trace *trace;
	struct summary_counted of_worker[WORKERS_MOST];
};

/* Begins with nothing counted, for any number of threads. Borrows TRACE. */
void summary_counts_init(struct summary_counts *counts, const struct trace *trace);

/* Counts the activities from FIRST to END on the thread WORKER. */
void summary_counts_add(struct summary_counts *counts, unsigned worker, uint32_t first,
			uint32_t end);

/* The totals, once all activities are counted. */
struct summary_totals summary_counts_sum(const struct summary_counts *counts);

/* ---- occupancy ---- */

/* The time of a work kind, and where it ran. */
struct summary_work_time {
	__int128 ns;   /* exact, so that the order of adding does not count */
	uint32_t last; /* its last activity that names a GPU, + 1; 0 = none */
	/* Its row, or TRACE_NONE, in the piece of a table that was made last, and the number of
	 * that piece; 0: it was in none yet. */
	uint32_t row, piece;
};

/* Sets the occupancy of the rows of a table by kernel. TIMES are those of all activities; KEYS
 * numbers the rows by the names of their kernels. Returns 0 or -ENOMEM. */
int summary_find_occupancy(const struct trace *trace, const struct summary_work_time *times,
			   const struct numbers *keys, struct summary_row *rows, uint32_t count);

#endif
