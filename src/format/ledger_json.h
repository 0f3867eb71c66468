/* The ledger as JSON: what `dagtap check --json` and Kineto's files say of it, in the same words (docs/json.md). */
#ifndef DAGTAP_FORMAT_LEDGER_JSON_H
#define DAGTAP_FORMAT_LEDGER_JSON_H

#include "trace/model.h"
#include "wire/json.h"

/* The keys of a source, into an object that the caller begins and ends. */
void ledger_json_source(struct json *json, const struct trace *trace,
			const struct trace_source *source);

/* "messages" and all of them. */
void ledger_json_messages(struct json *json, const struct trace *trace);

#endif
