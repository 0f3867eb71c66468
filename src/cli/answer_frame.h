/* What the commands share that answer one question about one trace: options, opening, filtering,
 * names of kernels, damage, closing. Threading: the main thread. */
#ifndef DAGTAP_CLI_ANSWER_FRAME_H
#define DAGTAP_CLI_ANSWER_FRAME_H

#include "cli/cli.h"
#include "cli/cli_columns.h"
#include "cli/command_options.h"
#include "cli/filter_options.h"
#include "cli/kernel_names.h"

/* The values of the shared options; a member of the command's struct of options. */
struct answer_options {
	const char *path;
	const char *step_of;  /* of STEP_OPTION; NULL: not given */
	uint32_t limit;	      /* rows shown of each table, 0 = all; ROWS_DEFAULT: not given */
	enum cli_parts parts; /* what PRINT needs, besides what the options need */
	struct filter_options filter_options;
	struct filter filter; /* of filter_options, once answer_run has read them */
	bool full_names;
	bool csv;
	bool json;
};

/* Rows of a command's table of options; MEMBER of TYPE is a struct answer_options. */
#define ANSWER_LIMIT(type, member, text)                                                           \
	{                                                                                          \
		"limit", .argument = "N", .help = text, .kind = OPTION_NUMBER,                     \
			 OPTION_IN(type, member.limit)                                             \
	}
#define ANSWER_OUTPUTS(type, member)                                                               \
	KERNEL_NAMES_OPTION(type, member.full_names),                                              \
		{"csv", .help = "print the table as CSV: numbers without units, times in ns",      \
		 OPTION_IN(type, member.csv)},                                                     \
		{"json", .help = "print JSON (docs/json.md)", OPTION_IN(type, member.json)},       \
		THREADS_OPTION

/* Prints the answer on stdout. Returns a cli_exit. */
typedef int answer_print(struct trace *trace, const void *options);

/* How many rows a command shows by default as text and as JSON; CSV has all. */
struct answer_rows {
	uint32_t text, json; /* 0: all */
};

/* Runs a command whose options are parsed: reads the filter, opens shared->path, makes the steps of
 * shared->step_of, calls PRINT with OPTIONS, which SHARED is a member of, flushes stdout, tells of
 * damage and closes the trace. A limit that was not given is set by ROWS. Returns a cli_exit. */
int answer_run(const struct cli_command *self, struct answer_options *shared,
	       struct answer_rows rows, answer_print *print, const void *options);

#endif
