/* The collectives of a loaded recording, as src/merge matches them among ranks.
 *
 * Of RCCL's and NCCL's operations, those are taken that no rank ends before all have begun. An
 * operation lasts from the first start to the last end of the activities that it submitted to its
 * stream; in a group, that all operations of the group did. Operations in replayed graphs are left
 * out, because a replay does not tell their numbers; so are those with impossible times.
 *
 * Threading: functions of their arguments. Memory: at most RANK_COLLECTIVES_MOST rows; of a
 * recording with more, those with numbers that are multiples of a power of two, the same in all
 * ranks. */
#ifndef DAGTAP_MERGE_RANK_COLLECTIVES_H
#define DAGTAP_MERGE_RANK_COLLECTIVES_H

#include "merge/rank_clocks.h"
#include "trace/trace_model.h"

#define RANK_COLLECTIVES_MOST 16384

/* A rank in a communicator, as its operations tell. */
struct rank_member {
	uint64_t communicator;
	uint32_t ranks; /* size of the communicator */
	uint32_t rank;
	uint32_t process; /* index into trace.processes */
};

struct rank_collectives {
	struct collective *rows; /* without clock */
	uint32_t count;
	struct rank_member *members; /* each once */
	uint32_t member_count;
	uint64_t found; /* collectives, also those that were left out for want of room */
};

/* Finds the collectives of TRACE, which must have the arguments of calls. Returns 0, then the
 * caller releases *RET_FOUND; or -ENOMEM. */
int rank_collectives_find(const struct trace *trace, struct rank_collectives *ret_found);

/* What a function is to the search. */
enum rank_function_role {
	RANK_FUNCTION_OTHER,
	RANK_FUNCTION_COLLECTIVE, /* its operations are found */
	RANK_FUNCTION_GROUP_START,
	RANK_FUNCTION_GROUP_END
};

/* The role of the function NAME of RCCL or NCCL. */
enum rank_function_role rank_function_role(const char *name);

/* Frees the rows and makes FOUND empty. */
void rank_collectives_release(struct rank_collectives *found);

#endif
