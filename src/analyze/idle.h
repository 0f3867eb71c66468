/* Why streams and GPUs were idle: divides each gap between activities by its causes.
 *
 * An activity ends a gap. The part of the gap until the host had submitted the activity has the
 * cause HOST. The part from then until the last activity that it depends on had ended has the cause
 * of that dependency. The rest has the cause LAUNCH, or UNKNOWN if the activity has no call or an
 * unresolved wait gated it. */
#ifndef DAGTAP_ANALYZE_IDLE_H
#define DAGTAP_ANALYZE_IDLE_H

#include "analyze/path_window.h"
#include "base/numbers.h"

/* X(name, key in JSON, text for people) */
#define IDLE_CAUSES(X)                                                                             \
	X(HOST, "host", "the host had not submitted it")                                           \
	X(LAUNCH, "launch_latency", "submitted, nothing to wait for, not begun")                   \
	X(EVENT, "event", "another stream's work, by an event")                                    \
	X(LEGACY, "legacy_stream", "the legacy default stream, or it for the others")              \
	X(COPY, "copy", "a copy")                                                                  \
	X(GRAPH, "graph", "a node of the same replay")                                             \
	X(QUEUE, "hardware_queue", "another stream's work, in the same hardware queue")            \
	X(END, "no_more_work", "no more work began in the window")                                 \
	X(UNKNOWN, "unknown", "not known")

enum idle_cause {
#define X(name, key, text) IDLE_##name,
	IDLE_CAUSES(X)
#undef X
		IDLE_CAUSE_COUNT
};

/* A stream or a GPU; sums over all windows. */
struct idle_resource {
	/* Duration of the windows in which it had work; 0: none. */
	int64_t window_ns;
	int64_t busy_ns;		    /* time in which an activity ran */
	int64_t cause_ns[IDLE_CAUSE_COUNT]; /* these add up to window_ns - busy_ns */
	/* Of a GPU: time of collective kernels and copies between GPUs, and the part of it in which
	 * no other kernel ran. */
	int64_t communication_ns, exposed_ns;
};

/* Gaps of a stream that have the same cause and the same work kind and stream of their source. */
struct idle_wait {
	uint32_t stream;  /* that was idle */
	uint32_t from;	  /* activity that it waited for, in one of the gaps */
	uint32_t via;	  /* index into trace.waits, or TRACE_NONE; in the same gap */
	uint8_t cause;	  /* enum idle_cause */
	uint8_t kind;	  /* enum dependency_kind */
	uint64_t count;	  /* gaps */
	int64_t total_ns; /* parts of the gaps with this cause */
};

struct idle {
	const struct dependencies *deps;
	struct idle_resource *resources; /* by stream, then by agent */
	uint32_t resources_count;
	struct idle_wait *waits; /* longest first, after idle_finish */
	uint32_t waits_count;
	struct numbers wait_keys;  /* index into waits of a wait's streams, work and kind */
	struct idle_sweep *sweeps; /* by resource: state in the window that is being added */
};

/* Borrows DEPS. 0 or -ENOMEM; the caller releases IDLE in both cases. */
int idle_init(struct idle *idle, const struct dependencies *deps);
void idle_release(struct idle *idle);

/* Adds window AT. In a window of a scope or of a replay, only streams and GPUs on which its own
 * work ran count; other work on these also fills their gaps. In other windows, all streams and GPUs
 * that had work count. 0 or -ENOMEM. Takes one walk through the activities in the window. */
int idle_add(struct idle *idle, const struct path_windows *windows, uint32_t at);

/* Divides the gap from BEGIN_NS to the start of ACTIVITY by cause: adds its parts to CAUSE_NS, by
 * enum idle_cause. */
void idle_divide(const struct dependencies *deps, uint32_t activity, int64_t begin_ns,
		 int64_t *cause_ns);

/* Sorts the waits. Call it once, after the last idle_add. */
void idle_finish(struct idle *idle);

/* The row of a stream, and of a GPU, by their rows in the trace. */
static inline const struct idle_resource *idle_stream(const struct idle *idle, uint32_t stream)
{
	return &idle->resources[stream];
}

static inline const struct idle_resource *idle_agent(const struct idle *idle, uint32_t agent)
{
	return &idle->resources[idle->deps->trace->streams_count + agent];
}

/* Static texts: the key in JSON, and the text for people. */
const char *idle_cause_key(enum idle_cause cause);
const char *idle_cause_text(enum idle_cause cause);

#endif
