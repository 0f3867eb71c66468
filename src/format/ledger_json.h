/* The ledger as JSON (docs/json.md). `dagtap check --json` and the Kineto writer share it, so both
 * use the same keys. Errors stay in the json writer. */
#ifndef DAGTAP_FORMAT_LEDGER_JSON_H
#define DAGTAP_FORMAT_LEDGER_JSON_H

#include "trace/trace_model.h"
#include "wire/json.h"

/* Puts the keys and values of one ledger source into the object that the caller has begun and
 * ends. */
void ledger_json_source(struct json *json, const struct trace *trace,
			const struct trace_source *source);

/* Puts the key "messages" and an array of all messages of the trace into the caller's object. */
void ledger_json_messages(struct json *json, const struct trace *trace);

#endif
