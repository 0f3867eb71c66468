/* Sums up critical paths (path_report.h). */
#include "analyze/path_report.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/busy.h"
#include "analyze/tally.h"
#include "base/hash.h"
#include "trace/row_table.h"

void path_report_init(struct path_report *report, const struct dependencies *deps)
{
	*report = (struct path_report){.deps = deps};
}

void path_report_release(struct path_report *report)
{
	free(report->works);
	free(report->waits);
	free(report->segments);
	free(report->processes);
	numbers_release(&report->work_keys);
	numbers_release(&report->wait_keys);
}

static bool is_work(const struct path_step *step)
{
	return step->kind <= PATH_MEMSET;
}

static bool is_host(uint8_t kind)
{
	return kind == PATH_CALL || kind == PATH_HOST;
}

/* Whether the step waited for another stream, or is a call that waited for a stream. */
static bool is_wait(const struct path_report *report, const struct path_step *step)
{
	uint8_t cause = step->cause;

	if (cause == DEPENDENCY_QUEUE && step->activity != TRACE_NONE && step->from != TRACE_NONE)
		return report->deps->trace->activities[step->activity].stream !=
		       report->deps->trace->activities[step->from].stream;
	return cause == DEPENDENCY_EVENT || cause == DEPENDENCY_LEGACY ||
	       cause == DEPENDENCY_COLLECTIVE ||
	       (cause >= DEPENDENCY_HOST_EVENT && cause <= DEPENDENCY_BLOCKING);
}

static int64_t step_ns(const struct path_step *step)
{
	return tally_span(step->begin_ns, step->end_ns);
}

static const struct trace_activity *activity_of(const struct path_report *report, uint32_t activity)
{
	return &report->deps->trace->activities[activity];
}

/* The key of an activity's name: kernels by name, copies and memsets by direction. */
static uint64_t name_key(const struct path_report *report, uint32_t activity)
{
	const struct trace_work *work =
		trace_work_of(report->deps->trace, activity_of(report, activity));
	uint32_t name = work->kind == TRACE_KERNEL ? work->name : (uint32_t)work->direction;

	return (uint64_t)work->kind << 32 | name;
}

static struct path_work *find_work(struct path_report *report, const struct path_step *step)
{
	uint32_t number = numbers_get(&report->work_keys, 0, name_key(report, step->activity));
	struct path_work *row;

	if (number == NUMBERS_NONE)
		return NULL;
	if (number < report->works_count)
		return &report->works[number];
	row = table_add((void **)&report->works, &report->works_count, sizeof(*row));
	if (row)
		*row = (struct path_work){
			.activity = step->activity,
			.kind = step->kind,
			.is_collective = dependencies_is_collective(
				report->deps, activity_of(report, step->activity)),
		};
	return row;
}

static int add_work(struct path_report *report, const struct path_step *step)
{
	struct path_work *row = find_work(report, step);

	if (!row)
		return -ENOMEM;
	row->count++;
	row->total_ns = tally_sum(row->total_ns, step_ns(step));
	if (row->is_collective)
		report->collective_ns = tally_sum(report->collective_ns, step_ns(step));
	return 0;
}

/* Adds the slack of the work of BEFORE, for which STEP waited. */
static int add_slack(struct path_report *report, const struct path_step *before,
		     const struct path_step *step)
{
	struct path_work *row = find_work(report, before);
	int64_t ns = step_ns(before);

	if (!row)
		return -ENOMEM;
	row->slack_ns = tally_sum(row->slack_ns, step->lead_ns < ns ? step->lead_ns : ns);
	return 0;
}

/* ---- waits ---- */

static uint64_t wait_key(const struct path_report *report, const struct path_step *step)
{
	const struct trace *trace = report->deps->trace;
	const struct trace_activity *from = activity_of(report, step->from);
	uint64_t key = hash_mix(step->cause, name_key(report, step->from));

	key = hash_mix(hash_mix(key, from->stream), trace_scope_of(trace, from));
	if (step->via != TRACE_NONE)
		key = hash_mix(key, trace->waits[step->via].known);
	if (step->activity == TRACE_NONE)
		return hash_mix(key, trace->calls[step->call].api);
	key = hash_mix(key, name_key(report, step->activity));
	return hash_mix(key, activity_of(report, step->activity)->stream) | 1;
}

static int add_wait(struct path_report *report, const struct path_step *step)
{
	uint32_t number = numbers_get(&report->wait_keys, 0, wait_key(report, step));
	struct path_wait *row;

	if (number == NUMBERS_NONE)
		return -ENOMEM;
	if (number == report->waits_count) {
		row = table_add((void **)&report->waits, &report->waits_count, sizeof(*row));
		if (!row)
			return -ENOMEM;
		*row = (struct path_wait){
			.from = step->from,
			.activity = step->activity,
			.call = step->call,
			.via = step->via,
			.cause = step->cause,
		};
	}
	row = &report->waits[number];
	row->count++;
	if (step->lead_ns != INT64_MAX)
		row->total_ns = tally_sum(row->total_ns, step->lead_ns);
	return 0;
}

/* ---- segments ---- */

static bool is_alike(const struct path_report *report, const struct path_segment *last,
		     const struct path_step *step, uint32_t window)
{
	if (last->window != window)
		return false;
	if (is_host(step->kind))
		return is_host(last->kind);
	return last->kind == step->kind && is_work(step) && !is_wait(report, step) &&
	       last->activity != TRACE_NONE &&
	       activity_of(report, last->activity)->stream ==
		       activity_of(report, step->activity)->stream &&
	       trace_scope_of(report->deps->trace, activity_of(report, last->activity)) ==
		       trace_scope_of(report->deps->trace, activity_of(report, step->activity)) &&
	       name_key(report, last->activity) == name_key(report, step->activity);
}

/* Adds STEP to the last segment if they are alike, else as a new segment. GAP: the gap directly
 * before STEP, or NULL. */
static int add_segment(struct path_report *report, uint32_t window, const struct path_step *step,
		       const struct path_step *gap)
{
	struct path_segment *last =
		report->segments_count ? &report->segments[report->segments_count - 1] : NULL;
	int64_t gap_ns = gap ? step_ns(gap) : 0;

	if (last && is_alike(report, last, step, window)) {
		last->end_ns = step->end_ns;
		last->gap_ns = tally_sum(last->gap_ns, gap_ns);
		last->call = step->call;
		last->count++;
		return 0;
	}
	last = table_add((void **)&report->segments, &report->segments_count, sizeof(*last));
	if (!last)
		return -ENOMEM;
	*last = (struct path_segment){
		.begin_ns = gap ? gap->begin_ns : step->begin_ns,
		.end_ns = step->end_ns,
		.gap_ns = gap_ns,
		.count = 1,
		.window = window,
		.activity = is_host(step->kind) ? TRACE_NONE : step->activity,
		.call = step->call,
		.from = step->from,
		.via = step->via,
		.kind = step->kind,
		.gap_kind = gap ? gap->kind : step->kind,
		.cause = step->cause,
	};
	return 0;
}

/* ---- processes ---- */

/* The process whose work or call STEP is; of one without any, that of the step behind it. */
static uint32_t process_of(const struct path_report *report, const struct path *path, uint32_t at)
{
	const struct trace *trace = report->deps->trace;

	for (; at < path->count; at++) {
		const struct path_step *step = &path->steps[at];

		if (step->activity != TRACE_NONE)
			return trace->activities[step->activity].process;
		if (step->call != TRACE_NONE)
			return trace->calls[step->call].process;
	}
	return TRACE_NONE;
}

static void add_process(struct path_report *report, const struct path *path, uint32_t at)
{
	const struct path_step *step = &path->steps[at];
	uint32_t process = process_of(report, path, at);
	struct path_process *row;

	if (process == TRACE_NONE)
		return;
	row = &report->processes[process];
	row->total_ns = tally_sum(row->total_ns, step_ns(step));
	if (step->cause != DEPENDENCY_COLLECTIVE)
		return;
	row = &report->processes[activity_of(report, step->from)->process];
	row->last++;
	row->held_up_ns = tally_sum(row->held_up_ns, step->lead_ns);
}

static int make_processes(struct path_report *report)
{
	uint32_t count = report->deps->trace->processes_count;

	if (!report->processes)
		report->processes = table_zeroed(count, sizeof(*report->processes));
	report->processes_count = count;
	return report->processes ? 0 : -ENOMEM;
}

/* ---- all ---- */

/* Whether step AT is the gap before the activity of the next step. */
static bool is_gap(const struct path *path, uint32_t at)
{
	const struct path_step *step = &path->steps[at];

	return !is_work(step) && step->activity != TRACE_NONE && at + 1 < path->count &&
	       path->steps[at + 1].activity == step->activity && is_work(&path->steps[at + 1]);
}

/* Whether step AT is the gap before work that is not on the path: the last rank's part of a
 * collective, with whose end the path continues on another rank. */
static bool is_gap_before_jump(const struct path *path, uint32_t at)
{
	const struct path_step *step = &path->steps[at];

	return !is_work(step) && step->activity != TRACE_NONE && at + 1 < path->count &&
	       path->steps[at + 1].cause == DEPENDENCY_COLLECTIVE &&
	       path->steps[at + 1].from == step->activity;
}

static void add_gap(struct path_report *report, struct busy *busy, const struct path_step *gap)
{
	int64_t ns = busy_within(busy, activity_of(report, gap->activity)->agent, gap->begin_ns,
				 gap->end_ns);

	report->busy_ns[gap->kind] = tally_sum(report->busy_ns[gap->kind], ns);
}

/* Adds one step. BEFORE: the work directly before it, or NULL; GAP: the gap between them, or
 * NULL. */
static int add_step(struct path_report *report, uint32_t window, const struct path_step *step,
		    const struct path_step *before, const struct path_step *gap)
{
	int err = 0;

	if (step->from != TRACE_NONE && before && before->activity == step->from)
		err = add_slack(report, before, step);
	if (err == 0 && step->from != TRACE_NONE && is_wait(report, step))
		err = add_wait(report, step);
	if (err == 0 && is_work(step))
		err = add_work(report, step);
	return err == 0 ? add_segment(report, window, step, gap) : err;
}

int path_report_add(struct path_report *report, const struct path_windows *windows, uint32_t at,
		    const struct path *path)
{
	const struct path_step *work = NULL, *gap = NULL;
	struct busy busy;
	int err = busy_init(&busy, &report->deps->starts, &windows->rows[at]);

	if (err == 0)
		err = make_processes(report);
	for (uint32_t i = 0; i < path->count && err == 0; i++) {
		const struct path_step *step = &path->steps[i];

		report->kind_ns[step->kind] = tally_sum(report->kind_ns[step->kind], step_ns(step));
		report->total_ns = tally_sum(report->total_ns, step_ns(step));
		report->steps++;
		add_process(report, path, i);
		if (is_gap(path, i)) {
			add_gap(report, &busy, step);
			gap = step;
			continue;
		}
		if (is_gap_before_jump(path, i))
			gap = step;
		err = add_step(report, at, step, work, gap);
		gap = NULL;
		work = is_work(step) ? step : NULL;
	}
	busy_release(&busy);
	return err;
}

static int compare_works(const void *left, const void *right)
{
	const struct path_work *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return (a->activity > b->activity) - (a->activity < b->activity);
}

static int compare_waits(const void *left, const void *right)
{
	const struct path_wait *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

void path_report_finish(struct path_report *report)
{
	if (report->works_count)
		qsort(report->works, report->works_count, sizeof(*report->works), compare_works);
	if (report->waits_count)
		qsort(report->waits, report->waits_count, sizeof(*report->waits), compare_waits);
}
