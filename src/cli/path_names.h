/* How the outputs of `dagtap path` (path_text.c, path_json.c) name a stream, a scope or an
 * activity in one cell or value. */
#ifndef DAGTAP_CLI_PATH_NAMES_H
#define DAGTAP_CLI_PATH_NAMES_H

#include "trace/trace_model.h"
#include "wire/json.h"

#define PATH_TEXT_CHARS 96

/* Writes into BUFFER, of PATH_TEXT_CHARS bytes, and returns it. */
const char *path_stream_text(const struct trace *trace, uint32_t stream, uint32_t agent,
			     char *buffer);

/* These return texts of the trace. */
const char *path_scope_text(const struct trace *trace, uint32_t scope);
const char *path_activity_text(const struct trace *trace, uint32_t activity);

/* Puts the object of an activity as member KEY (path_json.c). */
void path_put_activity(struct json *json, const struct trace *trace, const char *key,
		       uint32_t activity);

#endif
