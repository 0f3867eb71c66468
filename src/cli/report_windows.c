/* Chooses the windows of a report's timeline (report_timeline.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scope_stats.h"
#include "cli/report_timeline.h"

/* Most windows of a recording. */
#define WINDOWS_MOST 5

/* Calls SEE for the time of each row that a timeline shows. */
static void each_time(const struct trace *trace,
		      void (*see)(void *context, int64_t begin_ns, int64_t end_ns), void *context)
{
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		if (!row->untimed)
			see(context, row->start_ns, row->end_ns);
	}
	for (uint32_t i = 0; i < trace->calls_count; i++)
		see(context, trace->calls[i].begin_ns, trace->calls[i].end_ns);
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		if (!trace->scopes[i].untimed)
			see(context, trace->scopes[i].begin_ns, trace->scopes[i].end_ns);
	}
}

static void see_bounds(void *context, int64_t begin_ns, int64_t end_ns)
{
	struct report_windows *windows = context;

	if (windows->rows_count == 0 || begin_ns < windows->begin_ns)
		windows->begin_ns = begin_ns;
	if (windows->rows_count == 0 || end_ns > windows->end_ns)
		windows->end_ns = end_ns;
	windows->rows_count++;
}

/* ---- windows that are too full ---- */

/* The smallest begins of the rows in a window: a heap with the largest on top. */
struct begins {
	const struct report_window *window;
	int64_t *heap;
	uint32_t count, most;
	bool is_over; /* there were more rows */
};

static void sift_down(struct begins *begins)
{
	int64_t *heap = begins->heap, value = heap[0];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= begins->count)
			break;
		if (child + 1 < begins->count && heap[child + 1] > heap[child])
			child++;
		if (heap[child] <= value)
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = value;
}

static void sift_up(struct begins *begins, int64_t value)
{
	uint32_t at = begins->count++;

	while (at > 0 && begins->heap[(at - 1) / 2] < value) {
		begins->heap[at] = begins->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	begins->heap[at] = value;
}

static void see_begin(void *context, int64_t begin_ns, int64_t end_ns)
{
	struct begins *begins = context;

	if (end_ns < begins->window->begin_ns || begin_ns > begins->window->end_ns)
		return;
	if (begins->count < begins->most) {
		sift_up(begins, begin_ns);
		return;
	}
	begins->is_over = true;
	if (begin_ns < begins->heap[0]) {
		begins->heap[0] = begin_ns;
		sift_down(begins);
	}
}

/* Ends WINDOW before the row that is too many. ROWS_MOST is not 0. Returns 0 or -ENOMEM. */
static int cut_window(const struct trace *trace, struct report_window *window, uint32_t rows_most)
{
	struct begins begins = {.window = window, .most = rows_most};

	begins.heap = malloc((size_t)rows_most * sizeof(*begins.heap));
	if (!begins.heap)
		return -ENOMEM;
	each_time(trace, see_begin, &begins);
	if (begins.is_over) {
		window->is_cut = true;
		window->end_ns = begins.heap[0] - 1;
	}
	free(begins.heap);
	return 0;
}

/* ---- which windows ---- */

/* Adds the interval with MARGIN_NS before and behind it, as far as the recording goes. */
static void add_window(struct report_windows *windows, const char *why, int64_t begin_ns,
		       int64_t end_ns, int64_t margin_ns)
{
	struct report_window *row = &windows->rows[windows->count++];

	snprintf(row->why, sizeof(row->why), "%s", why);
	row->begin_ns =
		begin_ns - windows->begin_ns > margin_ns ? begin_ns - margin_ns : windows->begin_ns;
	row->end_ns = windows->end_ns - end_ns > margin_ns ? end_ns + margin_ns : windows->end_ns;
}

/* The longest time for which no GPU worked, between two activities. */
static void add_gap(struct report_windows *windows, const struct starts *starts)
{
	const struct trace_activity *rows = starts->trace->activities;
	int64_t end_ns = rows[starts->order[0]].end_ns, gap_begin_ns = 0, gap_ns = 0;

	for (uint32_t i = 1; i < starts->count; i++) {
		const struct trace_activity *row = &rows[starts->order[i]];

		if (row->start_ns - end_ns > gap_ns) {
			gap_begin_ns = end_ns;
			gap_ns = row->start_ns - end_ns;
		}
		if (row->end_ns > end_ns)
			end_ns = row->end_ns;
	}
	if (gap_ns)
		add_window(windows, "the longest gap of the GPUs", gap_begin_ns,
			   gap_begin_ns + gap_ns, gap_ns / 4);
}

static void add_instance(struct report_windows *windows, const struct scope_stats *stats,
			 const struct trace *trace, uint32_t nth, const char *what)
{
	const struct scope_instance *row = &stats->rows[nth];
	const struct trace_scope *scope = &trace->scopes[row->scope];
	int64_t end_ns = row->work.end_ns > scope->end_ns ? row->work.end_ns : scope->end_ns;
	char why[96];

	snprintf(why, sizeof(why), "%s: %.60s", what, trace_text(trace, scope->text));
	add_window(windows, why, scope->begin_ns, end_ns, 0);
}

static void add_instances(struct report_windows *windows, const struct trace *trace,
			  const struct scope_stats *stats)
{
	uint32_t outlier = TRACE_NONE;
	int64_t far_ns = -1;

	if (stats->median == TRACE_NONE)
		return;
	for (uint32_t i = 0; i < stats->instances.count; i++) {
		int64_t ns = scope_figure(trace, &stats->rows[i], SCOPE_PROJECTION);

		if (stats->rows[i].is_outlier && ns > far_ns) {
			far_ns = ns;
			outlier = i;
		}
	}
	add_instance(windows, stats, trace, stats->median, "the median instance");
	if (outlier != TRACE_NONE)
		add_instance(windows, stats, trace, outlier, "the longest outlier");
}

/* The begin and the end of the GPUs' work, a 100th of it each. */
static void add_ends(struct report_windows *windows, const struct starts *starts)
{
	const struct trace_activity *rows = starts->trace->activities;
	int64_t begin_ns = rows[starts->order[0]].start_ns;
	int64_t last_ns = rows[starts->order[starts->count - 1]].end_ns;
	int64_t part_ns = (last_ns - begin_ns) / 100;

	add_window(windows, "the begin of the GPUs' work", begin_ns, begin_ns, part_ns);
	add_window(windows, "the end of the GPUs' work", last_ns, last_ns, part_ns);
}

int report_windows_choose(const struct dependencies *deps, const struct scope_stats *steps,
			  uint32_t rows_most, struct report_windows *ret_windows)
{
	struct report_windows windows = {0};
	uint32_t share;
	int err = 0;

	windows.rows = calloc(WINDOWS_MOST, sizeof(*windows.rows));
	if (!windows.rows)
		return -ENOMEM;
	each_time(deps->trace, see_bounds, &windows);
	if ((uint64_t)windows.end_ns - (uint64_t)windows.begin_ns > INT64_MAX / 2) {
		err = -EOVERFLOW;
	} else if (windows.rows_count <= rows_most) {
		if (windows.rows_count)
			add_window(&windows, "all of it", windows.begin_ns, windows.end_ns, 0);
	} else {
		if (steps)
			add_instances(&windows, deps->trace, steps);
		if (deps->starts.count) {
			add_gap(&windows, &deps->starts);
			add_ends(&windows, &deps->starts);
		} else {
			add_window(&windows, "the begin", windows.begin_ns, windows.end_ns, 0);
		}
		share = rows_most / windows.count ? rows_most / windows.count : 1;
		for (uint32_t i = 0; i < windows.count && err == 0; i++)
			err = cut_window(deps->trace, &windows.rows[i], share);
	}
	if (err < 0) {
		free(windows.rows);
		return err;
	}
	*ret_windows = windows;
	return 0;
}
