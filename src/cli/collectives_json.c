/* Writes the result of `dagtap collectives` as JSON (docs/json.md). */
#include <inttypes.h>

#include "cli/cmd_collectives.h"
#include "cli/rank_output.h"
#include "wire/json.h"

static void put_or_null(struct json *json, const char *key, bool is_known, uint64_t value)
{
	json_key(json, key);
	if (is_known)
		json_u64(json, value);
	else
		json_null(json);
}

static void put_rate(struct json *json, const char *key, double rate)
{
	json_key(json, key);
	if (rate > 0)
		json_double(json, rate);
	else
		json_null(json);
}

/* Puts the uncertainty of a time, a key that merged recordings alone have. */
static void put_error(struct json *json, const struct collectives_result *result, const char *key,
		      uint64_t ns)
{
	if (result->trace->clocks_count)
		json_put_u64(json, key, ns);
}

static void put_pid(struct json *json, const struct collectives_result *result, uint32_t process)
{
	json_put_u64(json, "pid", result->trace->processes[process].pid);
}

static void put_communicators(struct json *json, const struct collectives_result *result)
{
	const struct collectives *collectives = &result->collectives;

	json_key(json, "communicators");
	json_array_begin(json);
	for (uint32_t i = 0; i < collectives->communicators_count; i++) {
		const struct collective_communicator *row = &collectives->communicators[i];
		char text[24];

		snprintf(text, sizeof(text), "%016" PRIx64, row->id);
		json_row_begin(json);
		json_put_u64(json, "communicator", i);
		json_put_text(json, "id", row->id ? text : NULL);
		put_pid(json, result, row->process);
		json_put_u64(json, "handle", row->handle);
		put_or_null(json, "ranks", row->ranks, row->ranks);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_durations(struct json *json, const struct distribution *duration)
{
	json_put_u64(json, "timed", duration->count);
	json_put_i64(json, "total_ns", duration->total);
	json_put_double(json, "mean_ns", duration->mean);
	json_put_double(json, "p50_ns", duration->p50);
	json_put_double(json, "p99_ns", duration->p99);
	json_put_i64(json, "min_ns", duration->min);
	json_put_i64(json, "max_ns", duration->max);
}

static void put_operations(struct json *json, const struct collectives_result *result)
{
	const struct collectives *collectives = &result->collectives;

	json_key(json, "operations");
	json_array_begin(json);
	for (uint32_t i = 0; i < collectives_rows_shown(result, collectives->stats_count); i++) {
		const struct collective_row *row = &collectives->stats[i];
		uint32_t ranks = collectives->communicators[row->communicator].ranks;
		double mean_ns = row->duration.mean;

		json_row_begin(json);
		json_put_u64(json, "communicator", row->communicator);
		json_put_text(json, "operation", collective_kind_key(row->kind));
		put_or_null(json, "bytes", row->bytes, row->bytes);
		json_put_u64(json, "count", row->count);
		put_durations(json, &row->duration);
		put_rate(json, "algorithm_bytes_per_s",
			 collective_algorithm_rate(row->bytes, mean_ns));
		put_rate(json, "bus_bytes_per_s",
			 collective_bus_rate(row->kind, ranks, row->bytes, mean_ns));
		json_put_u64(json, "together_count", row->whole_count);
		json_put_i64(json, "together_ns", row->whole_ns);
		put_error(json, result, "together_uncertainty_ns", row->whole_error_ns);
		put_rate(json, "together_bus_bytes_per_s",
			 collective_bus_rate(row->kind, ranks, row->bytes * row->whole_count,
					     (double)row->whole_ns));
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_rank(struct json *json, const struct collectives_result *result, const char *key,
		     uint32_t at)
{
	const struct collective *row = &result->collectives.rows[at];

	json_key(json, key);
	json_object_begin(json);
	json_put_i64(json, "rank", row->rank);
	put_pid(json, result, row->process);
	json_put_i64(json, "start_ns", row->start_ns);
	json_put_i64(json, "end_ns", row->end_ns);
	json_object_end(json);
}

static void put_cause(struct json *json, const struct collectives_result *result,
		      const struct collective_cause *cause)
{
	json_object_begin(json);
	json_put_text(json, "kind", path_kind_key(cause->kind));
	json_put_text(json, "name", cause->name ? trace_text(result->trace, cause->name) : NULL);
	json_put_i64(json, "ns", cause->ns);
	json_put_u64(json, "count", cause->count);
	json_object_end(json);
}

static void put_late(struct json *json, const struct collectives_result *result)
{
	const struct collectives *collectives = &result->collectives;

	json_key(json, "late");
	json_array_begin(json);
	for (uint32_t i = 0; i < collectives_rows_shown(result, collectives->instances_count);
	     i++) {
		const struct collective_instance *row = &collectives->instances[i];
		const struct collective *late = &collectives->rows[row->late];

		json_row_begin(json);
		json_put_u64(json, "communicator", late->communicator);
		json_put_u64(json, "number", late->number);
		json_put_text(json, "operation", collective_kind_key(late->kind));
		put_or_null(json, "bytes", late->bytes, late->bytes);
		json_put_u64(json, "ranks", row->count);
		json_put_i64(json, "spread_ns", row->spread_ns);
		json_put_i64(json, "alone_ns", row->alone_ns);
		put_error(json, result, "spread_uncertainty_ns", row->spread_error_ns);
		put_error(json, result, "alone_uncertainty_ns", row->alone_error_ns);
		if (result->trace->clocks_count)
			json_put_bool(json, "surely_last", row->is_sure);
		put_rank(json, result, "first", row->early);
		put_rank(json, result, "last", row->late);
		json_key(json, "cause");
		if (row->cause.kind == PATH_KIND_COUNT)
			json_null(json);
		else
			put_cause(json, result, &row->cause);
		json_object_end(json);
	}
	json_array_end(json);
}

static void put_ranks(struct json *json, const struct collectives_result *result)
{
	const struct collectives *collectives = &result->collectives;

	json_key(json, "ranks");
	json_array_begin(json);
	for (uint32_t i = 0; i < collectives_rows_shown(result, collectives->ranks_count); i++) {
		const struct collective_rank *row = &collectives->ranks[i];
		bool has_agent = row->agent != TRACE_NONE;

		json_row_begin(json);
		json_put_u64(json, "communicator", row->communicator);
		json_put_i64(json, "rank", row->rank);
		put_pid(json, result, row->process);
		put_or_null(json, "gpu", has_agent,
			    has_agent ? result->trace->agents[row->agent].gpu_ordinal : 0);
		json_put_u64(json, "count", row->count);
		json_put_u64(json, "last", row->last);
		if (result->trace->clocks_count)
			json_put_u64(json, "surely_last", row->surely_last);
		json_put_i64(json, "late_ns", row->late_ns);
		put_error(json, result, "late_uncertainty_ns", row->late_error_ns);
		json_put_i64(json, "most_ns", row->most_ns);
		json_put_i64(json, "alone_ns", row->alone_ns);
		json_key(json, "causes");
		json_array_begin(json);
		for (uint32_t k = 0; k < row->cause_count; k++)
			put_cause(json, result, &collectives->causes[row->cause_first + k]);
		json_array_end(json);
		json_object_end(json);
	}
	json_array_end(json);
}

int collectives_put_json(const struct collectives_result *result, FILE *out)
{
	static void (*const tables[])(struct json *, const struct collectives_result *) = {
		[COLLECTIVES_OPERATIONS] = put_operations,
		[COLLECTIVES_LATE] = put_late,
		[COLLECTIVES_RANKS] = put_ranks,
	};
	const struct collectives *collectives = &result->collectives;
	struct json json;

	json_init(&json, out);
	json_object_begin(&json);
	json_put_text(&json, "file", result->file);
	rank_output_put_json(&json, result->trace);
	put_communicators(&json, result);
	for (int table = 0; table < COLLECTIVES_TABLE_COUNT; table++) {
		if (result->table == COLLECTIVES_TABLE_COUNT ||
		    result->table == (enum collectives_table)table)
			tables[table](&json, result);
	}
	json_put_u64(&json, "several_hosts", collectives->foreign);
	json_put_u64(&json, "mismatched", collectives->mismatched);
	json_put_u64(&json, "replayed_kernels", collectives->unnumbered);
	json_object_end(&json);
	return json_finish(&json);
}
