/* Inside analyze/: the state of the one walk that finds the edges, call by call.
 *
 * A wait gates what its stream is given next, and an event stands for what its stream had been given
 * when it was recorded: so all of it follows from the order of calls. */
#ifndef DAGTAP_ANALYZE_DEPENDENCY_WALK_H
#define DAGTAP_ANALYZE_DEPENDENCY_WALK_H

#include "analyze/dependency_lanes.h"
#include "analyze/replay_plan.h"

/* Of the launch that is being taken; kept for the next one. */
struct replay_scratch {
	uint32_t *next; /* by place in the launch: the next piece of the same node, or TRACE_NONE */
	uint32_t *refs; /* by place: what others depend on */
	uint32_t *behind; /* by place: what is before it in its hardware queue, or TRACE_NONE */
	uint32_t room;
	uint32_t *done;	 /* by item of the plan */
	uint32_t *gated; /* by item: behind a node that waits for an event, no work between */
	uint32_t done_room, gated_room;
	struct dependency *entry; /* what its first nodes wait for */
	uint32_t entry_count, entry_room;
};

/* In place of what a record stands for: a node recorded the event, and of its replay not all nodes
 * are known. */
#define RECORD_NOT_PLACED (STORE_NOTHING - 1)

struct dependency_walk {
	struct dependencies *deps;
	struct lanes lanes;
	struct replay_plans plans;
	struct replay_scratch replay;
	uint32_t next_record, next_wait; /* into the trace's */
	uint32_t wait_first, wait_stop;	 /* those of the call that is taken */
	uint32_t *record_sources; /* by event record: what it stands for, or RECORD_NOT_PLACED */
	uint32_t *thread_agents;  /* by thread: where its last work ran */
	uint32_t *last_calls;	  /* by thread */
	uint32_t *last_packets;	  /* by queue: activity, or TRACE_NONE */
	bool *is_blocking;	  /* by API */
	uint64_t *synced;	  /* by agent: the lanes' turn when the host had waited for all */
	uint32_t *node_launch;	  /* by node: launch + 1 that node_first, node_last are of */
	uint32_t *node_first, *node_last; /* places in the launch */
};

/* Enters an activity in its hardware queue, in the order of submission: returns the one that it has to
 * wait for there, or TRACE_NONE. To be pushed as the last of its edges. */
uint32_t queue_take(struct dependency_walk *walk, uint32_t activity);
void queue_push(struct dependency_walk *walk, uint32_t opened, uint32_t behind);

/* dependency_waits.c: an event's record; waits of calls, and of what has no call. */
void record_take(struct dependency_walk *walk, uint32_t record);
void waits_take_before(struct dependency_walk *walk, uint32_t process, uint64_t cid);
void waits_take_rest(struct dependency_walk *walk);

/* The waits of a call, which come in three steps: streams wait for events; what the host waits for is
 * made one thing where it is several; the call's own edges, between open and close. */
void waits_take_streams(struct dependency_walk *walk, const struct trace_call *call);
void waits_settle(struct dependency_walk *walk, const struct trace_call *call);
void waits_push_host(struct dependency_walk *walk, const struct trace_call *call);

/* dependency_replay.c: the activities of a graph launch, and what its nodes record. 0 or
 * -ENOMEM. */
int replay_take(struct dependency_walk *walk, const struct trace_call *call);
void replay_scratch_release(struct replay_scratch *scratch);

#endif
