/* Inside analyze/: for each stream, what its next work must wait for, at the current point of the
 * walk through the calls.
 *
 * A row is a stream, or the legacy default stream of one device (the trace has one row of HIP's
 * legacy stream for all devices). Work on the legacy stream waits for the earlier work of all
 * blocking streams of its device, and work on a blocking stream waits for the earlier work of the
 * legacy stream.
 *
 * Functions that can run out of memory set deps->error. */
#ifndef DAGTAP_ANALYZE_DEPENDENCY_ORDER_H
#define DAGTAP_ANALYZE_DEPENDENCY_ORDER_H

#include "analyze/dependency_store.h"

struct stream_order {
	uint32_t last; /* its last work: an activity or join, or STORE_NOTHING */
	/* Waits that gate its next work: index + 1 into orders.pending, 0 = none. */
	uint32_t pending;
	uint32_t agent; /* of its last work, or TRACE_NONE */
	uint32_t dirty; /* next stream of the dirty list of its agent: index + 1, 0 = end */
	uint64_t turn;	/* value of orders.turn when it was given its last work */
	enum trace_stream_kind kind;
	bool is_dirty; /* it is in the dirty list */
	bool is_blind; /* an unresolved wait gates its next work */
};

struct stream_pending {
	struct dependency edge;
	uint32_t next; /* index + 1 of the next pending wait of the stream, 0 = end */
};

struct orders {
	struct dependencies *deps;
	struct stream_order *rows; /* by stream; then the legacy streams, by agent */
	uint32_t count;
	/* By agent: index + 1 of the first stream in the list of blocking streams that got work or
	 * waits since the legacy stream joined them; 0 = none. */
	uint32_t *dirty;
	struct stream_pending *pending;
	uint32_t pending_count;
	struct dependency *sources; /* result of orders_take */
	uint32_t sources_count;
	bool is_blind; /* result of orders_take: an unresolved wait gated the stream */
	uint64_t turn; /* counts the calls of orders_give */
};

/* Makes a row for each stream and agent of the trace. 0, -ENOMEM or -E2BIG; the caller releases
 * LANES in each case. */
int orders_init(struct orders *orders, struct dependencies *deps);
void orders_release(struct orders *orders);

/* The index into rows of STREAM (a row of the trace, or TRACE_NONE). For the legacy stream, AGENT
 * selects the row: the agent on which the work runs, or on which the calling thread's last work
 * ran. TRACE_NONE: not known. */
uint32_t orders_find(const struct orders *orders, uint32_t stream, uint32_t agent);

/* Puts into orders->sources what the next work on stream AT must wait for, and clears its pending
 * waits. The caller then makes the edges of that work and calls orders_give with REF, the activity
 * or join that later work depends on. AGENT: where the work runs, or TRACE_NONE to keep the
 * stream's. */
void orders_take(struct orders *orders, uint32_t at, uint32_t agent);
void orders_give(struct orders *orders, uint32_t at, uint32_t ref);

/* Returns one activity or join that stands for all earlier work and pending waits of stream AT, or
 * STORE_NOTHING if there are none. May make a join, so the caller must not have a list open. */
uint32_t orders_settle(struct orders *orders, uint32_t at);

/* The next work of stream AT waits for EDGE as well. */
void orders_add_pending(struct orders *orders, uint32_t at, struct dependency edge);

#endif
