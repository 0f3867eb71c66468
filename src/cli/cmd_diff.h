/* The options of `dagtap diff`, and what it compares, for its outputs (diff_json.c). */
#ifndef DAGTAP_CLI_CMD_DIFF_H
#define DAGTAP_CLI_CMD_DIFF_H

#include <stdio.h>

#include "analyze/diff.h"
#include "cli/filter_options.h"

struct diff_options {
	const char *paths[2]; /* A, B */
	uint32_t by;	      /* index into groupings of cmd_diff.c */
	const char *scope;    /* whose instances are compared; or NULL */
	bool is_by_replay;
	double threshold_percent;
	uint32_t limit;
	struct filter_options filter_options;
	struct filter filter;
	bool full_names;
	bool csv;
	bool json;
};

/* The two traces. */
struct diff_pair {
	struct trace *traces[2];
	struct summary_totals totals[2];
};

/* "new": A has no such row; "gone": B has none; otherwise "both". */
static inline const char *diff_row_state(const struct diff_row *row)
{
	if (row->a_activities == 0)
		return "new";
	return row->b_activities == 0 ? "gone" : "both";
}

/* Writes both tables to OUT as one JSON object (docs/json.md). BY is the value of --by. With
 * kernel, COPIES has the copies and memsets; otherwise it is empty. Returns 0 or a negative
 * errno. */
int diff_put_json(const struct diff_pair *pair, const struct diff_options *options, const char *by,
		  const struct diff_table *table, const struct diff_table *copies, FILE *out);

#endif
