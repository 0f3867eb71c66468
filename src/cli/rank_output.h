/* The clocks of a merged recording, as commands print them. Both print nothing for any other.
 * Threading: the main thread. */
#ifndef DAGTAP_CLI_RANK_OUTPUT_H
#define DAGTAP_CLI_RANK_OUTPUT_H

#include "trace/trace_model.h"
#include "wire/json.h"

/* Adds the key "clocks" (docs/json.md). */
void rank_output_put_json(struct json *json, const struct trace *trace);

/* Prints one line, whose first word is padded as the head of a summary is. */
void rank_output_print_head(const struct trace *trace);

#endif
