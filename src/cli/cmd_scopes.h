/* The result of `dagtap scopes`, for its two outputs (scopes_text.c, scopes_json.c). cmd_scopes.c
 * fills it. */
#ifndef DAGTAP_CLI_CMD_SCOPES_H
#define DAGTAP_CLI_CMD_SCOPES_H

#include <stdio.h>

#include "analyze/scope_compare.h"
#include "analyze/scope_groups.h"
#include "analyze/scope_stats.h"
#include "cli/cli.h"

/* An instance that is compared with the median instance. */
struct scopes_comparison {
	uint32_t instance;
	struct scope_parts works, nodes;
};

struct scopes_result {
	const char *file;    /* of the trace */
	const char *pattern; /* NULL: all scopes, in groups */
	bool is_csv;	     /* instead of the text: the groups, or the instances, as CSV */
	uint32_t limit;	     /* rows shown of each table, 0 = all */
	const struct trace *trace;
	struct scope_groups groups; /* without a pattern */
	struct scope_stats stats;   /* with one */
	/* The outliers, or the one instance that was asked for. */
	struct scopes_comparison *comparisons;
	uint32_t comparisons_count;
};

/* Analyses the instances of RESULT's pattern, with the outliers. RESULT's file, pattern and trace
 * must be set, and everything else zero. 0 or -ENOMEM; the caller calls scopes_release in both
 * cases. DEPS must live only during the call. */
int scopes_find(const struct dependencies *deps, struct scopes_result *result);

/* Frees what the analysis has made. */
void scopes_release(struct scopes_result *result);

/* How many rows of a table of COUNT rows are shown. */
static inline uint32_t scopes_rows_shown(const struct scopes_result *result, uint32_t count)
{
	return result->limit && result->limit < count ? result->limit : count;
}

/* The name of a figure in JSON, and in the text. */
const char *scopes_figure_key(enum scope_figure figure);
const char *scopes_figure_text(enum scope_figure figure);

/* The name of a part: a kernel, "copy D2H", "memset", the text of a cause. By node: the node's. */
const char *scopes_part_name(const struct trace *trace, const struct scope_part *part,
			     bool is_node);

/* Prints the result on stdout, and returns a cli_exit. */
int scopes_print_text(const struct scopes_result *result);

/* Writes the result to OUT as one JSON object (docs/json.md). Returns 0 or a negative errno. */
int scopes_put_json(const struct scopes_result *result, FILE *out);

#endif
