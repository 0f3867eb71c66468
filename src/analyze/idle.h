/* Why streams and GPUs had nothing to do: each gap between work, cut by what was missing.
 *
 * A gap ends with a piece of work. Until the host had handed that over, the gap is the host's; from then
 * until the last of what it depends on was over, it is that's; what is left is the launch's. */
#ifndef DAGTAP_ANALYZE_IDLE_H
#define DAGTAP_ANALYZE_IDLE_H

#include "analyze/groups.h"
#include "analyze/path_window.h"

/* X(name, in JSON, for people) */
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

struct idle_lane {
	int64_t window_ns; /* of the windows in which it had work; 0: in none */
	int64_t busy_ns;   /* anything ran; the causes add up to the rest */
	int64_t cause_ns[IDLE_CAUSE_COUNT];
	/* Of a GPU: collective kernels and copies between GPUs, and of that the part in which no
	 * other kernel ran. */
	int64_t communication_ns, exposed_ns;
};

/* A stream stood still for another's work. */
struct idle_wait {
	uint32_t stream; /* that stood */
	uint32_t from;	 /* activity that was waited for: one of them */
	uint32_t via;	 /* a wait, or TRACE_NONE */
	uint8_t cause;	 /* enum idle_cause */
	uint8_t kind;	 /* enum dependency_kind */
	uint64_t count;
	int64_t total_ns;
};

struct idle {
	const struct dependencies *deps;
	struct idle_lane *lanes; /* by stream, then by agent */
	uint32_t lanes_count;
	struct idle_wait *waits; /* longest first */
	uint32_t waits_count;
	struct groups wait_keys;
	struct idle_sweep *sweeps; /* by lane, of the window that is added */
};

/* 0 or -ENOMEM; to be released either way. */
int idle_init(struct idle *idle, const struct dependencies *deps);
void idle_release(struct idle *idle);

/* Takes window AT. Of a scope or a replay: the streams and GPUs on which their work ran; else all that had any
 * work in it. 0 or -ENOMEM. */
int idle_add(struct idle *idle, const struct path_windows *windows, uint32_t at);

/* Sorts the waits; nothing is to be added afterwards. */
void idle_finish(struct idle *idle);

static inline const struct idle_lane *idle_stream(const struct idle *idle, uint32_t stream)
{
	return &idle->lanes[stream];
}

static inline const struct idle_lane *idle_agent(const struct idle *idle, uint32_t agent)
{
	return &idle->lanes[idle->deps->trace->streams_count + agent];
}

const char *idle_cause_key(enum idle_cause cause);
const char *idle_cause_text(enum idle_cause cause);

#endif
