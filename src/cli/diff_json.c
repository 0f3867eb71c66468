/* The JSON of `dagtap diff` (docs/json.md). */
#include "cli/cmd_diff.h"

#include <math.h>

#include "cli/tally_output.h"
#include "wire/json.h"

static void json_side(struct json *json, const char *key, const struct tally *tally,
		      uint64_t activities)
{
	json_key(json, key);
	json_object_begin(json);
	json_put_u64(json, "count", tally->count);
	json_put_u64(json, "activities", activities);
	json_put_i64(json, "total_ns", tally->total_ns);
	tally_put_json(json, "", tally);
	json_put_u64(json, "untimed", tally->count - tally->timed);
	json_object_end(json);
}

static void json_ratio(struct json *json, const struct diff_row *row)
{
	json_key(json, "ratio");
	if (row->base_ns == 0)
		json_null(json);
	else
		json_double(json, (double)(row->base_ns + row->change_ns) / (double)row->base_ns);
}

static void json_row(struct json *json, const struct diff_row *row)
{
	json_row_begin(json);
	json_put_text(json, "name", row->name);
	json_put_text(json, "state", diff_row_state(row));
	json_side(json, "a", &row->a, row->a_activities);
	json_side(json, "b", &row->b, row->b_activities);
	json_put_i64(json, "change_ns", row->change_ns);
	json_ratio(json, row);
	json_key(json, "probability");
	if (isnan(row->probability))
		json_null(json);
	else
		json_double(json, row->probability);
	json_put_bool(json, "changed", row->has_changed);
	json_object_end(json);
}

static void json_table(struct json *json, const char *key, const struct diff_table *table,
		       const struct diff_options *options)
{
	uint64_t hidden = 0;
	char hidden_key[32];

	json_key(json, key);
	json_array_begin(json);
	for (uint32_t i = 0; i < table->count; i++) {
		if (diff_is_notable(&table->rows[i], options->threshold_percent))
			json_row(json, &table->rows[i]);
		else
			hidden++;
	}
	json_array_end(json);
	snprintf(hidden_key, sizeof(hidden_key), "%s_hidden", key);
	json_put_u64(json, hidden_key, hidden);
	snprintf(hidden_key, sizeof(hidden_key), "%s_changed", key);
	json_put_u64(json, hidden_key, table->changed);
}

static void json_totals(struct json *json, const char *key, const struct diff_pair *pair,
			const struct diff_options *options, int side)
{
	const struct summary_totals *totals = &pair->totals[side];

	json_key(json, key);
	json_object_begin(json);
	json_put_text(json, "file", options->paths[side]);
	json_put_text(json, "command", trace_text(pair->traces[side], pair->traces[side]->command));
	json_put_u64(json, "kernels", totals->kernels);
	json_put_u64(json, "graph_kernels", totals->graph_kernels);
	json_put_u64(json, "copies", totals->copies);
	json_put_u64(json, "memsets", totals->memsets);
	json_put_u64(json, "api_calls", totals->api_calls);
	json_put_u64(json, "graph_launches", totals->graph_launches);
	json_put_i64(json, "kernel_ns", totals->kernel_ns);
	json_put_i64(json, "span_ns", tally_span(totals->begin_ns, totals->end_ns));
	json_object_end(json);
}

int diff_put_json(const struct diff_pair *pair, const struct diff_options *options, const char *by,
		  const struct diff_table *table, const struct diff_table *copies, FILE *out)
{
	struct json json;

	json_init(&json, out);
	json_object_begin(&json);
	json_totals(&json, "a", pair, options, 0);
	json_totals(&json, "b", pair, options, 1);
	json_put_text(&json, "by", by);
	json_put_text(&json, "compared",
		      options->scope	      ? "instances"
		      : options->is_by_replay ? "replays"
					      : "activities");
	json_put_u64(&json, "a_instances", table->a_parts);
	json_put_u64(&json, "b_instances", table->b_parts);
	json_put_double(&json, "threshold_percent", options->threshold_percent);
	json_table(&json, "rows", table, options);
	json_table(&json, "copies", copies, options);
	json_object_end(&json);
	return json_finish(&json);
}
