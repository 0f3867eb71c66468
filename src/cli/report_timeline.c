/* Writes the timeline of a report. The rows are laid out on tracks as the exported formats lay them
 * out (format/timeline), and each track is walked once: a row adds its time to the bins of its
 * track and itself to the windows that it overlaps. */
#include "cli/report_timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/strtab.h"
#include "base/table.h"
#include "format/timeline/timeline.h"
#include "format/words.h"
#include "trace/row_table.h"
#include "wire/json.h"

/* The recording in so many bins, fewer if there are many tracks. */
#define BINS_MOST	  1200
#define BINS_LEAST	  50
#define BIN_NUMBERS_MOST  400000
#define ROW_NOT_IN_WINDOW UINT32_MAX

/* What fills a bin. The kinds of activities come first, as in enum trace_activity_kind. */
enum bin_kind { BIN_KERNEL, BIN_COPY, BIN_MEMSET, BIN_CALL, BIN_SCOPE, BIN_KIND_COUNT };

enum track_kind { TRACK_OF_STREAM, TRACK_OF_THREAD, TRACK_OF_RANGES };

struct report_track {
	enum track_kind kind;
	uint32_t process;
	uint32_t gpu;	 /* number of the GPU; gpus.host: none */
	uint32_t place;	 /* row of streams or of threads, or TRACE_NONE */
	unsigned number; /* among the tracks of the same place, from 1 */
	uint32_t rows_count;
	int64_t *bins[BIN_KIND_COUNT]; /* owned; NULL: no such row */
};

enum row_table { ROW_ACTIVITY, ROW_CALL, ROW_SCOPE };

struct report_row {
	uint32_t track;
	uint32_t row; /* of its table */
	enum row_table table;
};

/* The rows of a window. */
struct window_rows {
	struct report_row *rows;
	uint32_t rows_count;
};

struct writer {
	const struct trace *trace;
	const struct dependencies *deps;
	const struct report_windows *windows;
	struct timeline timeline;
	struct report_track *tracks;
	uint32_t tracks_count;
	uint32_t bins_count;
	int64_t bin_ns;
	struct window_rows *window_rows; /* by window */
	struct strtab names;
	struct words_path path;
	uint32_t *row_of_activity, *row_of_call; /* of the window that is being written */
	int error;				 /* the first one */
};

/* ---- tracks ---- */

static struct report_track *begin_track(struct writer *writer, enum track_kind kind,
					uint32_t process, uint32_t gpu, uint32_t place,
					unsigned number)
{
	struct report_track *track = trace_add(writer, tracks);

	if (!track) {
		writer->error = -ENOMEM;
		return NULL;
	}
	track->kind = kind;
	track->process = process;
	track->gpu = gpu;
	track->place = place;
	track->number = number;
	return track;
}

static void add_to_bins(struct writer *writer, struct report_track *track, enum bin_kind kind,
			struct rows_time time)
{
	int64_t origin_ns = writer->windows->begin_ns, at_ns = time.begin_ns;

	if (!track->bins[kind])
		track->bins[kind] = table_zeroed(writer->bins_count, sizeof(int64_t));
	if (!track->bins[kind]) {
		writer->error = -ENOMEM;
		return;
	}
	while (at_ns < time.end_ns) {
		int64_t bin = (at_ns - origin_ns) / writer->bin_ns;
		int64_t stop_ns = origin_ns + (bin + 1) * writer->bin_ns;

		stop_ns = stop_ns < time.end_ns ? stop_ns : time.end_ns;
		track->bins[kind][bin] += stop_ns - at_ns;
		at_ns = stop_ns;
	}
}

static void add_to_windows(struct writer *writer, enum row_table table, uint32_t row,
			   struct rows_time time)
{
	for (uint32_t i = 0; i < writer->windows->count; i++) {
		const struct report_window *window = &writer->windows->rows[i];
		struct report_row *added;

		if (time.end_ns < window->begin_ns || time.begin_ns > window->end_ns)
			continue;
		added = trace_add(&writer->window_rows[i], rows);
		if (!added) {
			writer->error = -ENOMEM;
			return;
		}
		*added = (struct report_row){writer->tracks_count - 1, row, table};
	}
}

static void take_streams(struct writer *writer, uint32_t gpu, uint32_t slot)
{
	const struct trace *trace = writer->trace;
	struct timeline_stream stream = timeline_stream_open(&writer->timeline, gpu, slot);
	uint32_t place = slot < trace->streams_count ? slot : TRACE_NONE;

	while (!writer->error && timeline_stream_begin(&stream)) {
		struct report_track *track = begin_track(
			writer, TRACK_OF_STREAM, timeline_slot_process(&writer->timeline, slot),
			gpu, place, stream.number);

		while (!writer->error && timeline_stream_next(&stream)) {
			const struct trace_activity *row = &trace->activities[stream.row];
			struct rows_time time =
				timeline_activity_time(trace->activities, stream.row);

			track->rows_count++;
			add_to_bins(writer, track, (enum bin_kind)trace_work_of(trace, row)->kind,
				    time);
			add_to_windows(writer, ROW_ACTIVITY, stream.row, time);
		}
	}
	if (stream.error)
		writer->error = stream.error;
}

/* The end of the last row of each table on a track: a row that begins before it is nested. */
struct outermost {
	int64_t end_ns[TRACK_TABLES];
};

static void take_thread_row(struct writer *writer, struct report_track *track,
			    const struct tracks *tracks, struct outermost *outermost)
{
	const struct trace *trace = writer->trace;
	bool is_call = tracks->table == TRACK_CALLS;
	struct rows_time time = is_call ? timeline_call_time(trace->calls, tracks->row)
					: timeline_scope_time(trace->scopes, tracks->row);

	track->rows_count++;
	if (time.begin_ns >= outermost->end_ns[tracks->table]) {
		outermost->end_ns[tracks->table] = time.end_ns;
		add_to_bins(writer, track, is_call ? BIN_CALL : BIN_SCOPE, time);
	}
	add_to_windows(writer, is_call ? ROW_CALL : ROW_SCOPE, tracks->row, time);
}

static void take_threads(struct writer *writer, uint32_t thread, bool ranges,
			 struct rows_nest *nest)
{
	struct tracks tracks = timeline_thread_open(&writer->timeline, thread, ranges, nest);
	uint32_t place = thread < writer->trace->threads_count ? thread : TRACE_NONE;

	while (!writer->error && tracks_begin(&tracks)) {
		struct outermost outermost = {{INT64_MIN, INT64_MIN}};
		struct report_track *track =
			begin_track(writer, ranges ? TRACK_OF_RANGES : TRACK_OF_THREAD,
				    timeline_thread_process(&writer->timeline, thread),
				    writer->timeline.gpus.host, place, tracks.number);

		while (!writer->error && tracks_next(&tracks))
			take_thread_row(writer, track, &tracks, &outermost);
	}
	if (tracks.error)
		writer->error = tracks.error;
}

static void deal(struct writer *writer)
{
	const struct trace *trace = writer->trace;
	struct timeline *timeline = &writer->timeline;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		if (!row->untimed)
			timeline_deal_activity(
				timeline, i,
				timeline_place_of(timeline, row,
						  gpus_find(&timeline->gpus, row->agent)));
	}
	for (uint32_t i = 0; i < trace->calls_count; i++)
		timeline_deal_call(
			timeline, i,
			timeline_thread(timeline, trace->calls[i].thread, trace->calls[i].process));
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		if (!trace->scopes[i].untimed)
			timeline_deal_scope(timeline, i,
					    timeline_thread(timeline, trace->scopes[i].thread,
							    trace->scopes[i].process));
	}
}

/* The number of lists that have rows, which is about that of tracks. */
static uint32_t count_places(const struct timeline *timeline)
{
	const struct rows *tables[] = {&timeline->activities, &timeline->calls, &timeline->scopes};
	uint32_t count = 0;

	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++) {
		for (size_t i = 0; i < tables[t]->lists_count; i++)
			count += rows_list_count(&tables[t]->lists[i]) != 0;
	}
	return count;
}

static void choose_bins(struct writer *writer)
{
	uint32_t places = count_places(&writer->timeline);
	uint64_t bins = BIN_NUMBERS_MOST / (places ? places : 1);
	/* A row that ends with the recording, and one without length there, are in the last bin. */
	uint64_t span_ns =
		(uint64_t)writer->windows->end_ns - (uint64_t)writer->windows->begin_ns + 1;

	bins = bins > BINS_MOST ? BINS_MOST : bins < BINS_LEAST ? BINS_LEAST : bins;
	writer->bin_ns = (int64_t)((span_ns + bins - 1) / bins);
	writer->bins_count =
		(uint32_t)((span_ns + (uint64_t)writer->bin_ns - 1) / (uint64_t)writer->bin_ns);
}

static void take_all(struct writer *writer)
{
	const struct timeline *timeline = &writer->timeline;
	struct rows_nest nest = {0};

	for (uint32_t gpu = 0; gpu <= timeline->gpus.count; gpu++) {
		for (uint32_t slot = 0; slot < timeline->slots && !writer->error; slot++)
			take_streams(writer, gpu, slot);
	}
	for (uint32_t thread = 0; thread < timeline->threads && !writer->error; thread++) {
		take_threads(writer, thread, false, &nest);
		take_threads(writer, thread, true, &nest);
	}
	rows_nest_release(&nest);
}

/* ---- writing ---- */

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
		for (uint32_t i = 0; i < writer->bins_count; i++)
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
	bool has_gpu = track->gpu != writer->timeline.gpus.host;

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
		      const struct window_rows *list)
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
static void index_rows(struct writer *writer, const struct window_rows *list, bool forget)
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
	const struct window_rows *list = &writer->window_rows[number];
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
	json_put_i64(json, "bin_ns", writer->bin_ns);
	json_put_u64(json, "bin_count", writer->bins_count);
	json_key(json, "tracks");
	json_array_begin(json);
	for (uint32_t i = 0; i < writer->tracks_count; i++)
		put_track(json, writer, &writer->tracks[i]);
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

/* ---- all of it ---- */

/* Allocates everything of WRITER; it is zeroed but for what it borrows. */
static int writer_init(struct writer *writer)
{
	const struct trace *trace = writer->trace;
	int err = timeline_init(&writer->timeline, trace);

	if (err == 0)
		err = strtab_init(&writer->names);
	writer->path.scope = TRACE_NONE;
	writer->window_rows =
		calloc((size_t)writer->windows->count + 1, sizeof(*writer->window_rows));
	writer->row_of_activity = table_alloc(trace->activities_count, sizeof(uint32_t));
	writer->row_of_call = table_alloc(trace->calls_count, sizeof(uint32_t));
	if (!writer->window_rows || !writer->row_of_activity || !writer->row_of_call)
		return -ENOMEM;
	memset(writer->row_of_activity, 0xff, trace->activities_count * sizeof(uint32_t));
	memset(writer->row_of_call, 0xff, trace->calls_count * sizeof(uint32_t));
	return err;
}

static void writer_release(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->tracks_count; i++) {
		for (int kind = 0; kind < BIN_KIND_COUNT; kind++)
			free(writer->tracks[i].bins[kind]);
	}
	for (uint32_t i = 0; writer->window_rows && i < writer->windows->count; i++)
		free(writer->window_rows[i].rows);
	free(writer->tracks);
	free(writer->window_rows);
	free(writer->row_of_activity);
	free(writer->row_of_call);
	strtab_release(&writer->names);
	timeline_release(&writer->timeline);
}

int report_timeline_write(const struct dependencies *deps, const struct report_windows *windows,
			  FILE *out)
{
	struct writer writer = {.trace = deps->trace, .deps = deps, .windows = windows};
	int err = writer_init(&writer);

	if (err == 0) {
		struct json json;

		deal(&writer);
		choose_bins(&writer);
		take_all(&writer);
		err = writer.error;
		json_init(&json, out);
		if (err == 0) {
			put_all(&json, &writer);
			err = json_finish(&json);
		}
		if (err == 0 && writer.names.failed)
			err = -ENOMEM;
	}
	writer_release(&writer);
	return err;
}
