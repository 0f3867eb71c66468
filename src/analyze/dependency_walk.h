/* Inside analyze/: the state of the walk through the calls that finds the edges (dependencies.c),
 * and the parts of the walk in dependency_queue.c, dependency_waits.c and dependency_replay.c.
 *
 * The order of calls determines all edges: a wait gates the next work of its stream, and an event
 * record stands for the work that its stream had at that moment. */
#ifndef DAGTAP_ANALYZE_DEPENDENCY_WALK_H
#define DAGTAP_ANALYZE_DEPENDENCY_WALK_H

#include "analyze/dependency_order.h"
#include "analyze/replay_plan.h"

/* Working memory for one graph launch, used again for the next launch. A place is the number of an
 * activity within its launch. */
struct replay_scratch {
	uint32_t *next; /* by place: next activity of the same node, or TRACE_NONE */
	/* By place: activity or join that others depend on, or STORE_NOTHING. */
	uint32_t *refs;
	/* By place: activity before it in its hardware queue, or TRACE_NONE. */
	uint32_t *behind;
	size_t room;
	uint32_t *done; /* by item of the plan: what its successors depend on */
	/* By item: an event wait node is before it, with no work in between. */
	uint32_t *gated;
	size_t done_room, gated_room;
	struct dependency *entry; /* what the first nodes of the launch wait for */
	uint32_t entry_count;
	size_t entry_room;
};

/* In record_sources: a graph node made the record, and the node's place in the replay is not
 * known. */
#define RECORD_NOT_PLACED (STORE_NOTHING - 1)

struct dependency_walk {
	struct dependencies *deps;
	struct orders orders;
	struct replay_plans plans;
	struct replay_scratch replay;
	/* First event record and wait that are not taken yet. */
	uint32_t next_record, next_wait;
	uint32_t wait_first, wait_stop; /* waits of the current call: [first, stop) */
	/* By event record: activity or join that it stands for, STORE_NOTHING or
	 * RECORD_NOT_PLACED. */
	uint32_t *record_sources;
	/* By thread: where its last work ran, or TRACE_NONE. */
	uint32_t *thread_agents;
	uint32_t *last_calls;	/* by thread: its last call, or TRACE_NONE */
	uint32_t *last_packets; /* by queue: its last activity, or TRACE_NONE */
	/* By API: it returns after its copy has been made. */
	bool *is_blocking;
	/* By agent: orders.turn when the host had waited for the whole device. */
	uint64_t *synced;
	/* By node: launch + 1 for which node_first and node_last are valid. */
	uint32_t *node_launch;
	uint32_t *node_first, *node_last; /* by node: places of its first and last activity */
};

/* Whether the packet of ROW waits for all packets before it in its queue: bit 8 of the AQL
 * header. */
static inline bool queue_has_barrier_bit(const struct trace_activity *row)
{
	return row->packet_header >> 8 & 1;
}

/* dependency_queue.c. Enters an activity into its hardware queue, in the order of submission.
 * Returns the activity before it that it must wait for because of its barrier bit, or TRACE_NONE.
 * The caller passes that to queue_push after all other edges of the activity; queue_push adds an
 * edge unless there already is one. */
uint32_t queue_take(struct dependency_walk *walk, uint32_t activity);
void queue_push(struct dependency_walk *walk, uint32_t opened, uint32_t behind);

/* dependency_waits.c. record_take notes what an event record stands for. waits_take_before takes
 * the waits, of processes before PROCESS and of PROCESS with cids below CID, that have no call;
 * waits_take_rest takes all event records and waits that are left. */
void record_take(struct dependency_walk *walk, uint32_t record);
void waits_take_before(struct dependency_walk *walk, uint32_t process, uint64_t cid);
void waits_take_rest(struct dependency_walk *walk);

/* The waits of a call, in three steps. waits_take_streams: streams wait for events, before the
 * call's work. waits_settle: makes the joins that the host's waits need, after the call's work and
 * before a list is opened. waits_push_host: pushes the edges of the host's waits to the open
 * list. */
void waits_take_streams(struct dependency_walk *walk, const struct trace_call *call);
void waits_settle(struct dependency_walk *walk, const struct trace_call *call);
void waits_push_host(struct dependency_walk *walk, const struct trace_call *call);

/* dependency_replay.c: takes the activities of a graph launch, which CALL made, and the event
 * records of its nodes. CALL must have activities. 0 or -ENOMEM. */
int replay_take(struct dependency_walk *walk, const struct trace_call *call);
void replay_scratch_release(struct replay_scratch *scratch);

#endif
