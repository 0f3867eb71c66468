/* Writes statistics as JSON lines: see stats_file.h. */
#include "stats/stats_file.h"

#include <errno.h>

#include "wire/json.h"

static const char *text_of(const struct stats *stats, uint32_t name)
{
	return stats->names.strings[name];
}

static void begin_line(struct stats_writer *writer, struct json *json)
{
	json_init(json, writer->out);
	json_row_begin(json);
}

static int end_line(struct stats_writer *writer, struct json *json)
{
	json_object_end(json);
	writer->error = json_finish(json);
	return writer->error;
}

int stats_write_head(struct stats_writer *writer, FILE *out, const char *host, const char *command,
		     uint64_t start_ns)
{
	struct json json;

	*writer = (struct stats_writer){.out = out};
	begin_line(writer, &json);
	json_put_u64(&json, "dagstats", STATS_FILE_VERSION);
	json_put_double(&json, "error", SKETCH_ERROR);
	json_put_u64(&json, "buckets_most", SKETCH_BUCKETS_MOST);
	json_put_text(&json, "host", host);
	json_put_text(&json, "command", command);
	json_put_u64(&json, "start_ns", start_ns);
	return end_line(writer, &json);
}

static int write_processes(struct stats_writer *writer, const struct stats *stats)
{
	int err = writer->error;

	for (; writer->processes_written < stats->processes_count && err == 0;
	     writer->processes_written++) {
		const struct stat_process *row = &stats->processes[writer->processes_written];
		struct json json;

		begin_line(writer, &json);
		json_put_u64(&json, "process", writer->processes_written);
		json_put_u64(&json, "pid", row->pid);
		json_put_u64(&json, "session", row->session);
		json_put_text(&json, "exe", text_of(stats, row->exe));
		json_put_u64(&json, "start_ns", row->start_realtime_ns);
		err = end_line(writer, &json);
	}
	return err;
}

static int write_keys(struct stats_writer *writer, const struct stats *stats)
{
	int err = 0;

	for (; writer->keys_written < stats->keys_count && err == 0; writer->keys_written++) {
		const struct stat_key *key = &stats->keys[writer->keys_written];
		struct json json;

		begin_line(writer, &json);
		json_put_u64(&json, "key", writer->keys_written);
		json_put_text(&json, "kind", stat_kind_text(key->kind));
		json_put_text(&json, "name", text_of(stats, key->name));
		if (key->kind == STAT_NODE) {
			json_put_u64(&json, "graph", key->graph);
			json_put_u64(&json, "node", key->node);
		}
		err = end_line(writer, &json);
	}
	return err;
}

/* Writes a pair of numbers for each bucket: its index, for all but the first as the distance from
 * the one before, and its count. */
static void put_buckets(struct json *json, const struct sketch *sketch)
{
	int32_t last = 0;

	json_key(json, "buckets");
	json_array_begin(json);
	for (uint32_t i = 0; i < sketch->bucket_count; i++) {
		if (!sketch->buckets[i])
			continue;
		json_i64(json, sketch->first + (int32_t)i - last);
		json_u64(json, sketch->buckets[i]);
		last = sketch->first + (int32_t)i;
	}
	json_array_end(json);
}

static void put_row(struct json *json, uint32_t key, const struct stat_row *row)
{
	const struct sketch *sketch = &row->interval;

	json_row_begin(json);
	json_put_u64(json, "key", key);
	json_put_u64(json, "count", sketch->count);
	if (row->untimed)
		json_put_u64(json, "untimed", row->untimed);
	if (sketch->count) {
		json_put_u64(json, "sum_ns", sketch->sum);
		json_put_u64(json, "min_ns", sketch->least);
		json_put_u64(json, "max_ns", sketch->largest);
		if (sketch->zeros)
			json_put_u64(json, "zeros", sketch->zeros);
		if (sketch->collapsed)
			json_put_u64(json, "collapsed", sketch->collapsed);
		put_buckets(json, sketch);
	}
	json_object_end(json);
}

static bool is_used(const struct stat_row *row)
{
	return row->interval.count || row->untimed;
}

static bool has_rows(const struct stat_process *process)
{
	for (uint32_t i = 0; i < process->rows_count; i++) {
		if (is_used(&process->rows[i]))
			return true;
	}
	return false;
}

int stats_write_interval(struct stats_writer *writer, const struct stats *stats, uint32_t process,
			 uint64_t begin_ns, uint64_t end_ns)
{
	const struct stat_process *of = &stats->processes[process];
	int err = write_processes(writer, stats);
	struct json json;

	if (err == 0)
		err = write_keys(writer, stats);
	if (err < 0 || !has_rows(of))
		return err;
	begin_line(writer, &json);
	json_put_u64(&json, "interval", process);
	json_put_u64(&json, "begin_ns", begin_ns);
	json_put_u64(&json, "end_ns", end_ns);
	json_key(&json, "rows");
	json_array_begin(&json);
	for (uint32_t i = 0; i < of->rows_count; i++) {
		if (is_used(&of->rows[i]))
			put_row(&json, i, &of->rows[i]);
	}
	json_array_end(&json);
	return end_line(writer, &json);
}

static bool has_changed(const struct stat_process *process)
{
	const struct stat_deliveries *now = &process->deliveries;
	const struct stat_deliveries *before = &process->deliveries_before;
	bool has_changed = now->is_known != before->is_known;

#define X(name, help) has_changed |= now->name != before->name;
	STAT_DELIVERIES(X)
#undef X
	return has_changed;
}

int stats_write_deliveries(struct stats_writer *writer, const struct stats *stats, uint32_t process)
{
	const struct stat_deliveries *row = &stats->processes[process].deliveries;
	int err = writer->error;
	struct json json;

	if (!row->is_known || !has_changed(&stats->processes[process]) || err < 0)
		return err;
	err = write_processes(writer, stats);
	if (err < 0)
		return err;
	begin_line(writer, &json);
	json_put_u64(&json, "deliveries", process);
#define X(name, help) json_put_u64(&json, #name, row->name);
	STAT_DELIVERIES(X)
#undef X
	return end_line(writer, &json);
}

int stats_write_outlier(struct stats_writer *writer, const struct stats *stats,
			const struct stat_outlier *outlier, const char *file)
{
	int err = write_processes(writer, stats);
	struct json json;

	if (err == 0)
		err = write_keys(writer, stats);
	if (err < 0)
		return err;
	begin_line(writer, &json);
	json_put_u64(&json, "outlier", outlier->process);
	json_put_u64(&json, "key", outlier->key);
	json_put_u64(&json, "duration_ns", outlier->duration_ns);
	json_put_u64(&json, "limit_ns", (uint64_t)outlier->limit_ns);
	json_put_i64(&json, "host_ns", outlier->start_ns);
	json_put_text(&json, "file", file);
	return end_line(writer, &json);
}

int stats_write_end(struct stats_writer *writer, const struct stats *stats, uint32_t process)
{
	const struct stat_process *row = &stats->processes[process];
	int err = write_processes(writer, stats);
	struct json json;

	if (err < 0)
		return err;
	begin_line(writer, &json);
	json_put_u64(&json, "end", process);
	json_put_u64(&json, "outliers", row->outliers);
	json_put_u64(&json, "lost", row->lost);
	json_put_u64(&json, "dropped", row->dropped);
	json_put_u64(&json, "no_writer", row->no_writer);
	json_put_u64(&json, "cut_off", row->cut_off);
	json_put_u64(&json, "left_out", row->left_out);
	return end_line(writer, &json);
}
