/* Inside analyze/: for each stream, what its next work must wait for, at the current point of the
 * walk through the calls.
 *
 * A lane is a stream, or the legacy default stream of one device (HIP has one row of the legacy
 * stream for all devices). Work on the legacy lane waits for the earlier work of all blocking lanes
 * of its device, and work on a blocking lane waits for the earlier work of the legacy lane.
 *
 * Functions that can run out of memory set deps->error. */
#ifndef DAGTAP_ANALYZE_DEPENDENCY_LANES_H
#define DAGTAP_ANALYZE_DEPENDENCY_LANES_H

#include "analyze/dependency_store.h"

struct lane {
	uint32_t last; /* its last work: an activity or join, or STORE_NOTHING */
	/* Waits that gate its next work: index + 1 into lanes.pending, 0 = none. */
	uint32_t pending;
	uint32_t agent; /* of its last work, or TRACE_NONE */
	uint32_t dirty; /* next lane of the dirty list of its agent: index + 1, 0 = end */
	uint64_t turn;	/* value of lanes.turn when it was given its last work */
	enum trace_stream_kind kind;
	bool is_dirty; /* it is in the dirty list */
	bool is_blind; /* an unresolved wait gates its next work */
};

struct lane_pending {
	struct dependency edge;
	uint32_t next; /* index + 1 of the next pending wait of the lane, 0 = end */
};

struct lanes {
	struct dependencies *deps;
	struct lane *rows; /* by stream; then the legacy lanes, by agent */
	uint32_t count;
	/* By agent: index + 1 of the first lane in the list of blocking lanes that got work or
	 * waits since the legacy lane joined them; 0 = none. */
	uint32_t *dirty;
	struct lane_pending *pending;
	uint32_t pending_count;
	struct dependency *sources; /* result of lanes_take */
	uint32_t sources_count;
	bool is_blind; /* result of lanes_take: an unresolved wait gated the lane */
	uint64_t turn; /* counts the calls of lanes_give */
};

/* Makes a lane for each stream and agent of the trace. 0, -ENOMEM or -E2BIG; the caller releases
 * LANES in each case. */
int lanes_init(struct lanes *lanes, struct dependencies *deps);
void lanes_release(struct lanes *lanes);

/* The lane for STREAM (a row, or TRACE_NONE). For the legacy stream, AGENT selects the lane: the
 * agent on which the work runs, or on which the calling thread's last work ran. TRACE_NONE: not
 * known. */
uint32_t lanes_find(const struct lanes *lanes, uint32_t stream, uint32_t agent);

/* Puts into lanes->sources what the next work on lane AT must wait for, and clears its pending
 * waits. The caller then makes the edges of that work and calls lanes_give with REF, the activity
 * or join that later work depends on. AGENT: where the work runs, or TRACE_NONE to keep the
 * lane's. */
void lanes_take(struct lanes *lanes, uint32_t at, uint32_t agent);
void lanes_give(struct lanes *lanes, uint32_t at, uint32_t ref);

/* Returns one activity or join that stands for all earlier work and pending waits of lane AT, or
 * STORE_NOTHING if there are none. May make a join, so the caller must not have a list open. */
uint32_t lanes_settle(struct lanes *lanes, uint32_t at);

/* The next work of lane AT waits for EDGE as well. */
void lanes_add_pending(struct lanes *lanes, uint32_t at, struct dependency edge);

#endif
