/* Writes the result of `dagtap memory` as JSON (docs/json.md). */
#include "cli/cmd_memory.h"
#include "cli/path_names.h"
#include "format/words.h"
#include "wire/json.h"

/* Members pid, device ("gpu", "host"; null: not known), gpu and kind. */
static void put_place(struct json *json, const struct trace *trace, uint32_t process,
		      uint32_t agent, enum record_memory_kind kind)
{
	bool is_gpu = agent != TRACE_NONE && trace->agents[agent].is_gpu;

	json_put_u64(json, "pid", trace->processes[process].pid);
	json_put_text(json, "device", agent == TRACE_NONE ? NULL : is_gpu ? "gpu" : "host");
	json_key(json, "gpu");
	if (is_gpu)
		json_u64(json, trace->agents[agent].gpu_ordinal);
	else
		json_null(json);
	json_put_text(json, "kind", words_memory_kind(kind));
}

static void put_place_at(struct json *json, const struct memory_result *result, uint32_t index)
{
	const struct memory_place *place = &result->memory.places[index];

	put_place(json, result->trace, place->process, place->agent, place->kind);
}

static void put_stream(struct json *json, const struct trace *trace, uint32_t stream)
{
	json_key(json, "stream");
	if (stream == TRACE_NONE)
		json_null(json);
	else
		json_u64(json, trace->streams[stream].ordinal);
}

static void put_text(struct json *json, const struct trace *trace, const char *key,
		     trace_string text)
{
	json_put_text(json, key, text ? trace_text(trace, text) : NULL);
}

static void put_use(struct json *json, const struct memory_result *result,
		    const struct memory_use *use)
{
	put_place_at(json, result, use->place);
	put_stream(json, result->trace, use->stream);
	put_text(json, result->trace, "function", use->function);
	put_text(json, result->trace, "scope", use->scope);
}

static void put_devices(struct json *json, const struct memory_result *result)
{
	json_key(json, "devices");
	json_array_begin(json);
	for (uint32_t i = 0; i < memory_rows_shown(result, result->memory.places_count); i++) {
		const struct memory_place *place = &result->memory.places[i];

		json_row_begin(json);
		put_place_at(json, result, i);
		json_put_u64(json, "allocations", place->allocations);
		json_put_u64(json, "releases", place->releases);
		json_put_u64(json, "allocated_bytes", place->allocated_bytes);
		json_put_u64(json, "peak_bytes", place->peak_bytes);
		json_put_i64(json, "peak_ns", place->peak_ns);
		json_put_u64(json, "live_bytes", place->live_bytes);
		json_put_u64(json, "live_count", place->live_count);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_peak(struct json *json, const struct memory_result *result)
{
	json_key(json, "peak");
	json_array_begin(json);
	for (uint32_t i = 0; i < memory_rows_shown(result, result->peak_uses_count); i++) {
		const struct memory_use *use = &result->memory.uses[result->peak_uses[i]];

		json_row_begin(json);
		put_use(json, result, use);
		json_put_u64(json, "bytes", use->peak_share);
		json_put_u64(json, "count", use->peak_count);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_scopes(struct json *json, const struct memory_result *result)
{
	json_key(json, "scopes");
	json_array_begin(json);
	for (uint32_t i = 0; i < memory_rows_shown(result, result->memory.uses_count); i++) {
		const struct memory_use *use = &result->memory.uses[i];

		json_row_begin(json);
		put_use(json, result, use);
		json_put_u64(json, "allocations", use->allocations);
		json_put_u64(json, "allocated_bytes", use->allocated_bytes);
		json_put_u64(json, "peak_bytes", use->peak_bytes);
		json_put_u64(json, "live_bytes", use->live_bytes);
		json_put_u64(json, "live_count", use->live_count);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_leaks(struct json *json, const struct memory_result *result)
{
	json_key(json, "leaks");
	json_array_begin(json);
	for (uint32_t i = 0; i < memory_rows_shown(result, result->memory.leaks_count); i++) {
		const struct memory_leak *leak = &result->memory.leaks[i];

		json_row_begin(json);
		put_use(json, result, &result->memory.uses[leak->use]);
		json_put_u64(json, "bytes", leak->bytes);
		json_put_u64(json, "count", leak->count);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_failed(struct json *json, const struct memory_result *result)
{
	const struct trace *trace = result->trace;

	json_key(json, "failed");
	json_array_begin(json);
	for (uint32_t i = 0; i < memory_rows_shown(result, result->memory.failures_count); i++) {
		const struct memory_block *block = &result->blocks.rows[result->memory.failures[i]];
		const struct trace_call *call =
			block->call == TRACE_NONE ? NULL : &trace->calls[block->call];

		json_row_begin(json);
		put_place(json, trace, block->process, block->agent, block->kind);
		put_stream(json, trace, block->stream);
		put_text(json, trace, "function", call ? trace->apis[call->api].name : 0);
		put_text(json, trace, "scope",
			 block->scope == TRACE_NONE ? 0 : trace_scope_label(trace, block->scope));
		json_put_i64(json, "ns", block->begin_ns);
		json_key(json, "bytes");
		if (block->bytes)
			json_u64(json, block->bytes);
		else
			json_null(json);
		json_put_i64(json, "result", block->result);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_time(struct json *json, const struct memory_result *result)
{
	json_key(json, "time");
	json_array_begin(json);
	for (uint32_t i = 0; i < memory_rows_shown(result, result->memory.steps_count); i++) {
		const struct memory_step *step = &result->memory.steps[i];

		json_row_begin(json);
		put_place_at(json, result, step->place);
		json_put_i64(json, "begin_ns", step->begin_ns);
		json_put_i64(json, "end_ns", step->end_ns);
		json_put_u64(json, "peak_bytes", step->peak_bytes);
		json_put_u64(json, "live_bytes", step->live_bytes);
		json_object_end(json);
	}
	json_array_end(json);
}

int memory_put_json(const struct memory_result *result, FILE *out)
{
	static void (*const tables[])(struct json *, const struct memory_result *) = {
		[MEMORY_DEVICES] = put_devices, [MEMORY_PEAK] = put_peak,
		[MEMORY_SCOPES] = put_scopes,	[MEMORY_LEAKS] = put_leaks,
		[MEMORY_FAILED] = put_failed,	[MEMORY_TIME] = put_time,
	};
	struct json json;

	json_init(&json, out);
	json_object_begin(&json);
	json_put_text(&json, "file", result->file);
	json_put_u64(&json, "unknown_releases", result->blocks.unknown_releases);
	for (int table = 0; table < MEMORY_TABLE_COUNT; table++) {
		if (result->table == MEMORY_TABLE_COUNT ||
		    result->table == (enum memory_table)table)
			tables[table](&json, result);
	}
	json_object_end(&json);
	return json_finish(&json);
}
