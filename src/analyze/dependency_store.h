/* Inside analyze/: functions that fill struct dependencies.
 *
 * The edges of an activity, call or join are one list: store_open, store_push for each edge, then
 * one of the store_close functions. Only one list may be open. Failures set deps->error, which the
 * walk checks after each call of the trace.
 */
#ifndef DAGTAP_ANALYZE_DEPENDENCY_STORE_H
#define DAGTAP_ANALYZE_DEPENDENCY_STORE_H

#include "analyze/dependencies.h"

/* In place of an activity or join: nothing to depend on. */
#define STORE_NOTHING TRACE_NONE

static inline struct dependency dependency_on(uint32_t from, uint32_t via,
					      enum dependency_kind kind)
{
	return (struct dependency){.from = from, .via = via, .kind = (uint8_t)kind};
}

/* Opens a list. Returns the index of its first edge, for store_close and store_undo. */
static inline uint32_t store_open(const struct dependencies *deps)
{
	return deps->edges_count;
}

/* Adds EDGE to the open list. Without memory it sets deps->error. */
void store_push(struct dependencies *deps, struct dependency edge);

/* Removes the edges that were pushed since OPENED. */
void store_undo(struct dependencies *deps, uint32_t opened);

/* Close the list: its edges are those of an activity, a call, or a new join. store_close_activity
 * returns what later work depends on: ACTIVITY, or, if it is untimed, a join in its place.
 * store_close_join returns the join; STORE_NOTHING on failure. A call without edges gets no
 * entry. */
uint32_t store_close_activity(struct dependencies *deps, uint32_t opened, uint32_t activity);
void store_close_call(struct dependencies *deps, uint32_t opened, uint32_t call);
uint32_t store_close_join(struct dependencies *deps, uint32_t opened);

/* Marks that an unresolved wait gated the activity. */
static inline void store_blind(struct dependencies *deps, uint32_t activity)
{
	deps->blind[activity / 8] |= (uint8_t)(1u << activity % 8);
}

/* Adds WAIT to the unresolved waits. Call in the order of calls: path.c searches them by cid. */
void store_unresolved(struct dependencies *deps, uint32_t wait, enum dependency_doubt doubt);

#endif
