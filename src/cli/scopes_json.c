/* Prints the result of `dagtap scopes` as JSON (docs/json.md). */
#include <stdio.h>

#include "cli/cmd_scopes.h"
#include "cli/path_names.h"
#include "wire/json.h"

static void put_distribution(struct json *json, const char *key, const struct distribution *row)
{
	json_key(json, key);
	json_row_begin(json);
	json_put_u64(json, "count", row->count);
	json_put_i64(json, "total_ns", row->total);
	json_put_double(json, "mean_ns", row->mean);
	json_put_double(json, "stddev_ns", row->stddev);
	json_put_i64(json, "min_ns", row->min);
	json_put_double(json, "p50_ns", row->p50);
	json_put_double(json, "p90_ns", row->p90);
	json_put_double(json, "p99_ns", row->p99);
	json_put_i64(json, "max_ns", row->max);
	json_object_end(json);
}

static void put_groups(struct json *json, const struct scopes_result *result)
{
	json_key(json, "groups");
	json_array_begin(json);
	for (uint32_t i = 0; i < scopes_rows_shown(result, result->groups.count); i++) {
		const struct scope_group *row = &result->groups.rows[i];

		json_row_begin(json);
		json_put_text(json, "name", row->name);
		json_put_u64(json, "scopes", row->scopes);
		json_put_u64(json, "activities", row->activities);
		put_distribution(json, "host", &row->host);
		put_distribution(json, "projection", &row->projection);
		json_object_end(json);
	}
	json_array_end(json);
	json_put_u64(json, "group_count", result->groups.count);
}

static void put_causes(struct json *json, const int64_t *cause_ns)
{
	json_key(json, "idle_ns");
	json_object_begin(json);
	for (int cause = 0; cause < IDLE_CAUSE_COUNT; cause++)
		json_put_i64(json, idle_cause_key((enum idle_cause)cause), cause_ns[cause]);
	json_object_end(json);
}

static void put_projection(struct json *json, const struct trace *trace,
			   const struct scope_instance *row)
{
	json_key(json, "projection");
	if (row->work.timed == 0) {
		json_null(json);
		return;
	}
	json_object_begin(json);
	json_put_i64(json, "begin_ns", row->work.begin_ns);
	json_put_i64(json, "end_ns", row->work.end_ns);
	json_put_i64(json, "duration_ns", scope_figure(trace, row, SCOPE_PROJECTION));
	json_put_u64(json, "gpus", row->gpus);
	json_put_i64(json, "busy_ns", row->busy_ns);
	put_causes(json, row->cause_ns);
	json_object_end(json);
}

static void put_instances(struct json *json, const struct scopes_result *result)
{
	const struct scope_stats *stats = &result->stats;
	const struct trace *trace = result->trace;

	json_key(json, "instances");
	json_array_begin(json);
	for (uint32_t i = 0; i < scopes_rows_shown(result, stats->instances.count); i++) {
		const struct scope_instance *row = &stats->rows[i];
		const struct trace_scope *scope = &trace->scopes[row->scope];

		json_row_begin(json);
		json_put_u64(json, "nth", i);
		json_put_text(json, "scope", path_scope_text(trace, row->scope));
		json_put_u64(json, "pid", trace->processes[scope->process].pid);
		json_put_i64(json, "begin_ns", scope->begin_ns);
		json_put_i64(json, "end_ns", scope->end_ns);
		json_put_bool(json, "open", scope->open);
		json_put_u64(json, "activities", row->work.timed + row->work.untimed);
		json_put_u64(json, "untimed", row->work.untimed);
		put_projection(json, trace, row);
		json_put_bool(json, "outlier", row->is_outlier);
		json_object_end(json);
	}
	json_array_end(json);
	json_put_u64(json, "instance_count", stats->instances.count);
}

static void put_parts(struct json *json, const struct scopes_result *result, const char *key,
		      const struct scope_parts *parts, bool is_node)
{
	json_key(json, key);
	json_array_begin(json);
	for (uint32_t i = 0; i < scopes_rows_shown(result, parts->count); i++) {
		const struct scope_part *part = &parts->rows[i];
		bool is_idle = part->kind == SCOPE_PART_IDLE;

		json_row_begin(json);
		if (is_idle)
			json_put_text(json, "idle", idle_cause_key(part->cause));
		else
			json_put_text(json, "name", scopes_part_name(result->trace, part, is_node));
		if (is_node) {
			uint32_t node = result->trace->activities[part->activity].node;
			const struct trace_node *row = &result->trace->nodes[node];

			json_put_u64(json, "graph", result->trace->graphs[row->graph].id);
			json_put_u64(json, "node", row->index);
		}
		json_put_u64(json, "count", part->count[1]);
		json_put_i64(json, "total_ns", part->ns[1]);
		json_put_u64(json, "median_count", part->count[0]);
		json_put_i64(json, "median_total_ns", part->ns[0]);
		json_put_i64(json, "difference_ns", scope_part_difference(part));
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_comparisons(struct json *json, const struct scopes_result *result)
{
	json_key(json, "median");
	if (result->stats.median == TRACE_NONE)
		json_null(json);
	else
		json_u64(json, result->stats.median);
	json_key(json, "comparisons");
	json_array_begin(json);
	for (uint32_t i = 0; i < scopes_rows_shown(result, result->comparisons_count); i++) {
		const struct scopes_comparison *row = &result->comparisons[i];

		json_object_begin(json);
		json_put_u64(json, "nth", row->instance);
		put_parts(json, result, "work", &row->works, false);
		put_parts(json, result, "nodes", &row->nodes, true);
		json_object_end(json);
	}
	json_array_end(json);
	json_put_u64(json, "comparison_count", result->comparisons_count);
}

int scopes_put_json(const struct scopes_result *result, FILE *out)
{
	struct json json;

	json_init(&json, out);
	json_object_begin(&json);
	json_put_text(&json, "file", result->file);
	if (result->pattern) {
		json_put_text(&json, "scope", result->pattern);
		for (int figure = 0; figure < SCOPE_FIGURE_COUNT; figure++)
			put_distribution(&json, scopes_figure_key((enum scope_figure)figure),
					 &result->stats.figures[figure]);
		put_causes(&json, result->stats.cause_ns);
		put_instances(&json, result);
		put_comparisons(&json, result);
	} else {
		put_groups(&json, result);
	}
	json_object_end(&json);
	return json_finish(&json);
}
