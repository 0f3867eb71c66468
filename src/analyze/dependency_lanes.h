/* Inside analyze/: what the next work on each stream has to wait for, while calls are walked in order.
 *
 * A lane is a stream, or the legacy default stream of one device: HIP has one row of that for all
 * devices. The legacy lane waits for what the blocking lanes of its device were given before, and
 * they for what it was given. */
#ifndef DAGTAP_ANALYZE_DEPENDENCY_LANES_H
#define DAGTAP_ANALYZE_DEPENDENCY_LANES_H

#include "analyze/dependency_store.h"

struct lane {
	uint32_t last;	  /* what it was given last, or STORE_NOTHING */
	uint32_t pending; /* waits that gate its next work: index + 1 into lanes.pending */
	uint32_t agent;	  /* of its last work, or TRACE_NONE */
	uint32_t dirty;	  /* next lane that the legacy lane has not joined yet, + 1 */
	uint64_t turn;	  /* ascends with what the lanes are given */
	enum trace_stream_kind kind;
	bool is_dirty;
	bool is_blind; /* a wait that is unresolved gates its next work */
};

struct lane_pending {
	struct dependency edge;
	uint32_t next; /* + 1 */
};

struct lanes {
	struct dependencies *deps;
	struct lane *rows; /* by stream, then a legacy lane by agent */
	uint32_t count;
	uint32_t *dirty; /* by agent: first lane, + 1 */
	struct lane_pending *pending;
	uint32_t pending_count;
	struct dependency *sources; /* what lanes_take left */
	uint32_t sources_count;
	bool is_blind; /* what lanes_take left: so was that work's lane */
	uint64_t turn;
};

/* 0 or -ENOMEM; to be released either way. */
int lanes_init(struct lanes *lanes, struct dependencies *deps);
void lanes_release(struct lanes *lanes);

/* The lane of work on STREAM that runs, or of a call whose thread works, on AGENT. TRACE_NONE: it
 * cannot be told. */
uint32_t lanes_find(const struct lanes *lanes, uint32_t stream, uint32_t agent);

/* AT is a lane. Leaves in lanes->sources what the next work on it has to wait for; the caller gives it that
 * work. */
void lanes_take(struct lanes *lanes, uint32_t at, uint32_t agent);
void lanes_give(struct lanes *lanes, uint32_t at, uint32_t ref);

/* All that the lane was given and waits for, as one thing; STORE_NOTHING if that is nothing. */
uint32_t lanes_settle(struct lanes *lanes, uint32_t at);

/* The lane's next work waits for EDGE too. */
void lanes_add_pending(struct lanes *lanes, uint32_t at, struct dependency edge);

#endif
