/* Dependencies: a directed graph over the activities and calls of a trace.
 *
 * An edge says that an activity or call could not begin (a waiting call: not return) before an
 * activity had ended, and how that is known (docs/dependencies.md). Measured times do not make
 * edges, and edges do not change times: if an activity started before the end of one that it
 * depends on, the edge and the times stay, and the contradiction is counted.
 *
 * Two relations have no edges here, because the rows already tell them: the call of an activity
 * (launch), and the order of calls of one thread (program order; call_before and call_after link
 * them). If many activities depend on many others, such as the first nodes of a replay on the last
 * nodes of the replay before, the edges meet in a join. A join is a moment without duration.
 *
 * Threading: dependencies_make runs on one thread; afterwards any number of threads may read the
 * result. Cost: one walk through the calls, 12 bytes per edge.
 */
#ifndef DAGTAP_ANALYZE_DEPENDENCIES_H
#define DAGTAP_ANALYZE_DEPENDENCIES_H

#include "analyze/starts.h"

/* Kinds of dependencies: X(name, key in JSON, text that says how it is known). Paths have
 * COLLECTIVE (path_jumps.h), but no edge has. */
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
	X(PROGRAM, "program_order", "calls of one thread")                                         \
	X(COLLECTIVE, "collective",                                                                \
	  "communicator and number of the operation: its last rank had not begun it")

enum dependency_kind {
#define X(name, key, known) DEPENDENCY_##name,
	DEPENDENCY_KINDS(X)
#undef X
		DEPENDENCY_KIND_COUNT,
	DEPENDENCY_NONE = DEPENDENCY_KIND_COUNT
};

struct dependency {
	uint32_t from; /* activity; from dependencies_first_join() on, a join */
	uint32_t via;  /* wait that made the edge, index into trace.waits; TRACE_NONE = no wait */
	uint8_t kind;  /* enum dependency_kind */
	bool is_last;  /* of its list */
};

/* The edges to one activity, call or join. Borrowed from struct dependencies. */
struct dependency_list {
	const struct dependency *rows;
	uint32_t count;
};

struct dependency_join {
	int64_t end_ns; /* end of the last of its sources; INT64_MIN: no source has times */
	uint32_t list;
	uint32_t activity; /* untimed activity that the join stands for, or TRACE_NONE */
};

/* A call that waited for activities before it returned. */
struct dependency_host {
	uint32_t call;
	uint32_t list;
};

/* Reasons why the source of a wait is not known: X(name, text). */
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

/* All fields are owned; only functions of analyze/ write them. A list is the index of its first
 * edge + 1, or 0: no edges. */
struct dependencies {
	const struct trace *trace;
	struct starts starts; /* of the trace's activities */
	struct dependency *edges;
	uint32_t edges_count;
	uint32_t *lists; /* by activity */
	struct dependency_join *joins;
	uint32_t joins_count;
	struct dependency_host *hosts; /* sorted by call */
	uint32_t hosts_count;
	struct dependency_unresolved *unresolved; /* by (process, cid) of the wait */
	uint32_t unresolved_count;
	/* A bit per activity: an unresolved wait gated it. */
	uint8_t *blind;
	bool *is_collective; /* by work: the name is of a collective kernel */
	/* The trace has calls of RCCL, whose kernels are collective too. */
	bool has_rccl;
	uint32_t *call_before, *call_after; /* by call: of the same thread, or TRACE_NONE */
	uint64_t counts[DEPENDENCY_KIND_COUNT];
	/* Part of counts: the times contradict it. */
	uint64_t contradicted[DEPENDENCY_KIND_COUNT];
	uint64_t resolved_waits;
	/* Activities of replays in REPLAY order, as their node is unknown. */
	uint64_t nodes_unknown;
	uint64_t streams_unknown; /* streams of unknown kind, which get no LEGACY edges */
	/* First -ENOMEM or -E2BIG while the struct is made; 0 afterwards. */
	int error;
};

/* Makes the dependencies of TRACE, which must outlive RET_DEPS. The caller releases RET_DEPS. 0,
 * -ENOMEM, or -E2BIG: more joins than indices. RET_DEPS is unchanged on failure. */
int dependencies_make(const struct trace *trace, struct dependencies *ret_deps);
void dependencies_release(struct dependencies *deps);

/* Joins have indices from here on; smaller ones are activities. */
static inline uint32_t dependencies_first_join(const struct dependencies *deps)
{
	return deps->trace->activities_count;
}

/* The edges to an activity, or to a call, in the order in which they were found. Finding those of a
 * call takes a binary search. */
struct dependency_list dependencies_of_activity(const struct dependencies *deps, uint32_t activity);
struct dependency_list dependencies_of_call(const struct dependencies *deps, uint32_t call);

/* An activity that a row waited for. KIND and VIA are those of the most telling edge on the way to
 * it: an edge between streams or to the host tells more than an edge within a stream. */
struct dependency_source {
	uint32_t activity;
	int64_t end_ns; /* its end, or the caller's limit_ns if that is earlier */
	uint32_t via;	/* index into trace.waits, or TRACE_NONE */
	enum dependency_kind kind;
};

/* Follows EDGE, through joins to the source that ended last, to an activity. False: there is no
 * activity with times that began before LIMIT_NS; RET_SOURCE is unchanged. */
bool dependencies_follow(const struct dependencies *deps, const struct dependency *edge,
			 int64_t limit_ns, struct dependency_source *ret_source);

/* Of several sources, the one that ended last; for equal ends, the one that was offered first. */
struct dependency_choice {
	struct dependency_source source; /* kind DEPENDENCY_NONE: no source */
	/* End of the second latest source; INT64_MIN: there is none. */
	int64_t next_ns;
};

/* Chooses among the edges of LIST, offered in list order. dependency_offer offers one more
 * source. */
struct dependency_choice dependencies_choose(const struct dependencies *deps,
					     struct dependency_list list, int64_t limit_ns);
void dependency_offer(struct dependency_choice *choice, const struct dependency_source *source);

/* The host time at which the host had submitted ACTIVITY, which must have a call: the recorded
 * time, or the end of the call if none was recorded; at most the start of the activity. */
int64_t dependencies_release_ns(const struct trace *trace, const struct trace_activity *activity);

/* Whether ACTIVITY is a kernel of NCCL or RCCL. Part of its duration may be waiting for other GPUs
 * or processes, which the trace may not have. */
bool dependencies_is_collective(const struct dependencies *deps,
				const struct trace_activity *activity);

/* Whether ACTIVITY may have waited for a source that is not known. */
static inline bool dependencies_is_blind(const struct dependencies *deps, uint32_t activity)
{
	return deps->blind[activity / 8] >> activity % 8 & 1;
}

/* Static texts: the key in JSON, and a text for people. */
const char *dependency_kind_key(enum dependency_kind kind);
const char *dependency_kind_text(enum dependency_kind kind); /* how the dependency is known */
const char *dependency_doubt_text(enum dependency_doubt doubt);

#endif
