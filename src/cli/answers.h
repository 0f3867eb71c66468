/* The answers of the commands as JSON, for other code of the command line (report_data.h): each
 * function writes to OUT what its command prints with --json (docs/json.md), a newline behind it.
 *
 * PATH is the file of TRACE. LIMIT is the most rows of each list, 0 = all. Each function returns 0,
 * -ENODATA if the trace has nothing that the command could show (nothing is written then), or
 * another negative errno. Threading: the main thread. */
#ifndef DAGTAP_CLI_ANSWERS_H
#define DAGTAP_CLI_ANSWERS_H

#include <stdio.h>

#include "analyze/dependencies.h"
#include "trace/trace_model.h"

/* What the file holds; the ledger. */
int info_write_json(const struct trace *trace, const char *path, FILE *out);
int check_write_json(const struct trace *trace, const char *path, FILE *out);

/* BY: a value of --by. */
int summary_write_json(const struct trace *trace, const char *path, const char *by, uint32_t limit,
		       FILE *out);

/* IS_LEFT_OUT tells by graph which ones are not written; NULL: all are. */
int graph_write_json(const struct trace *trace, const char *path, const bool *is_left_out,
		     FILE *out);

/* Of the whole trace. DEPS are the trace's, here and of the gaps. */
int path_write_json(const struct dependencies *deps, const char *path, uint32_t limit, FILE *out);

/* The LIMIT longest gaps. */
int gaps_write_json(const struct dependencies *deps, const char *path, uint32_t limit, FILE *out);

/* All scopes, in groups; cmd_scopes.h has the instances of one. */
int scopes_write_json(const struct trace *trace, const char *path, uint32_t limit, FILE *out);

/* Of the whole trace, with all six tables. */
int memory_write_json(const struct trace *trace, const char *path, uint32_t limit, FILE *out);

/* BY: a value of diff's --by. Without a threshold. */
int diff_write_json(struct trace *const traces[2], const char *const paths[2], const char *by,
		    FILE *out);

#endif
