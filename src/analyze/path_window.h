/* Which stretches of time are meant: all of a trace, the instances of a scope, a replay, or so many ns. */
#ifndef DAGTAP_ANALYZE_PATH_WINDOW_H
#define DAGTAP_ANALYZE_PATH_WINDOW_H

#include "analyze/path.h"

enum path_window_by {
	PATH_WINDOW_ALL,
	PATH_WINDOW_SCOPE,  /* of that text, or of that name; the outermost where they are nested */
	PATH_WINDOW_STEP,   /* scopes that say so: "step 3", "ProfilerStep#3", "train 3" ... */
	PATH_WINDOW_REPLAY, /* of that graph, in the order of its execs' launches, from 0 */
	PATH_WINDOW_RANGE
};

#define PATH_WINDOW_EACH UINT64_MAX

struct path_query {
	enum path_window_by by;
	const char *text; /* of a scope */
	uint64_t nth;	  /* of several instances, from 0, or PATH_WINDOW_EACH */
	uint64_t number;  /* of a step, of a replay */
	uint64_t graph;	  /* id, of a replay */
	int64_t begin_ns,
		end_ns; /* of a range; INT64_MIN and INT64_MAX: from the first, to the last */
};

struct path_windows {
	struct path_window *rows; /* by begin, then by scope; none: nothing is meant */
	uint32_t count;
	uint32_t
		*of_scope; /* by scope: the window whose work is under it, or TRACE_NONE; NULL: they
			       are no scopes */
};

/* From the first begin to the last end of anything that has times; the end is before the begin if nothing has. */
void path_bounds(const struct trace *trace, int64_t *ret_begin_ns, int64_t *ret_end_ns);

/* 0 or -ENOMEM. */
int path_windows_find(const struct trace *trace, const struct path_query *query,
		      struct path_windows *ret_windows);
void path_windows_release(struct path_windows *windows);

#endif
