/* Analyses each instance of a scope (scope_stats.h). */
#include "analyze/scope_stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scope_match.h"
#include "analyze/tally.h"
#include "trace/row_table.h"

/* ---- the instances and their activities ---- */

static int find_instances(const struct trace *trace, const char *pattern,
			  struct scope_instances *ret_instances)
{
	bool *is_meant = table_zeroed(trace->scopes_count, sizeof(*is_meant));
	int err = -ENOMEM;

	for (uint32_t i = 0; i < trace->scopes_count && is_meant; i++)
		is_meant[i] = scope_is_interval(&trace->scopes[i]) &&
			      scope_matches(trace, &trace->scopes[i], pattern);
	if (is_meant)
		err = scope_instances_find(trace, is_meant, ret_instances);
	free(is_meant);
	return err;
}

static void take_activity(struct scope_work *work, const struct trace_activity *row)
{
	if (row->untimed != RECORD_UNTIMED_NO) {
		work->untimed++;
		return;
	}
	if (work->timed++ == 0) {
		work->begin_ns = row->start_ns;
		work->end_ns = row->end_ns;
	}
	if (row->start_ns < work->begin_ns)
		work->begin_ns = row->start_ns;
	if (row->end_ns > work->end_ns)
		work->end_ns = row->end_ns;
}

/* Counts the activities of each instance, and lists them by instance. */
static int take_activities(const struct trace *trace, struct scope_stats *stats)
{
	uint32_t count = stats->instances.count, sum = 0;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];
		uint32_t at = scope_instances_of(&stats->instances, row->scope);

		if (at != TRACE_NONE)
			take_activity(&stats->rows[at].work, row);
	}
	stats->first = table_alloc((uint64_t)count + 1, sizeof(*stats->first));
	if (!stats->first)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		stats->first[i] = sum;
		sum += (uint32_t)(stats->rows[i].work.timed + stats->rows[i].work.untimed);
	}
	stats->first[count] = sum;
	stats->activities = table_alloc(sum, sizeof(*stats->activities));
	if (!stats->activities)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		uint32_t at = scope_instances_of(&stats->instances, trace->activities[i].scope);

		if (at != TRACE_NONE)
			stats->activities[stats->first[at]++] = i;
	}
	/* Each first has moved to that of the next instance. */
	memmove(stats->first + 1, stats->first, count * sizeof(*stats->first));
	stats->first[0] = 0;
	return 0;
}

/* ---- busy and idle ---- */

/* Moves the sums of all GPUs from IDLE to ROW, and clears those of the streams. */
static void take_idle(struct idle *idle, struct scope_instance *row)
{
	const struct trace *trace = idle->deps->trace;

	for (uint32_t i = 0; i < trace->agents_count; i++) {
		const struct idle_resource *gpu = idle_agent(idle, i);

		row->gpus += gpu->window_ns != 0;
		row->busy_ns = tally_sum(row->busy_ns, gpu->busy_ns);
		for (int cause = 0; cause < IDLE_CAUSE_COUNT; cause++)
			row->cause_ns[cause] =
				tally_sum(row->cause_ns[cause], gpu->cause_ns[cause]);
	}
	memset(idle->resources, 0, idle->resources_count * sizeof(*idle->resources));
}

/* Adds the window of each instance's projection, one after the other, so that the sums are those of
 * one instance. */
static int find_idle(const struct dependencies *deps, struct scope_stats *stats)
{
	struct path_windows windows = {.count = stats->instances.count,
				       .of_scope = stats->instances.of_scope};
	struct idle idle;
	int err = idle_init(&idle, deps);

	windows.rows = table_alloc(windows.count, sizeof(*windows.rows));
	if (!windows.rows)
		err = -ENOMEM;
	for (uint32_t i = 0; i < windows.count && err == 0; i++) {
		struct scope_instance *row = &stats->rows[i];

		windows.rows[i] = (struct path_window){
			.begin_ns = row->work.begin_ns,
			.end_ns = row->work.end_ns,
			.scope = row->scope,
			.launch = TRACE_NONE,
			.activity = TRACE_NONE,
			.call = TRACE_NONE,
		};
		if (row->work.timed == 0)
			continue;
		err = idle_add(&idle, &windows, i);
		take_idle(&idle, row);
	}
	free(windows.rows);
	idle_release(&idle);
	return err;
}

/* ---- figures ---- */

int64_t scope_figure(const struct trace *trace, const struct scope_instance *row,
		     enum scope_figure figure)
{
	const struct trace_scope *scope = &trace->scopes[row->scope];
	int64_t idle_ns = 0;

	switch (figure) {
	case SCOPE_HOST:
		return tally_span(scope->begin_ns, scope->end_ns);
	case SCOPE_PROJECTION:
		return tally_span(row->work.begin_ns, row->work.end_ns);
	case SCOPE_BUSY:
		return row->busy_ns;
	default:
		for (int cause = 0; cause < IDLE_CAUSE_COUNT; cause++)
			idle_ns = tally_sum(idle_ns, row->cause_ns[cause]);
		return idle_ns;
	}
}

static void find_median(const struct trace *trace, struct scope_stats *stats)
{
	double least = INFINITY;

	stats->median = TRACE_NONE;
	for (uint32_t i = 0; i < stats->instances.count; i++) {
		int64_t ns = scope_figure(trace, &stats->rows[i], SCOPE_PROJECTION);
		double distance = fabs((double)ns - stats->figures[SCOPE_PROJECTION].p50);

		if (stats->rows[i].work.timed && distance < least) {
			least = distance;
			stats->median = i;
		}
	}
}

static int describe(const struct trace *trace, struct scope_stats *stats)
{
	uint32_t count = stats->instances.count;
	int64_t *values = table_alloc(count, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (int figure = 0; figure < SCOPE_FIGURE_COUNT; figure++) {
		uint32_t used = 0;

		for (uint32_t i = 0; i < count; i++) {
			if (figure == SCOPE_HOST || stats->rows[i].work.timed)
				values[used++] = scope_figure(trace, &stats->rows[i],
							      (enum scope_figure)figure);
		}
		distribution_make(values, used, &stats->figures[figure]);
	}
	free(values);
	find_median(trace, stats);
	for (uint32_t i = 0; i < count; i++) {
		struct scope_instance *row = &stats->rows[i];

		row->is_outlier =
			row->work.timed &&
			distribution_is_outlier(&stats->figures[SCOPE_PROJECTION],
						scope_figure(trace, row, SCOPE_PROJECTION));
		for (int cause = 0; cause < IDLE_CAUSE_COUNT; cause++)
			stats->cause_ns[cause] =
				tally_sum(stats->cause_ns[cause], row->cause_ns[cause]);
	}
	return 0;
}

static int make(const struct dependencies *deps, const char *pattern, struct scope_stats *stats)
{
	int err = find_instances(deps->trace, pattern, &stats->instances);

	if (err < 0)
		return err;
	stats->rows = table_zeroed(stats->instances.count, sizeof(*stats->rows));
	if (!stats->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < stats->instances.count; i++)
		stats->rows[i].scope = stats->instances.scopes[i];
	err = take_activities(deps->trace, stats);
	if (err == 0)
		err = find_idle(deps, stats);
	return err == 0 ? describe(deps->trace, stats) : err;
}

int scope_stats_make(const struct dependencies *deps, const char *pattern,
		     struct scope_stats *ret_stats)
{
	struct scope_stats stats = {.median = TRACE_NONE};
	int err = make(deps, pattern, &stats);

	if (err < 0)
		scope_stats_release(&stats);
	else
		*ret_stats = stats;
	return err;
}

void scope_stats_release(struct scope_stats *stats)
{
	scope_instances_release(&stats->instances);
	free(stats->rows);
	free(stats->activities);
	free(stats->first);
	*stats = (struct scope_stats){0};
}
