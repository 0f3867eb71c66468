/* The ledger and the messages of a trace as JSON. */
#include "format/ledger_json.h"

static void put_witness(struct json *json, const struct trace *trace,
			const struct trace_source *source)
{
	json_key(json, "witness");
	if (source->has_expected)
		json_text(json, trace_text(trace, source->witness));
	else
		json_null(json);
	json_key(json, "expected");
	if (source->has_expected)
		json_u64(json, source->expected);
	else
		json_null(json);
}

void ledger_json_source(struct json *json, const struct trace *trace,
			const struct trace_source *source)
{
	json_put_text(json, "name", trace_text(trace, source->name));
	json_put_u64(json, "pid", trace->processes[source->process].pid);
	json_put_text(json, "state", trace_text(trace, source->state));
	put_witness(json, trace, source);
	json_put_u64(json, "received", source->received);
	json_put_u64(json, "joined", source->joined);
	json_put_u64(json, "orphan_calls", source->orphan_calls);
	json_put_u64(json, "orphan_activities", source->orphan_activities);
	json_put_u64(json, "untimed", source->untimed);
	json_key(json, "dropped");
	json_row_begin(json);
	for (uint32_t i = 0; i < source->drop_count; i++) {
		const struct trace_drop *drop = &trace->drops[source->drop_first + i];

		json_put_u64(json, trace_text(trace, drop->cause), drop->count);
	}
	json_object_end(json);
	json_put_u64(json, "unexplained", source->unexplained);
	json_put_text(json, "text", trace_text(trace, source->text));
}

void ledger_json_messages(struct json *json, const struct trace *trace)
{
	json_key(json, "messages");
	json_array_begin(json);
	for (uint32_t i = 0; i < trace->messages_count; i++) {
		const struct trace_message *message = &trace->messages[i];

		json_row_begin(json);
		json_key(json, "pid");
		if (message->process == TRACE_NONE)
			json_null(json);
		else
			json_u64(json, trace->processes[message->process].pid);
		json_put_bool(json, "damage", message->damage);
		json_put_text(json, "text", trace_text(trace, message->text));
		json_object_end(json);
	}
	json_array_end(json);
}
