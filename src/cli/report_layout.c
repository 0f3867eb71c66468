/* Lays out the rows of a report: see report_layout.h. */
#include "cli/report_layout.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"
#include "trace/row_table.h"

/* The recording in so many bins, fewer if there are many tracks. */
#define BINS_MOST	 1200
#define BINS_LEAST	 50
#define BIN_NUMBERS_MOST 400000

static struct report_track *begin_track(struct report_layout *layout, enum report_track_kind kind,
					uint32_t process, uint32_t gpu, uint32_t place,
					unsigned number)
{
	struct report_track *track = trace_add(layout, tracks);

	if (!track) {
		layout->error = -ENOMEM;
		return NULL;
	}
	track->kind = kind;
	track->process = process;
	track->gpu = gpu;
	track->place = place;
	track->number = number;
	return track;
}

static void add_to_bins(struct report_layout *layout, struct report_track *track,
			enum report_bin_kind kind, struct rows_time time)
{
	int64_t origin_ns = layout->windows->begin_ns, at_ns = time.begin_ns;

	if (!track->bins[kind])
		track->bins[kind] = table_zeroed(layout->bins_count, sizeof(int64_t));
	if (!track->bins[kind]) {
		layout->error = -ENOMEM;
		return;
	}
	while (at_ns < time.end_ns) {
		int64_t bin = (at_ns - origin_ns) / layout->bin_ns;
		int64_t stop_ns = origin_ns + (bin + 1) * layout->bin_ns;

		stop_ns = stop_ns < time.end_ns ? stop_ns : time.end_ns;
		track->bins[kind][bin] += stop_ns - at_ns;
		at_ns = stop_ns;
	}
}

static void add_to_windows(struct report_layout *layout, enum report_table table, uint32_t row,
			   struct rows_time time)
{
	for (uint32_t i = 0; i < layout->windows->count; i++) {
		const struct report_window *window = &layout->windows->rows[i];
		struct report_row *added;

		if (time.end_ns < window->begin_ns || time.begin_ns > window->end_ns)
			continue;
		added = trace_add(&layout->window_rows[i], rows);
		if (!added) {
			layout->error = -ENOMEM;
			return;
		}
		*added = (struct report_row){layout->tracks_count - 1, row, table};
	}
}

static void take_streams(struct report_layout *layout, uint32_t gpu, uint32_t slot)
{
	const struct trace *trace = layout->trace;
	struct timeline_stream stream = timeline_stream_open(&layout->timeline, gpu, slot);
	uint32_t place = slot < trace->streams_count ? slot : TRACE_NONE;

	while (!layout->error && timeline_stream_begin(&stream)) {
		struct report_track *track = begin_track(
			layout, TRACK_OF_STREAM, timeline_slot_process(&layout->timeline, slot),
			gpu, place, stream.number);

		while (!layout->error && timeline_stream_next(&stream)) {
			const struct trace_activity *row = &trace->activities[stream.row];
			struct rows_time time =
				timeline_activity_time(trace->activities, stream.row);

			track->rows_count++;
			add_to_bins(layout, track,
				    (enum report_bin_kind)trace_work_of(trace, row)->kind, time);
			add_to_windows(layout, ROW_ACTIVITY, stream.row, time);
		}
	}
	if (stream.error)
		layout->error = stream.error;
}

/* The end of the last row of each table on a track: a row that begins before it is nested. */
struct outermost {
	int64_t end_ns[TRACK_TABLES];
};

static void take_thread_row(struct report_layout *layout, struct report_track *track,
			    const struct tracks *tracks, struct outermost *outermost)
{
	const struct trace *trace = layout->trace;
	bool is_call = tracks->table == TRACK_CALLS;
	struct rows_time time = is_call ? timeline_call_time(trace->calls, tracks->row)
					: timeline_scope_time(trace->scopes, tracks->row);

	track->rows_count++;
	if (time.begin_ns >= outermost->end_ns[tracks->table]) {
		outermost->end_ns[tracks->table] = time.end_ns;
		add_to_bins(layout, track, is_call ? BIN_CALL : BIN_SCOPE, time);
	}
	add_to_windows(layout, is_call ? ROW_CALL : ROW_SCOPE, tracks->row, time);
}

static void take_threads(struct report_layout *layout, uint32_t thread, bool ranges,
			 struct rows_nest *nest)
{
	struct tracks tracks = timeline_thread_open(&layout->timeline, thread, ranges, nest);
	uint32_t place = thread < layout->trace->threads_count ? thread : TRACE_NONE;

	while (!layout->error && tracks_begin(&tracks)) {
		struct outermost outermost = {{INT64_MIN, INT64_MIN}};
		struct report_track *track =
			begin_track(layout, ranges ? TRACK_OF_RANGES : TRACK_OF_THREAD,
				    timeline_thread_process(&layout->timeline, thread),
				    layout->timeline.gpus.host, place, tracks.number);

		while (!layout->error && tracks_next(&tracks))
			take_thread_row(layout, track, &tracks, &outermost);
	}
	if (tracks.error)
		layout->error = tracks.error;
}

static void deal(struct report_layout *layout)
{
	const struct trace *trace = layout->trace;
	struct timeline *timeline = &layout->timeline;

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

static void choose_bins(struct report_layout *layout)
{
	uint32_t places = count_places(&layout->timeline);
	uint64_t bins = BIN_NUMBERS_MOST / (places ? places : 1);
	/* A row that ends with the recording, and one without length there, are in the last bin. */
	uint64_t span_ns =
		(uint64_t)layout->windows->end_ns - (uint64_t)layout->windows->begin_ns + 1;

	bins = bins > BINS_MOST ? BINS_MOST : bins < BINS_LEAST ? BINS_LEAST : bins;
	layout->bin_ns = (int64_t)((span_ns + bins - 1) / bins);
	layout->bins_count =
		(uint32_t)((span_ns + (uint64_t)layout->bin_ns - 1) / (uint64_t)layout->bin_ns);
}

static void take_all(struct report_layout *layout)
{
	const struct timeline *timeline = &layout->timeline;
	struct rows_nest nest = {0};

	for (uint32_t gpu = 0; gpu <= timeline->gpus.count; gpu++) {
		for (uint32_t slot = 0; slot < timeline->slots && !layout->error; slot++)
			take_streams(layout, gpu, slot);
	}
	for (uint32_t thread = 0; thread < timeline->threads && !layout->error; thread++) {
		take_threads(layout, thread, false, &nest);
		take_threads(layout, thread, true, &nest);
	}
	rows_nest_release(&nest);
}

int report_layout_make(const struct trace *trace, const struct report_windows *windows,
		       struct report_layout *ret_layout)
{
	struct report_layout *layout = ret_layout;
	int err;

	*layout = (struct report_layout){.trace = trace, .windows = windows};
	err = timeline_init(&layout->timeline, trace);
	layout->window_rows = calloc((size_t)windows->count + 1, sizeof(*layout->window_rows));
	if (!layout->window_rows)
		return -ENOMEM;
	if (err < 0)
		return err;
	deal(layout);
	choose_bins(layout);
	take_all(layout);
	return layout->error;
}

void report_layout_release(struct report_layout *layout)
{
	for (uint32_t i = 0; i < layout->tracks_count; i++) {
		for (int kind = 0; kind < BIN_KIND_COUNT; kind++)
			free(layout->tracks[i].bins[kind]);
	}
	for (uint32_t i = 0; layout->window_rows && i < layout->windows->count; i++)
		free(layout->window_rows[i].rows);
	free(layout->tracks);
	free(layout->window_rows);
	timeline_release(&layout->timeline);
}
