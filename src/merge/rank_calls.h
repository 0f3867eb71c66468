/* The calls that tell of a process's collectives, selected from its records without loading them.
 *
 * A call is written when it returns, so the calls inside a call come before it, on the same thread.
 * One walk keeps the calls of each thread until the outermost one has come, and then those of
 * collectives and of groups of them.
 *
 * Threading: one thread. Memory: at most RANK_COLLECTIVES_MOST collectives with the calls inside
 * them, whatever the length of the recording. Of a recording with more, those whose numbers are
 * multiples of a power of two stay, the same ones in all ranks; and the first of each communicator,
 * which tells that the rank is in it, as long as these are at most half of them. */
#ifndef DAGTAP_MERGE_RANK_CALLS_H
#define DAGTAP_MERGE_RANK_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/pack/origin.h"

/* A collective, or all that a thread called between the start and the end of a group. */
struct rank_call_group {
	uint32_t tid;
	uint32_t operations; /* collectives in it */
	/* The largest power of two that a number of them is a multiple of; UINT64_MAX: the group is
	 * kept as the first of a communicator. */
	uint64_t step;
	unsigned char *records; /* API records, one after the other */
	size_t bytes, room;
};

struct rank_calls {
	struct rank_call_group *groups;
	size_t count, room;
	uint64_t operations; /* of all groups */
};

/* Selects the calls of ORIGIN. Returns 0; release *RET_CALLS. Else -ENOMEM. */
int rank_calls_select(struct origin *origin, struct rank_calls *ret_calls);

/* Frees what CALLS owns and makes it empty. */
void rank_calls_release(struct rank_calls *calls);

/* Whether ORIGIN has calls of collectives, or -ENOMEM. Reads only the blocks that hold names of
 * functions and, if there is one of a collective, those with calls, until the first. Shares the
 * latter among threads. */
int rank_calls_are_there(struct origin *origin);

#endif
