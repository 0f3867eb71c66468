/* The parts of which the generated wrappers of the RCCL interface are made
 * (scripts/gen-hip-api.py), as HIP's (capture/hip/hip_wrap.h), but without hooks. An operation on
 * data has two more words: the rank, and the number of the operation on its communicator in this
 * process, from 1. Operations are also numbered while nothing is recorded.
 *
 * Threading: any thread. */
#ifndef DAGTAP_CAPTURE_RCCL_RCCL_WRAP_H
#define DAGTAP_CAPTURE_RCCL_RCCL_WRAP_H

#include <stdbool.h>

#include "capture/arg_words.h"
#include "capture/dispatch_table.h"
#include "capture/frame.h"
#include "capture/rccl/rccl_functions.h"

/* ncclResult_t: what a wrapper returns when no library has its function. */
#define RCCL_INTERNAL_ERROR 3

#define RCCL_RANK_UNKNOWN (-1)

/* ncclUniqueId, which is passed by value. */
struct rccl_unique_id {
	char internal[128];
};

struct rccl_function_info {
	const char *symbol;
	const char *text; /* text of the API_NAME record */
};

#define RCCL_COUNT (RCCL_FUNCTION_COUNT - RCCL_NONE)

extern const struct rccl_function_info rccl_functions[RCCL_COUNT];

/* One call that is under way; lives on the wrapper's stack. */
struct rccl_call {
	struct frame frame;
	int32_t rank;	   /* RCCL_RANK_UNKNOWN for calls that are no operation */
	uint64_t sequence; /* of an operation, from 1; 0: not numbered */
};

/* Generated. */
extern const struct table_layout rccl_table_layout;

/* Returns the function behind the wrapper of FUNCTION at the entry point DOOR, or NULL. */
void *rccl_next_at(unsigned int door, enum rccl_function function);

/* Enters a call of FUNCTION at the entry point DOOR; COMM is its communicator, IS_OPERATION whether
 * it works on data. Starts the session if it is the first use of a GPU. Returns false when the
 * wrapper has to pass the call without a record; true when rccl_leave must follow. */
bool rccl_enter(struct rccl_call *call, enum rccl_function function, unsigned int door, void *comm,
		bool is_operation);
/* Ends the call and writes its API record: RESULT is the ncclResult_t, WORDS the recorded
 * arguments. On the same thread as rccl_enter. */
void rccl_leave(struct rccl_call *call, int result, uint32_t word_count, const uint64_t *words);

#endif
