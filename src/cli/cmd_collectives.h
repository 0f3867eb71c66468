/* The result of `dagtap collectives`, for its two outputs (collectives_text.c, collectives_json.c).
 * cmd_collectives.c fills it. */
#ifndef DAGTAP_CLI_CMD_COLLECTIVES_H
#define DAGTAP_CLI_CMD_COLLECTIVES_H

#include <stdio.h>

#include "analyze/collectives.h"
#include "cli/cli.h"

/* The tables, in the order in which they are printed. */
enum collectives_table {
	COLLECTIVES_OPERATIONS,
	COLLECTIVES_LATE,
	COLLECTIVES_RANKS,
	COLLECTIVES_TABLE_COUNT
};

struct collectives_result {
	const char *file; /* of the trace */
	const struct trace *trace;
	enum collectives_table table; /* the only one printed; COLLECTIVES_TABLE_COUNT: all */
	uint32_t limit;		      /* rows shown of each table, 0 = all */
	bool is_csv;
	struct collectives collectives;
};

/* How many rows of a table of COUNT rows are shown. */
static inline uint32_t collectives_rows_shown(const struct collectives_result *result,
					      uint32_t count)
{
	return result->limit && result->limit < count ? result->limit : count;
}

/* Prints the result on stdout as text, or a table of it as CSV, and returns a cli_exit. */
int collectives_print_text(const struct collectives_result *result);

/* Writes the result to OUT as one JSON object (docs/json.md). Returns 0 or a negative errno. */
int collectives_put_json(const struct collectives_result *result, FILE *out);

#endif
