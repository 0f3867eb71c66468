/* What `dagtap path` found, for its two outputs. */
#ifndef DAGTAP_CLI_PATH_H
#define DAGTAP_CLI_PATH_H

#include "analyze/idle.h"
#include "analyze/path_report.h"
#include "cli/cli.h"

struct path_result {
	const char *file;
	struct path_query query;
	uint32_t limit; /* rows of each table, 0 = all */
	const struct trace *trace;
	struct dependencies deps;
	struct path_windows windows;
	struct path_report report;
	struct idle idle;
};

static inline uint32_t path_rows_shown(const struct path_result *result, uint32_t count)
{
	return result->limit && result->limit < count ? result->limit : count;
}

/* Both return a cli_exit. */
int path_print_text(const struct path_result *result);
int path_print_json(const struct path_result *result);

/* Which graphs, streams and scopes: a column or a value each, in the caller's buffer. */
#define PATH_TEXT_CHARS 96

const char *path_stream_text(const struct trace *trace, uint32_t stream, uint32_t agent,
			     char *buffer);
const char *path_scope_text(const struct trace *trace, uint32_t scope);
const char *path_activity_text(const struct trace *trace, uint32_t activity);

#endif
