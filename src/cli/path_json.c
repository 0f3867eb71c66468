/* Prints the result of `dagtap path` as JSON (docs/json.md). */
#include <stdio.h>

#include "cli/cmd_path.h"
#include "cli/path_names.h"
#include "format/words.h"
#include "wire/json.h"

/* Writes null for an empty text. */
static void put_text_or_null(struct json *json, const char *key, const char *text)
{
	json_put_text(json, key, text && *text ? text : NULL);
}

static void put_index(struct json *json, const char *key, uint32_t index, uint64_t value)
{
	json_key(json, key);
	if (index == TRACE_NONE)
		json_null(json);
	else
		json_u64(json, value);
}

static void put_stream(struct json *json, const struct trace *trace, uint32_t stream,
		       uint32_t agent)
{
	if (agent == TRACE_NONE && stream != TRACE_NONE)
		agent = trace->streams[stream].agent;
	put_index(json, "gpu", agent, agent == TRACE_NONE ? 0 : trace->agents[agent].gpu_ordinal);
	put_index(json, "stream", stream,
		  stream == TRACE_NONE ? 0 : trace->streams[stream].ordinal);
}

void path_put_activity(struct json *json, const struct trace *trace, const char *key,
		       uint32_t activity)
{
	const struct trace_activity *row = &trace->activities[activity];

	json_key(json, key);
	json_object_begin(json);
	json_put_text(json, "name", path_activity_text(trace, activity));
	json_put_u64(json, "pid", trace->processes[row->process].pid);
	put_stream(json, trace, row->stream, row->agent);
	put_text_or_null(json, "scope", path_scope_text(trace, trace_scope_of(trace, row)));
	put_text_or_null(json, "launch_scope", path_scope_text(trace, row->scope));
	json_put_u64(json, "correlation_id", row->cid);
	json_object_end(json);
}

static void put_call(struct json *json, const struct trace *trace, const char *key, uint32_t call)
{
	const struct trace_call *row = &trace->calls[call];

	json_key(json, key);
	json_object_begin(json);
	json_put_text(json, "name", trace_text(trace, trace->apis[row->api].name));
	json_put_u64(json, "pid", trace->processes[row->process].pid);
	put_index(json, "tid", row->thread,
		  row->thread == TRACE_NONE ? 0 : trace->threads[row->thread].tid);
	put_text_or_null(json, "scope", path_scope_text(trace, row->scope));
	json_put_u64(json, "correlation_id", row->cid);
	json_object_end(json);
}

/* The cause of a wait: the kind of the dependency, and how it is known. */
static void put_cause(struct json *json, const struct path_result *result, uint32_t via,
		      enum dependency_kind kind)
{
	json_put_text(json, "cause", dependency_kind_key(kind));
	put_text_or_null(json, "known",
			 via == TRACE_NONE ? NULL : words_known(result->trace->waits[via].known));
}

/* ---- the windows and the path ---- */

static void put_windows(struct json *json, const struct path_result *result)
{
	static const char *const words[] = {
		[PATH_WINDOW_ALL] = "all",     [PATH_WINDOW_SCOPE] = "scope",
		[PATH_WINDOW_STEP] = "step",   [PATH_WINDOW_REPLAY] = "replay",
		[PATH_WINDOW_RANGE] = "range",
	};

	json_put_text(json, "by", words[result->query.by]);
	json_key(json, "windows");
	json_array_begin(json);
	for (uint32_t i = 0; i < path_rows_shown(result, result->windows.count); i++) {
		json_row_begin(json);
		json_put_i64(json, "begin_ns", result->windows.rows[i].begin_ns);
		json_put_i64(json, "end_ns", result->windows.rows[i].end_ns);
		json_object_end(json);
	}
	json_array_end(json);
	json_put_u64(json, "window_count", result->windows.count);
	json_put_i64(json, "total_ns", result->report.total_ns);
	json_key(json, "kinds");
	json_object_begin(json);
	for (int kind = 0; kind < PATH_KIND_COUNT; kind++)
		json_put_i64(json, path_kind_key((enum path_kind)kind),
			     result->report.kind_ns[kind]);
	json_object_end(json);
	json_key(json, "while_gpu_busy");
	json_object_begin(json);
	for (int kind = 0; kind < PATH_KIND_COUNT; kind++)
		json_put_i64(json, path_kind_key((enum path_kind)kind),
			     result->report.busy_ns[kind]);
	json_object_end(json);
	json_put_i64(json, "collective_ns", result->report.collective_ns);
}

static void put_works(struct json *json, const struct path_result *result)
{
	const struct path_report *report = &result->report;

	json_key(json, "work");
	json_array_begin(json);
	for (uint32_t i = 0; i < path_rows_shown(result, report->works_count); i++) {
		const struct path_work *row = &report->works[i];

		json_row_begin(json);
		json_put_text(json, "name", path_activity_text(result->trace, row->activity));
		json_put_text(json, "kind", path_kind_key((enum path_kind)row->kind));
		json_put_u64(json, "count", row->count);
		json_put_i64(json, "total_ns", row->total_ns);
		json_put_i64(json, "slack_ns", row->slack_ns);
		json_put_bool(json, "collective", row->is_collective);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_waits(struct json *json, const struct path_result *result)
{
	const struct path_report *report = &result->report;

	json_key(json, "waits");
	json_array_begin(json);
	for (uint32_t i = 0; i < path_rows_shown(result, report->waits_count); i++) {
		const struct path_wait *row = &report->waits[i];

		json_row_begin(json);
		put_cause(json, result, row->via, (enum dependency_kind)row->cause);
		json_put_u64(json, "count", row->count);
		json_put_i64(json, "total_ns", row->total_ns);
		if (row->activity == TRACE_NONE)
			put_call(json, result->trace, "call", row->call);
		else
			path_put_activity(json, result->trace, "work", row->activity);
		path_put_activity(json, result->trace, "for", row->from);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_segment(struct json *json, const struct path_result *result,
			const struct path_segment *row)
{
	json_row_begin(json);
	json_put_u64(json, "window", row->window);
	json_put_i64(json, "begin_ns", row->begin_ns);
	json_put_i64(json, "end_ns", row->end_ns);
	json_put_text(json, "kind", path_kind_key((enum path_kind)row->kind));
	json_put_u64(json, "count", row->count);
	json_put_i64(json, "gap_ns", row->gap_ns);
	json_put_text(json, "gap",
		      row->gap_ns ? path_kind_key((enum path_kind)row->gap_kind) : NULL);
	put_cause(json, result, row->via, (enum dependency_kind)row->cause);
	if (row->activity != TRACE_NONE)
		path_put_activity(json, result->trace, "work", row->activity);
	else if (row->call != TRACE_NONE)
		put_call(json, result->trace, "call", row->call);
	if (row->from != TRACE_NONE)
		path_put_activity(json, result->trace, "for", row->from);
	json_object_end(json);
}

static void put_segments(struct json *json, const struct path_result *result)
{
	json_key(json, "segments");
	json_array_begin(json);
	for (uint32_t i = 0; i < path_rows_shown(result, result->report.segments_count); i++)
		put_segment(json, result, &result->report.segments[i]);
	json_array_end(json);
	json_put_u64(json, "segment_count", result->report.segments_count);
}

/* ---- idle ---- */

static void put_resource(struct json *json, const struct idle_resource *resource)
{
	json_put_i64(json, "window_ns", resource->window_ns);
	json_put_i64(json, "busy_ns", resource->busy_ns);
	json_key(json, "idle");
	json_object_begin(json);
	for (int cause = 0; cause < IDLE_CAUSE_COUNT; cause++)
		json_put_i64(json, idle_cause_key((enum idle_cause)cause),
			     resource->cause_ns[cause]);
	json_object_end(json);
}

static void put_streams(struct json *json, const struct path_result *result)
{
	const struct trace *trace = result->trace;

	json_key(json, "streams");
	json_array_begin(json);
	for (uint32_t i = 0; i < trace->streams_count; i++) {
		const struct idle_resource *resource = idle_stream(&result->idle, i);

		if (resource->window_ns == 0)
			continue;
		json_row_begin(json);
		json_put_u64(json, "pid", trace->processes[trace->streams[i].process].pid);
		put_stream(json, trace, i, TRACE_NONE);
		put_resource(json, resource);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_gpus(struct json *json, const struct path_result *result)
{
	const struct trace *trace = result->trace;

	json_key(json, "gpus");
	json_array_begin(json);
	for (uint32_t i = 0; i < trace->agents_count; i++) {
		const struct idle_resource *resource = idle_agent(&result->idle, i);

		if (resource->window_ns == 0)
			continue;
		json_row_begin(json);
		json_put_u64(json, "pid", trace->processes[trace->agents[i].process].pid);
		json_put_u64(json, "gpu", trace->agents[i].gpu_ordinal);
		put_resource(json, resource);
		json_put_i64(json, "communication_ns", resource->communication_ns);
		json_put_i64(json, "exposed_communication_ns", resource->exposed_ns);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_stream_waits(struct json *json, const struct path_result *result)
{
	const struct idle *idle = &result->idle;

	json_key(json, "stream_waits");
	json_array_begin(json);
	for (uint32_t i = 0; i < path_rows_shown(result, idle->waits_count); i++) {
		const struct idle_wait *row = &idle->waits[i];

		json_row_begin(json);
		json_put_u64(
			json, "pid",
			result->trace->processes[result->trace->streams[row->stream].process].pid);
		put_stream(json, result->trace, row->stream, TRACE_NONE);
		json_put_text(json, "idle", idle_cause_key((enum idle_cause)row->cause));
		put_cause(json, result, row->via, (enum dependency_kind)row->kind);
		json_put_u64(json, "count", row->count);
		json_put_i64(json, "total_ns", row->total_ns);
		path_put_activity(json, result->trace, "for", row->from);
		json_object_end(json);
	}
	json_array_end(json);
}

/* ---- ranks ---- */

/* Of recordings with collectives of several ranks alone. */
static void put_ranks(struct json *json, const struct path_result *result)
{
	const struct trace *trace = result->trace;

	if (!result->jumps.rows_count && !result->jumps.unsure)
		return;
	json_key(json, "ranks");
	json_array_begin(json);
	for (uint32_t i = 0; i < result->report.processes_count; i++) {
		const struct path_process *row = &result->report.processes[i];
		const struct trace_process *process = &trace->processes[i];

		json_row_begin(json);
		json_put_u64(json, "pid", process->pid);
		json_put_text(json, "file",
			      trace->clocks_count
				      ? trace_text(trace, trace->clocks[process->clock].name)
				      : NULL);
		json_put_i64(json, "total_ns", row->total_ns);
		json_put_u64(json, "last", row->last);
		json_put_i64(json, "held_up_ns", row->held_up_ns);
		json_object_end(json);
	}
	json_array_end(json);
	json_put_u64(json, "last_rank_unsure", result->jumps.unsure);
	json_put_u64(json, "rank_uncertainty_ns", result->jumps.worst_error_ns);
}

/* ---- the dependencies that the result is based on ---- */

static void put_dependencies(struct json *json, const struct path_result *result)
{
	const struct dependencies *deps = result->deps;

	json_key(json, "dependencies");
	json_object_begin(json);
	for (int kind = 0; kind < DEPENDENCY_COLLECTIVE; kind++) {
		json_key(json, dependency_kind_key((enum dependency_kind)kind));
		json_row_begin(json);
		json_put_u64(json, "count", deps->counts[kind]);
		json_put_u64(json, "contradicted", deps->contradicted[kind]);
		json_put_text(json, "known", dependency_kind_text((enum dependency_kind)kind));
		json_object_end(json);
	}
	json_object_end(json);
	json_put_u64(json, "nodes_unknown", deps->nodes_unknown);
	json_put_u64(json, "streams_of_unknown_kind", deps->streams_unknown);
	json_put_u64(json, "waits_resolved", deps->resolved_waits);
	json_put_u64(json, "waits_unresolved", deps->unresolved_count);
	json_key(json, "unresolved");
	json_array_begin(json);
	for (uint32_t i = 0; i < path_rows_shown(result, deps->unresolved_count); i++) {
		const struct trace_wait *wait = &result->trace->waits[deps->unresolved[i].wait];

		json_row_begin(json);
		json_put_u64(json, "pid", result->trace->processes[wait->process].pid);
		json_put_u64(json, "correlation_id", wait->cid);
		put_text_or_null(json, "type", words_wait_type(wait->type));
		json_put_text(json, "why", dependency_doubt_text(deps->unresolved[i].doubt));
		json_object_end(json);
	}
	json_array_end(json);
}

int path_put_json(const struct path_result *result, FILE *out)
{
	struct json json;

	json_init(&json, out);
	json_object_begin(&json);
	json_put_text(&json, "file", result->file);
	put_windows(&json, result);
	put_works(&json, result);
	put_waits(&json, result);
	put_segments(&json, result);
	put_ranks(&json, result);
	put_streams(&json, result);
	put_gpus(&json, result);
	put_stream_waits(&json, result);
	put_dependencies(&json, result);
	json_object_end(&json);
	return json_finish(&json);
}
