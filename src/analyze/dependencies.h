/* Who had to wait for whom: one directed graph over a trace's activities and calls.
 *
 * An edge says that one thing could not begin before another had ended, and how that is known
 * (docs/dependencies.md). Measured times never make an edge, and never move because of one: a row
 * that started before something that it depends on had ended keeps both, and is counted.
 *
 * What rows of the trace tell already is not kept again: an activity's call (launch), and the
 * calls of one thread in a row (program order), which are linked here. Two things that have many
 * edges between them, such as a replay's last nodes and the next one's first, meet in a join: a
 * moment that takes no time.
 *
 * Made once, in one walk in the order of calls; then any number of threads may read it.
 */
#ifndef DAGTAP_ANALYZE_DEPENDENCIES_H
#define DAGTAP_ANALYZE_DEPENDENCIES_H

#include "analyze/starts.h"

/* X(name, in JSON, how it is known) */
#define DEPENDENCY_KINDS(X)                                                                        \
	X(LAUNCH, "launch", "correlation id")                                                      \
	X(STREAM, "stream_order", "order of submission to the stream")                             \
	X(STARTS, "start_order", "order of starts; the submission is not in the trace")            \
	X(QUEUE, "queue_order", "barrier bit of the packet: all before it in its hardware queue")  \
	X(GRAPH, "graph_edge", "edge of the graph")                                                \
	X(PROGRAMMATIC, "programmatic_launch",                                                     \
	  "programmatic launch: it may begin before the kernel ahead of it has ended")             \
	X(REPLAY, "replay_order", "order within the launch; no node is known for it alone")        \
	X(EVENT, "event", "event record and wait")                                                 \
	X(LEGACY, "legacy_stream", "the legacy default stream and blocking ones")                  \
	X(HOST_EVENT, "event_synchronize", "event record and wait")                                \
	X(HOST_STREAM, "stream_synchronize", "all that the stream was given")                      \
	X(HOST_DEVICE, "device_synchronize", "all that the device was given")                      \
	X(BLOCKING, "blocking_copy", "the call returns after its copy")                            \
	X(PROGRAM, "program_order", "calls of one thread")

enum dependency_kind {
#define X(name, key, known) DEPENDENCY_##name,
	DEPENDENCY_KINDS(X)
#undef X
		DEPENDENCY_KIND_COUNT,
	DEPENDENCY_NONE = DEPENDENCY_KIND_COUNT
};

struct dependency {
	uint32_t from; /* activity, or a join from dependencies_first_join() on */
	uint32_t via;  /* index into trace.waits, TRACE_NONE = it is no wait's */
	uint8_t kind;  /* enum dependency_kind */
	bool is_last;  /* of its list */
};

struct dependency_list {
	const struct dependency *rows;
	uint32_t count;
};

struct dependency_join {
	int64_t end_ns; /* when the last of what it joins ended; INT64_MIN: nothing has times */
	uint32_t list;
	uint32_t activity; /* untimed one that it stands for, or TRACE_NONE */
};

struct dependency_host {
	uint32_t call;
	uint32_t list;
};

/* Why nothing can be said of what a wait waited for. */
#define DEPENDENCY_DOUBTS(X)                                                                       \
	X(FOREIGN, "the event is another process's")                                               \
	X(NO_RECORD, "the event's record is not in the trace")                                     \
	X(NO_NODE, "what the graph's node that recorded the event waited for is not known")        \
	X(NO_STREAM, "the stream is not known")                                                    \
	X(NO_DEVICE, "the device is not known")                                                    \
	X(NO_TYPE, "what kind of wait it is is not known")

enum dependency_doubt {
#define X(name, text) DEPENDENCY_DOUBT_##name,
	DEPENDENCY_DOUBTS(X)
#undef X
		DEPENDENCY_DOUBT_COUNT
};

struct dependency_unresolved {
	uint32_t wait; /* index into trace.waits */
	enum dependency_doubt doubt;
};

/* A list is the index of its first edge + 1, or 0: it has none. */
struct dependencies {
	const struct trace *trace;
	struct starts starts; /* of the trace's activities */
	struct dependency *edges;
	uint32_t edges_count;
	uint32_t *lists; /* by activity */
	struct dependency_join *joins;
	uint32_t joins_count;
	struct dependency_host *hosts; /* calls that waited for something, by call */
	uint32_t hosts_count;
	struct dependency_unresolved *unresolved; /* by wait */
	uint32_t unresolved_count;
	uint8_t *blind;	     /* a bit by activity: it was gated by a wait that is unresolved */
	bool *is_collective; /* by op */
	bool has_rccl;	     /* calls of RCCL, whose kernels are collective too */
	uint32_t *call_before, *call_after; /* by call: of the same thread, or TRACE_NONE */
	uint64_t counts[DEPENDENCY_KIND_COUNT];
	uint64_t contradicted[DEPENDENCY_KIND_COUNT]; /* of them, by the times of the rows */
	uint64_t resolved_waits;
	uint64_t nodes_unknown;	  /* activities of replays that are in REPLAY order for it */
	uint64_t streams_unknown; /* whose kind is: no LEGACY edges */
	int error;		  /* while it is made */
};

/* 0, -ENOMEM or -E2BIG. */
int dependencies_make(const struct trace *trace, struct dependencies *ret_deps);
void dependencies_release(struct dependencies *deps);

static inline uint32_t dependencies_first_join(const struct dependencies *deps)
{
	return deps->trace->activities_count;
}

struct dependency_list dependencies_of_activity(const struct dependencies *deps, uint32_t activity);
struct dependency_list dependencies_of_call(const struct dependencies *deps, uint32_t call);

/* What a row was waiting for last: an activity, and which of the edges on the way to it says most. */
struct dependency_source {
	uint32_t activity;
	int64_t end_ns; /* at most LIMIT_NS: a row that ended after it was not waited for to its end */
	uint32_t via;
	enum dependency_kind kind;
};

/* Follows one edge through joins. False: nothing timed is behind it that began before LIMIT_NS. */
bool dependencies_follow(const struct dependencies *deps, const struct dependency *edge,
			 int64_t limit_ns, struct dependency_source *ret_source);

/* What was over last, of several; of those that were over at the same time, the one that was offered
 * first. */
struct dependency_choice {
	struct dependency_source source; /* kind NONE: there is none */
	int64_t next_ns;		 /* when the next later was over; INT64_MIN: none */
};

/* Of a list's edges, in their order. */
struct dependency_choice dependencies_choose(const struct dependencies *deps,
					     struct dependency_list list, int64_t limit_ns);
void dependency_offer(struct dependency_choice *choice, const struct dependency_source *source);

/* When the host had handed over an activity that has a call: as recorded, or when the call ended. */
int64_t dependencies_release_ns(const struct trace *trace, const struct trace_activity *activity);

/* If a kernel's time may be waiting for other GPUs or processes, which may not be in the trace. */
bool dependencies_is_collective(const struct dependencies *deps,
				const struct trace_activity *activity);

/* Whether it may have waited for something that is not known. */
static inline bool dependencies_is_blind(const struct dependencies *deps, uint32_t activity)
{
	return deps->blind[activity / 8] >> activity % 8 & 1;
}

const char *dependency_kind_key(enum dependency_kind kind);
const char *dependency_kind_text(enum dependency_kind kind); /* how it is known */
const char *dependency_doubt_text(enum dependency_doubt doubt);

#endif
