/* The critical path of an interval of time. It is followed from the end backwards: at each point,
 * to the source that was waited for last. The steps of the path cover the whole interval without
 * gaps and without overlaps. */
#ifndef DAGTAP_ANALYZE_PATH_H
#define DAGTAP_ANALYZE_PATH_H

#include "analyze/dependencies.h"

struct path_jumps; /* path_jumps.h */

/* X(name, key in JSON, text for people). KERNEL, COPY and MEMSET must come first. */
#define PATH_KINDS(X)                                                                              \
	X(KERNEL, "kernel", "kernels")                                                             \
	X(COPY, "copy", "copies")                                                                  \
	X(MEMSET, "memset", "memsets")                                                             \
	X(LAUNCH, "launch_latency", "launch latency: handed over, not begun, nothing to wait for") \
	X(DISPATCH, "dispatch", "from the end of the work before, same stream or replay")          \
	X(WAIT, "event_wait", "waiting for events and other streams")                              \
	X(CALL, "host_call", "host, inside calls")                                                 \
	X(HOST, "host", "host, between calls")                                                     \
	X(UNKNOWN, "unknown", "idle or not known")

enum path_kind {
#define X(name, key, text) PATH_##name,
	PATH_KINDS(X)
#undef X
		PATH_KIND_COUNT
};

/* An interval of host time, and the activity or call with which it ends. */
struct path_window {
	int64_t begin_ns, end_ns;
	uint32_t scope;	   /* the window is this scope and its work; or TRACE_NONE */
	uint32_t launch;   /* the window is this replay; or TRACE_NONE */
	uint32_t activity; /* the path ends with this activity; TRACE_NONE: with CALL */
	uint32_t call;	   /* TRACE_NONE, like ACTIVITY: not known */
};

struct path_step {
	int64_t begin_ns, end_ns;
	/* For an activity, its gap, and a call that waited: the time from the end of the second
	 * latest source to the end of the latest one. INT64_MAX: there was only one source. */
	int64_t lead_ns;
	/* Activity of the step (a gap: the activity that follows), or TRACE_NONE. */
	uint32_t activity;
	uint32_t call; /* call of the step, or TRACE_NONE */
	uint32_t from; /* activity that was waited for, or TRACE_NONE */
	uint32_t via;  /* wait that made the dependency, or TRACE_NONE */
	uint8_t kind;  /* enum path_kind */
	uint8_t cause; /* enum dependency_kind of the last source; DEPENDENCY_NONE: none */
};

struct path {
	struct path_step *steps; /* in the order of time */
	uint32_t count;
};

/* Finds the path of WINDOW, which stays on one rank; an empty window gives no steps. The caller
 * releases RET_PATH. 0, or -ENOMEM with RET_PATH unchanged. Any number of threads may call it for
 * the same DEPS. */
int path_find(const struct dependencies *deps, const struct path_window *window,
	      struct path *ret_path);

/* The same with JUMPS to other ranks. The step of a collective at which the path comes from another
 * rank has the cause DEPENDENCY_COLLECTIVE. */
int path_find_across(const struct dependencies *deps, const struct path_jumps *jumps,
		     const struct path_window *window, struct path *ret_path);
void path_release(struct path *path);

/* Static texts: the key in JSON, and the text for people. */
const char *path_kind_key(enum path_kind kind);
const char *path_kind_text(enum path_kind kind);

#endif
