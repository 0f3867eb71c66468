/* The data of a report: one JSON object (docs/json.md) whose members are what the commands print
 * with --json (answers.h), and the timeline. Every member has a limit of bytes, so that a report
 * has 20 MB at most: lists are cut as far as is needed, and "holds" says how far.
 *
 * Threading: the main thread. */
#ifndef DAGTAP_CLI_REPORT_DATA_H
#define DAGTAP_CLI_REPORT_DATA_H

#include <stdio.h>

#include "trace/trace_model.h"

/* The version of the object. It grows when a key is renamed or removed, or changes its meaning. */
#define REPORT_VERSION 1

/* Writes the data of one recording. STEP_OF: what its steps are (step_query.h), which are made
 * already if they are replays; NULL: it has none. Returns 0 or a negative errno. */
int report_write_recording(const struct trace *trace, const char *path, const char *step_of,
			   FILE *out);

/* Writes the data of two recordings side by side. */
int report_write_comparison(struct trace *const traces[2], const char *const paths[2], FILE *out);

#endif
