/* Selects the intervals of a trace that are analyzed: all of it, the instances of a scope, a step,
 * a replay, or a range of time. */
#ifndef DAGTAP_ANALYZE_PATH_WINDOW_H
#define DAGTAP_ANALYZE_PATH_WINDOW_H

#include "analyze/path.h"

enum path_window_by {
	PATH_WINDOW_ALL,
	PATH_WINDOW_SCOPE, /* scopes that match the pattern; of nested ones, the outermost */
	/* Scopes with that step number as attribute or text: "ProfilerStep#3". */
	PATH_WINDOW_STEP,
	PATH_WINDOW_REPLAY, /* one launch of that graph, counted over all its execs, from 0 */
	PATH_WINDOW_RANGE   /* from begin_ns to end_ns */
};

#define PATH_WINDOW_EACH UINT64_MAX /* as nth: all instances */

struct path_query {
	enum path_window_by by;
	const char *text; /* SCOPE: its text or name, or a pattern (scope_match.h) */
	/* SCOPE, STEP: which instance, by time from 0; or PATH_WINDOW_EACH */
	uint64_t nth;
	uint64_t number; /* STEP, REPLAY: its number */
	uint64_t graph;	 /* REPLAY: id of the graph */
	/* RANGE, in host ns. INT64_MIN, INT64_MAX: from the begin, to the end of the trace. */
	int64_t begin_ns, end_ns;
};

struct path_windows {
	struct path_window *rows; /* by begin, then by scope */
	uint32_t count;		  /* 0: the trace has nothing that matches */
	/* By scope: the window that contains the scope's work, or TRACE_NONE. NULL: the windows are
	 * not made from scopes. */
	uint32_t *of_scope;
};

/* The first begin and the last end of calls and timed activities. If there are none, the end is
 * before the begin. Walks both tables. */
void path_bounds(const struct trace *trace, int64_t *ret_begin_ns, int64_t *ret_end_ns);

/* Finds the windows of QUERY. The window of a scope ends with its last work, which may end after
 * the scope. The caller releases RET_WINDOWS. 0, or -ENOMEM with RET_WINDOWS unchanged. Walks
 * activities and calls once. */
int path_windows_find(const struct trace *trace, const struct path_query *query,
		      struct path_windows *ret_windows);
void path_windows_release(struct path_windows *windows);

#endif
