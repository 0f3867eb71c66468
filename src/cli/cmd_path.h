/* The result of `dagtap path`, for its two outputs (path_text.c, path_json.c). cmd_path.c fills
 * it. */
#ifndef DAGTAP_CLI_CMD_PATH_H
#define DAGTAP_CLI_CMD_PATH_H

#include <stdio.h>

#include "analyze/idle.h"
#include "analyze/path_jumps.h"
#include "analyze/path_report.h"
#include "cli/cli.h"

struct path_result {
	const char *file; /* of the trace */
	struct path_query query;
	uint32_t limit; /* rows shown of each table, 0 = all */
	bool is_csv;	/* instead of the text: the segments of the path, as CSV */
	const struct trace *trace;
	const struct dependencies *deps;
	struct path_jumps jumps;
	struct path_windows windows;
	struct path_report report;
	struct idle idle;
};

/* How many rows of a table of COUNT rows are shown. */
static inline uint32_t path_rows_shown(const struct path_result *result, uint32_t count)
{
	return result->limit && result->limit < count ? result->limit : count;
}

/* Prints the result on stdout, and returns a cli_exit. */
int path_print_text(const struct path_result *result);

/* Writes the result to OUT as one JSON object (docs/json.md). Returns 0 or a negative errno. */
int path_put_json(const struct path_result *result, FILE *out);

#endif
