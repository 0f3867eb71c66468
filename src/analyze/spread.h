/* Medians and standard deviations of the durations of many groups at once: of kernels, of nodes, of
 * calls. Adds each duration to the tally of its group as it comes, and keeps it, at 12 bytes, until
 * spread_finish.
 *
 * Threading: a spread belongs to one thread until it is finished. Several threads make pieces,
 * which spread_finish_pieces puts together. */
#ifndef DAGTAP_ANALYZE_SPREAD_H
#define DAGTAP_ANALYZE_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/tally.h"

/* A zeroed struct spread is empty and ready. */
struct spread {
	uint32_t *groups; /* by duration */
	int64_t *values;
	size_t count, groups_room, values_room;
	bool is_borrowed; /* the arrays belong to the caller of spread_borrow */
	bool has_failed;  /* out of memory; spread_finish reports it */
};

/* Gives an empty SPREAD arrays for COUNT durations, the most that will be added. The caller keeps
 * them until it is finished or released. Saves growing: the summary of the reference run has half
 * as many page faults. */
void spread_borrow(struct spread *spread, uint32_t *groups, int64_t *values, size_t count);

/* The slow path of spread_add. False: out of memory. */
bool spread_grow(struct spread *spread);

/* Adds a duration to TALLY, that of group GROUP, and keeps it. */
static inline void spread_add(struct spread *spread, uint32_t group, struct tally *tally,
			      int64_t ns)
{
	tally_add(tally, ns);
	if ((spread->count >= spread->groups_room || spread->count >= spread->values_room) &&
	    !spread_grow(spread))
		return;
	spread->groups[spread->count] = group;
	spread->values[spread->count] = ns;
	spread->count++;
}

/* Frees what SPREAD holds; spread_finish does it, too. */
void spread_release(struct spread *spread);

/* Sets median_ns and stddev_ns of the tallies of all groups, which lie ROW_BYTES apart from FIRST
 * on. Frees what SPREAD holds, also on failure. 0 or -ENOMEM. Cost: a sort of the durations. */
int spread_finish(struct spread *spread, struct tally *first, size_t row_bytes, uint32_t groups);

/* A spread with groups of its own. */
struct spread_piece {
	struct spread spread;
	const uint32_t *groups; /* by its group: the group in the whole; NULL: they are the same */
	uint32_t group_count;
};

/* spread_finish for the durations of COUNT pieces together. GROUPS is the number of groups in the
 * whole. Threads share the pieces and the groups; the result is the same for any number of
 * them. */
int spread_finish_pieces(struct spread_piece *pieces, uint32_t count, struct tally *first,
			 size_t row_bytes, uint32_t groups);

#endif
