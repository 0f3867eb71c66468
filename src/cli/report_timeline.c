/* Writes the timeline of a report from its layout (report_layout.h). */
#include "cli/report_timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/strtab.h"
#include "base/table.h"
#include "cli/report_layout.h"
#include "format/words.h"
#include "wire/json.h"

#define ROW_NOT_IN_WINDOW UINT32_MAX

struct writer {
	const struct trace *trace;
	const struct dependencies *deps;
	const struct report_windows *windows;
	struct report_layout layout;
	struct strtab names;
	struct words_path path;
	uint32_t *row_of_activity, *row_of_call; /* of the window that is being written */
};

static void put_index(struct json *json, const char *key, uint32_t index, uint64_t value)
{
	json_key(json, key);
	if (index == TRACE_NONE)
		json_null(json);
	else
		json_u64(json, value);
}

static void put_bins(struct json *json, const struct writer *writer,
		     const struct report_track *track)
{
	static const char *const keys[BIN_KIND_COUNT] = {
		[BIN_KERNEL] = "kernel", [BIN_COPY] = "copy",	[BIN_MEMSET] = "memset",
		[BIN_CALL] = "call",	 [BIN_SCOPE] = "scope",
	};

	json_key(json, "busy_ns");
	json_object_begin(json);
	for (int kind = 0; kind < BIN_KIND_COUNT; kind++) {
		if (!track->bins[kind])
			continue;
		json_key(json, keys[kind]);
		json_array_begin(json);
		for (uint32_t i = 0; i < writer->layout.bins_count; i++)
			json_i64(json, track->bins[kind][i]);
		json_array_end(json);
	}
	json_object_end(json);
}

static void put_track(struct json *json, const struct writer *writer,
		      const struct report_track *track)
{
	static const char *const kinds[] = {
		[TRACK_OF_STREAM] = "stream",
		[TRACK_OF_THREAD] = "thread",
		[TRACK_OF_RANGES] = "ranges",
	};
	const struct trace *trace = writer->trace;
	bool is_stream = track->kind == TRACK_OF_STREAM, has_place = track->place != TRACE_NONE;
	bool has_gpu = track->gpu != writer->layout.timeline.gpus.host;

	json_row_begin(json);
	json_put_text(json, "kind", kinds[track->kind]);
	json_put_u64(json, "pid", trace->processes[track->process].pid);
	put_index(json, "gpu", has_gpu ? track->gpu : TRACE_NONE, track->gpu);
	put_index(json, "stream", is_stream ? track->place : TRACE_NONE,
		  is_stream && has_place ? trace->streams[track->place].ordinal : 0);
	put_index(json, "tid", is_stream ? TRACE_NONE : track->place,
		  !is_stream && has_place ? trace->threads[track->place].tid : 0);
	json_put_text(json, "name",
		      !is_stream && has_place ? trace_text(trace, trace->threads[track->place].name)
					      : NULL);
	json_put_u64(json, "number", track->number);
	json_put_u64(json, "row_count", track->rows_count);
	put_bins(json, writer, track);
	json_object_end(json);
}

/* Puts an array with VALUE of each row, an expression over `row`, `writer` and `window`. */
#define PUT_COLUMN(key, value)                                                                     \
	do {                                                                                       \
		json_key(json, key);                                                               \
		json_array_begin(json);                                                            \
		for (uint32_t i = 0; i < list->rows_count; i++) {                                  \
			const struct report_row *row = &list->rows[i];                             \
			json_i64(json, value);                                                     \
		}                                                                                  \
		json_array_end(json);                                                              \
	} while (0)

static struct rows_time row_time(const struct trace *trace, const struct report_row *row)
{
	switch (row->table) {
	case ROW_ACTIVITY:
		return timeline_activity_time(trace->activities, row->row);
	case ROW_CALL:
		return timeline_call_time(trace->calls, row->row);
	case ROW_SCOPE:
		break;
	}
	return timeline_scope_time(trace->scopes, row->row);
}

static uint32_t row_name(struct writer *writer, const struct report_row *row)
{
	const struct trace *trace = writer->trace;
	const char *text = NULL;

	switch (row->table) {
	case ROW_ACTIVITY:
		text = words_work(trace, trace_work_of(trace, &trace->activities[row->row]));
		break;
	case ROW_CALL:
		text = trace_text(trace, trace->apis[trace->calls[row->row].api].name);
		break;
	case ROW_SCOPE:
		text = trace_text(trace, trace->scopes[row->row].text);
		break;
	}
	return strtab_intern_z(&writer->names, text);
}

static uint32_t row_scope(struct writer *writer, const struct report_row *row)
{
	const struct trace *trace = writer->trace;
	uint32_t scope = TRACE_NONE;

	if (row->table == ROW_ACTIVITY)
		scope = trace_scope_of(trace, &trace->activities[row->row]);
	else if (row->table == ROW_CALL)
		scope = trace->calls[row->row].scope;
	return scope == TRACE_NONE ? 0
				   : strtab_intern_z(&writer->names,
						     words_path_get(&writer->path, trace, scope));
}

static uint32_t row_node(struct writer *writer, const struct report_row *row)
{
	const struct trace *trace = writer->trace;
	uint32_t node = row->table == ROW_ACTIVITY ? trace->activities[row->row].node : TRACE_NONE;

	if (node == TRACE_NONE)
		return 0;
	return strtab_format(&writer->names, "graph %llu node %u",
			     (unsigned long long)trace->graphs[trace->nodes[node].graph].id,
			     trace->nodes[node].index);
}

/* The row, in the window, of the call of an activity; -1: it has none there. */
static int64_t row_call(const struct writer *writer, const struct report_row *row)
{
	uint32_t call =
		row->table == ROW_ACTIVITY ? writer->trace->activities[row->row].call : TRACE_NONE;
	uint32_t found = call == TRACE_NONE ? ROW_NOT_IN_WINDOW : writer->row_of_call[call];

	return found == ROW_NOT_IN_WINDOW ? -1 : (int64_t)found;
}

/* Whether an edge tells more than the order of the rows on their tracks. */
static bool is_shown(enum dependency_kind kind)
{
	switch (kind) {
	case DEPENDENCY_LAUNCH:
	case DEPENDENCY_STREAM:
	case DEPENDENCY_STARTS:
	case DEPENDENCY_PROGRAM:
	case DEPENDENCY_NONE:
		return false;
	default:
		return true;
	}
}

static void put_edge(struct json *json, const struct writer *writer, const struct dependency *edge,
		     uint32_t to, int64_t limit_ns)
{
	struct dependency_source source;
	uint32_t from;

	if (!dependencies_follow(writer->deps, edge, limit_ns, &source) || !is_shown(source.kind))
		return;
	from = writer->row_of_activity[source.activity];
	if (from == ROW_NOT_IN_WINDOW)
		return;
	json_row_begin(json);
	json_put_u64(json, "from", from);
	json_put_u64(json, "to", to);
	json_put_text(json, "kind", dependency_kind_key(source.kind));
	json_object_end(json);
}

static void put_edges(struct json *json, const struct writer *writer,
		      const struct report_window_rows *list)
{
	const struct trace *trace = writer->trace;

	json_key(json, "edges");
	json_array_begin(json);
	for (uint32_t i = 0; i < list->rows_count; i++) {
		const struct report_row *row = &list->rows[i];
		struct dependency_list edges = {0};

		if (row->table == ROW_ACTIVITY)
			edges = dependencies_of_activity(writer->deps, row->row);
		else if (row->table == ROW_CALL)
			edges = dependencies_of_call(writer->deps, row->row);
		for (uint32_t e = 0; e < edges.count; e++)
			put_edge(json, writer, &edges.rows[e], i, row_time(trace, row).end_ns);
	}
	json_array_end(json);
}

/* Notes, or forgets, where the activities and calls of a window are among its rows. */
static void index_rows(struct writer *writer, const struct report_window_rows *list, bool forget)
{
	for (uint32_t i = 0; i < list->rows_count; i++) {
		const struct report_row *row = &list->rows[i];

		if (row->table == ROW_ACTIVITY)
			writer->row_of_activity[row->row] = forget ? ROW_NOT_IN_WINDOW : i;
		else if (row->table == ROW_CALL)
			writer->row_of_call[row->row] = forget ? ROW_NOT_IN_WINDOW : i;
	}
}

/* NOLINTNEXTLINE(readability-function-size): each PUT_COLUMN is many statements */
static void put_window(struct json *json, struct writer *writer, uint32_t number)
{
	const struct report_window *window = &writer->windows->rows[number];
	const struct report_window_rows *list = &writer->layout.window_rows[number];
	const struct trace *trace = writer->trace;

	index_rows(writer, list, false);
	json_row_begin(json);
	json_put_text(json, "why", window->why);
	json_put_i64(json, "begin_ns", window->begin_ns);
	json_put_i64(json, "end_ns", window->end_ns);
	json_put_bool(json, "cut", window->is_cut);
	json_put_u64(json, "row_count", list->rows_count);
	PUT_COLUMN("table", row->table);
	PUT_COLUMN("track", row->track);
	PUT_COLUMN("start_ns", row_time(trace, row).begin_ns - window->begin_ns);
	PUT_COLUMN("duration_ns", (int64_t)timeline_span_ns(row_time(trace, row)));
	PUT_COLUMN("name", row_name(writer, row));
	PUT_COLUMN("scope", row_scope(writer, row));
	PUT_COLUMN("node", row_node(writer, row));
	PUT_COLUMN("call", row_call(writer, row));
	put_edges(json, writer, list);
	json_object_end(json);
	index_rows(writer, list, true);
}

static void put_all(struct json *json, struct writer *writer)
{
	const struct report_windows *windows = writer->windows;

	json_object_begin(json);
	json_put_i64(json, "begin_ns", windows->begin_ns);
	json_put_i64(json, "end_ns", windows->end_ns);
	json_put_u64(json, "row_count", windows->rows_count);
	json_put_i64(json, "bin_ns", writer->layout.bin_ns);
	json_put_u64(json, "bin_count", writer->layout.bins_count);
	json_key(json, "tracks");
	json_array_begin(json);
	for (uint32_t i = 0; i < writer->layout.tracks_count; i++)
		put_track(json, writer, &writer->layout.tracks[i]);
	json_array_end(json);
	json_key(json, "windows");
	json_array_begin(json);
	for (uint32_t i = 0; i < windows->count; i++)
		put_window(json, writer, i);
	json_array_end(json);
	json_key(json, "names");
	json_array_begin(json);
	for (uint32_t i = 0; i < writer->names.count; i++)
		json_text(json, writer->names.strings[i]);
	json_array_end(json);
	json_object_end(json);
}

/* Allocates what WRITER needs beside the layout; it is zeroed but for what it borrows. */
static int writer_init(struct writer *writer)
{
	const struct trace *trace = writer->trace;
	int err = strtab_init(&writer->names);

	writer->path.scope = TRACE_NONE;
	writer->row_of_activity = table_alloc(trace->activities_count, sizeof(uint32_t));
	writer->row_of_call = table_alloc(trace->calls_count, sizeof(uint32_t));
	if (!writer->row_of_activity || !writer->row_of_call)
		return -ENOMEM;
	memset(writer->row_of_activity, 0xff, trace->activities_count * sizeof(uint32_t));
	memset(writer->row_of_call, 0xff, trace->calls_count * sizeof(uint32_t));
	return err;
}

static void writer_release(struct writer *writer)
{
	report_layout_release(&writer->layout);
	free(writer->row_of_activity);
	free(writer->row_of_call);
	strtab_release(&writer->names);
}

int report_timeline_write(const struct dependencies *deps, const struct report_windows *windows,
			  FILE *out)
{
	struct writer writer = {.trace = deps->trace, .deps = deps, .windows = windows};
	int err = writer_init(&writer);

	if (err == 0)
		err = report_layout_make(deps->trace, windows, &writer.layout);
	if (err == 0) {
		struct json json;

		json_init(&json, out);
		put_all(&json, &writer);
		err = json_finish(&json);
		if (err == 0 && writer.names.failed)
			err = -ENOMEM;
	}
	writer_release(&writer);
	return err;
}
