/* The critical path of a stretch of time: from its end backwards, at each point what had to be waited
 * for last. It cuts the stretch into steps that leave nothing out and overlap nowhere. */
#ifndef DAGTAP_ANALYZE_PATH_H
#define DAGTAP_ANALYZE_PATH_H

#include "analyze/dependencies.h"

/* X(name, in JSON, for people) */
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

/* A stretch of time, and what is to be done when it ends. */
struct path_window {
	int64_t begin_ns, end_ns;
	uint32_t scope;	   /* that it is an instance of, or TRACE_NONE */
	uint32_t launch;   /* that it is the replay of, or TRACE_NONE */
	uint32_t activity; /* where the path ends: an activity, or else a call, or neither */
	uint32_t call;
};

struct path_step {
	int64_t begin_ns, end_ns;
	int64_t lead_ns; /* of an activity, and of a call that waited: by how much what it waited for
			    was later than all else; INT64_MAX: there was nothing else */
	uint32_t activity; /* that it is about, or TRACE_NONE */
	uint32_t call;	   /* the same */
	uint32_t from; /* activity that was waited for, if CAUSE is one of waiting; TRACE_NONE */
	uint32_t via;  /* wait by which, or TRACE_NONE */
	uint8_t kind;  /* enum path_kind */
	uint8_t cause; /* enum dependency_kind: what it was waiting for last */
};

struct path {
	struct path_step *steps; /* in the order of time */
	uint32_t count;
};

/* Nothing: no steps. 0 or -ENOMEM. */
int path_find(const struct dependencies *deps, const struct path_window *window,
	      struct path *ret_path);
void path_release(struct path *path);

const char *path_kind_key(enum path_kind kind);
const char *path_kind_text(enum path_kind kind);

#endif
