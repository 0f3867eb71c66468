/* The result of `dagtap memory`, for its two outputs (memory_text.c, memory_json.c). cmd_memory.c
 * fills it. */
#ifndef DAGTAP_CLI_CMD_MEMORY_H
#define DAGTAP_CLI_CMD_MEMORY_H

#include <stdio.h>

#include "analyze/held_memory.h"
#include "cli/cli.h"

/* The tables, in the order in which they are printed. */
enum memory_table {
	MEMORY_DEVICES,
	MEMORY_PEAK,
	MEMORY_SCOPES,
	MEMORY_LEAKS,
	MEMORY_FAILED,
	MEMORY_TIME,
	MEMORY_TABLE_COUNT
};

struct memory_result {
	const char *file; /* of the trace */
	const struct trace *trace;
	enum memory_table table; /* the only one that is printed; MEMORY_TABLE_COUNT: all */
	uint32_t limit;		 /* rows shown of each table, 0 = all */
	bool is_csv;
	int64_t begin_ns; /* of the recording */
	struct memory_blocks blocks;
	struct memory memory;
	/* Indices into memory.uses of those that held something at the peak of their place: by
	 * place, most bytes first. */
	uint32_t *peak_uses;
	uint32_t peak_uses_count;
};

/* How many rows of a table of COUNT rows are shown. */
static inline uint32_t memory_rows_shown(const struct memory_result *result, uint32_t count)
{
	return result->limit && result->limit < count ? result->limit : count;
}

/* Prints the result on stdout as text, or a table of it as CSV, and returns a cli_exit. */
int memory_print_text(const struct memory_result *result);

/* Writes the result to OUT as one JSON object (docs/json.md). Returns 0 or a negative errno. */
int memory_put_json(const struct memory_result *result, FILE *out);

#endif
