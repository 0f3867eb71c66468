/* Inside analyze/: filling struct dependencies. An activity's, a call's or a join's edges are pushed
 * one after another between open and close. Out of memory shows in deps->error, once, at the end.
 */
#ifndef DAGTAP_ANALYZE_DEPENDENCY_STORE_H
#define DAGTAP_ANALYZE_DEPENDENCY_STORE_H

#include "analyze/dependencies.h"

/* In place of an activity or a join. */
#define STORE_NOTHING TRACE_NONE

static inline struct dependency dependency_on(uint32_t from, uint32_t via,
					      enum dependency_kind kind)
{
	return (struct dependency){.from = from, .via = via, .kind = (uint8_t)kind};
}

static inline uint32_t store_open(const struct dependencies *deps)
{
	return deps->edges_count;
}

void store_push(struct dependencies *deps, struct dependency edge);

/* Takes back what was pushed since OPENED. */
void store_undo(struct dependencies *deps, uint32_t opened);

/* The edges since OPENED are the activity's. Returns what others have to depend on: ACTIVITY, or, as
 * it has no times, a join that stands for it. */
uint32_t store_close_activity(struct dependencies *deps, uint32_t opened, uint32_t activity);
void store_close_call(struct dependencies *deps, uint32_t opened, uint32_t call);
uint32_t store_close_join(struct dependencies *deps, uint32_t opened);

/* A wait that is unresolved gated the activity. */
static inline void store_blind(struct dependencies *deps, uint32_t activity)
{
	deps->blind[activity / 8] |= (uint8_t)(1u << activity % 8);
}

void store_unresolved(struct dependencies *deps, uint32_t wait, enum dependency_doubt doubt);

#endif
