/* Compares two traces: the rows of a summary of each, matched by name. */
#ifndef DAGTAP_ANALYZE_DIFF_H
#define DAGTAP_ANALYZE_DIFF_H

#include <stdbool.h>

#include "analyze/summary.h"

/* What is compared: activities one by one, or the sums of a row in each instance of a scope or in
 * each replay. */
struct diff_query {
	enum summary_by by;
	const char *scope; /* scopes whose instances are compared (scope_match.h); or NULL */
	bool is_by_replay;
};

struct diff_row {
	char *name;		   /* owned by the table */
	struct tally a, b;	   /* of activities, or of instances or replays */
	uint64_t a_bytes, b_bytes; /* of copies and memsets */
	/* Activities, or calls; 0: the trace has no such row. */
	uint64_t a_activities, b_activities;
	/* Total of B minus total of A; of instances and replays, mean minus mean; and A's. */
	int64_t change_ns, base_ns;
	double probability; /* that the means are equal, by Welch's t-test; NAN: not known */
	bool has_changed;
};

struct diff_table {
	/* By absolute change of the total, largest first; then by name. */
	struct diff_row *rows;
	uint32_t count;
	uint32_t changed; /* rows that have changed */
	/* Sums over all rows, and over those that have not changed. */
	int64_t base_ns, unchanged_base_ns, unchanged_change_ns;
	uint32_t a_parts, b_parts; /* instances or replays; 0: activities are compared */
};

/* A row has changed if only one trace has it; if its number of activities, for each instance or
 * replay, differs by DIFF_LEAST_PERCENT or more; or if its means do, and by Welch's t-test not by
 * chance: the probability is below DIFF_PROBABILITY divided by the number of rows that are in
 * both (Bonferroni). Where there is no spread to tell, a difference of DIFF_LEAST_PERCENT is
 * enough. The changes of rows that have not changed need not cancel out: their sum may be more than
 * what changed. */
#define DIFF_PROBABILITY   0.01
#define DIFF_LEAST_PERCENT 1.0

/* Summarizes both traces as QUERY says and matches the rows. Keeps no pointer to the traces; the
 * caller releases RET_TABLE. 0 or -ENOMEM. */
int diff_make(const struct trace *a, const struct trace *b, const struct diff_query *query,
	      struct diff_table *ret_table);
void diff_release(struct diff_table *table);

/* Whether the change is at least PERCENT of A's total or mean. True for a row that only one trace
 * has. */
bool diff_is_notable(const struct diff_row *row, double percent);

#endif
