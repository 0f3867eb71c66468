/* Finds the windows of a query (path_window.h). */
#include "analyze/path_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/scope_instances.h"
#include "analyze/scope_match.h"
#include "analyze/step_query.h"
#include "trace/row_table.h"

static struct path_window *add_window(struct path_windows *windows, int64_t begin_ns,
				      int64_t end_ns)
{
	struct path_window *row = table_add((void **)&windows->rows, &windows->count, sizeof(*row));

	if (row)
		*row = (struct path_window){
			.begin_ns = begin_ns,
			.end_ns = end_ns,
			.scope = TRACE_NONE,
			.launch = TRACE_NONE,
			.activity = TRACE_NONE,
			.call = TRACE_NONE,
		};
	return row;
}

static bool is_timed(const struct trace_activity *row)
{
	return row->untimed == RECORD_UNTIMED_NO;
}

/* ---- all, and a range ---- */

/* Finds with which activity or call the window ends: among those that overlap the window, the one
 * that ends last. Calls are considered only if no such activity reaches the end of the window. */
static void find_end(const struct trace *trace, struct path_window *window)
{
	int64_t last_ns = INT64_MIN;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		if (!is_timed(row) || row->start_ns >= window->end_ns ||
		    row->end_ns <= window->begin_ns || row->end_ns <= last_ns)
			continue;
		last_ns = row->end_ns;
		window->activity = i;
	}
	if (last_ns >= window->end_ns)
		return;
	for (uint32_t i = 0; i < trace->calls_count; i++) {
		const struct trace_call *row = &trace->calls[i];

		if (row->begin_ns >= window->end_ns || row->end_ns <= window->begin_ns ||
		    row->end_ns <= last_ns)
			continue;
		last_ns = row->end_ns;
		window->call = i;
		window->activity = TRACE_NONE;
	}
}

void path_bounds(const struct trace *trace, int64_t *ret_begin_ns, int64_t *ret_end_ns)
{
	int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		if (is_timed(row) && row->start_ns < begin_ns)
			begin_ns = row->start_ns;
		if (is_timed(row) && row->end_ns > end_ns)
			end_ns = row->end_ns;
	}
	for (uint32_t i = 0; i < trace->calls_count; i++) {
		if (trace->calls[i].begin_ns < begin_ns)
			begin_ns = trace->calls[i].begin_ns;
		if (trace->calls[i].end_ns > end_ns)
			end_ns = trace->calls[i].end_ns;
	}
	*ret_begin_ns = begin_ns;
	*ret_end_ns = end_ns;
}

static int find_range(const struct trace *trace, const struct path_query *query,
		      struct path_windows *windows)
{
	bool is_all = query->by == PATH_WINDOW_ALL;
	int64_t first_ns, last_ns, begin_ns, end_ns;
	struct path_window *window;

	path_bounds(trace, &first_ns, &last_ns);
	begin_ns = is_all || query->begin_ns == INT64_MIN ? first_ns : query->begin_ns;
	end_ns = is_all || query->end_ns == INT64_MAX ? last_ns : query->end_ns;
	if (begin_ns >= end_ns || begin_ns >= last_ns || end_ns <= first_ns)
		return 0;
	window = add_window(windows, begin_ns, end_ns);
	if (!window)
		return -ENOMEM;
	find_end(trace, window);
	return 0;
}

/* ---- a replay ---- */

static int find_replay(const struct trace *trace, const struct path_query *query,
		       struct path_windows *windows)
{
	struct path_window *window;
	uint32_t launch, last = TRACE_NONE;
	uint64_t nth = 0;
	int64_t begin_ns = INT64_MAX;

	for (launch = 0; launch < trace->launches_count; launch++) {
		uint32_t graph = trace->execs[trace->launches[launch].exec].graph;

		if (graph != TRACE_NONE && trace->graphs[graph].id == query->graph &&
		    nth++ == query->number)
			break;
	}
	if (launch == trace->launches_count)
		return 0;
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];

		if (row->launch != launch || !is_timed(row))
			continue;
		if (row->start_ns < begin_ns)
			begin_ns = row->start_ns;
		if (last == TRACE_NONE || row->end_ns > trace->activities[last].end_ns)
			last = i;
	}
	if (last == TRACE_NONE)
		return 0;
	window = add_window(windows, begin_ns, trace->activities[last].end_ns);
	if (!window)
		return -ENOMEM;
	window->launch = launch;
	window->activity = last;
	return 0;
}

/* ---- scopes ---- */

static bool is_meant(const struct trace *trace, const struct trace_scope *scope,
		     const struct path_query *query)
{
	uint64_t number;

	if (!scope_is_interval(scope))
		return false;
	if (query->by == PATH_WINDOW_STEP)
		return step_number_find(trace, scope, &number) && number == query->number;
	return scope_matches(trace, scope, query->text);
}

/* Adds a window for each instance, or for the NTH alone. */
static int add_instances(const struct trace *trace, const struct scope_instances *instances,
			 uint64_t nth, struct path_windows *windows)
{
	for (uint32_t i = 0; i < instances->count; i++) {
		const struct trace_scope *row = &trace->scopes[instances->scopes[i]];
		struct path_window *window;

		if (nth != PATH_WINDOW_EACH && nth != i)
			continue;
		window = add_window(windows, row->begin_ns, row->end_ns);
		if (!window)
			return -ENOMEM;
		window->scope = instances->scopes[i];
	}
	return 0;
}

/* Makes of the instance of each scope its window: none, or the only one, if windows are of the NTH
 * instance alone. */
static void number_windows(const struct trace *trace, uint64_t nth, uint32_t *of_scope)
{
	for (uint32_t i = 0; i < trace->scopes_count && nth != PATH_WINDOW_EACH; i++)
		of_scope[i] = of_scope[i] == nth ? 0 : TRACE_NONE;
}

/* Extends each window to its last work, if that ends after the scope. */
static void take_activities(const struct trace *trace, struct path_windows *windows)
{
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];
		uint32_t at = row->scope == TRACE_NONE ? TRACE_NONE : windows->of_scope[row->scope];
		struct path_window *window;

		if (at == TRACE_NONE || !is_timed(row))
			continue;
		window = &windows->rows[at];
		if (row->end_ns < window->end_ns)
			continue;
		if (window->activity != TRACE_NONE && row->end_ns == window->end_ns)
			continue;
		window->activity = i;
		window->end_ns = row->end_ns;
	}
}

/* Windows that do not end with an activity end with the last call of the scope's thread. */
static void take_calls(const struct trace *trace, struct path_windows *windows)
{
	for (uint32_t i = 0; i < trace->calls_count; i++) {
		const struct trace_call *row = &trace->calls[i];
		uint32_t at = row->scope == TRACE_NONE ? TRACE_NONE : windows->of_scope[row->scope];

		if (at != TRACE_NONE && windows->rows[at].activity == TRACE_NONE &&
		    row->thread == trace->scopes[windows->rows[at].scope].thread &&
		    row->begin_ns < windows->rows[at].end_ns)
			windows->rows[at].call = i;
	}
}

static int find_scopes(const struct trace *trace, const struct path_query *query,
		       struct path_windows *windows)
{
	bool *meant = table_zeroed(trace->scopes_count, sizeof(*meant));
	struct scope_instances instances = {0};
	int err = meant ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < trace->scopes_count && err == 0; i++)
		meant[i] = is_meant(trace, &trace->scopes[i], query);
	if (err == 0)
		err = scope_instances_find(trace, meant, &instances);
	if (err == 0)
		err = add_instances(trace, &instances, query->nth, windows);
	if (err == 0 && windows->count) {
		number_windows(trace, query->nth, instances.of_scope);
		windows->of_scope = instances.of_scope;
		instances.of_scope = NULL;
		take_activities(trace, windows);
		take_calls(trace, windows);
	}
	scope_instances_release(&instances);
	free(meant);
	return err;
}

int path_windows_find(const struct trace *trace, const struct path_query *query,
		      struct path_windows *ret_windows)
{
	struct path_windows windows = {0};
	int err;

	switch (query->by) {
	case PATH_WINDOW_SCOPE:
	case PATH_WINDOW_STEP:
		err = find_scopes(trace, query, &windows);
		break;
	case PATH_WINDOW_REPLAY:
		err = find_replay(trace, query, &windows);
		break;
	default:
		err = find_range(trace, query, &windows);
		break;
	}
	if (err < 0) {
		path_windows_release(&windows);
		return err;
	}
	*ret_windows = windows;
	return 0;
}

void path_windows_release(struct path_windows *windows)
{
	free(windows->rows);
	free(windows->of_scope);
	*windows = (struct path_windows){0};
}
