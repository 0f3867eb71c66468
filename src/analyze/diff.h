/* Compares two traces: the rows of a summary of each, matched by name. */
#ifndef DAGTAP_ANALYZE_DIFF_H
#define DAGTAP_ANALYZE_DIFF_H

#include <stdbool.h>

#include "analyze/summary.h"

struct diff_row {
	char *name;		   /* owned by the table */
	struct tally a, b;	   /* a count of 0: the trace has no such row */
	uint64_t a_bytes, b_bytes; /* of copies and memsets */
};

struct diff_table {
	/* By absolute change of the total, largest first; then by name. */
	struct diff_row *rows;
	uint32_t count;
};

/* Summarizes both traces by BY and matches the rows. Keeps no pointer to the traces; the caller
 * releases RET_TABLE. 0 or -ENOMEM. */
int diff_make(const struct trace *a, const struct trace *b, enum summary_by by,
	      struct diff_table *ret_table);
void diff_release(struct diff_table *table);

/* Total of B minus total of A, in ns. */
int64_t diff_change_ns(const struct diff_row *row);

/* Whether the total changed by at least PERCENT of A's total. True for a row that only one trace
 * has. */
bool diff_is_notable(const struct diff_row *row, double percent);

#endif
