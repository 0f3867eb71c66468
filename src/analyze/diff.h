/* Two traces side by side: the rows of a summary of each, met by name. */
#ifndef DAGTAP_ANALYZE_DIFF_H
#define DAGTAP_ANALYZE_DIFF_H

#include <stdbool.h>

#include "analyze/summary.h"

struct diff_row {
	char *name;	   /* owned by the table */
	struct tally a, b; /* a count of 0: not in that trace */
	uint64_t a_bytes, b_bytes;
};

struct diff_table {
	struct diff_row *rows; /* by change of the total, largest first either way, then by name */
	uint32_t count;
};

/* 0 or -ENOMEM. */
int diff_make(const struct trace *a, const struct trace *b, enum summary_by by,
	      struct diff_table *ret_table);
void diff_release(struct diff_table *table);

/* What was added to the total from A to B; less than 0 if B took less. */
int64_t diff_change_ns(const struct diff_row *row);

/* Did the total change by at least PERCENT of A's? What is in one trace alone did. */
bool diff_is_notable(const struct diff_row *row, double percent);

#endif
