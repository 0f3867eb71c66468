/* The parts of which the generated wrappers of the interface of RCCL and NCCL are made
 * (scripts/gen-hip-api.py), as HIP's (capture/hip/hip_wrap.h), with the same observer of calls, but
 * without hooks. An operation on
 * data has four more words: the rank, the number of the operation on its communicator in this
 * process, from 1, the number of ranks, and the communicator's id. Operations are also numbered
 * while nothing is recorded.
 *
 * Threading: any thread. */
#ifndef DAGTAP_CAPTURE_RCCL_RCCL_WRAP_H
#define DAGTAP_CAPTURE_RCCL_RCCL_WRAP_H

#include <stdbool.h>

#include "capture/arg_words.h"
#include "capture/call_observer.h"
#include "capture/dispatch_table.h"
#include "capture/frame.h"
#include "capture/rccl/communicator.h"
#include "capture/rccl/rccl_functions.h"

/* ncclResult_t: what a wrapper returns when no library has its function. */
#define RCCL_INTERNAL_ERROR 3

/* A communicator is being made in the background, and has its handle already. */
#define RCCL_IN_PROGRESS 7

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

/* Whether a call works on data, and if so, whether all ranks of the communicator make it. */
enum rccl_work { RCCL_NO_OPERATION, RCCL_COLLECTIVE, RCCL_TRANSFER };

/* The communicator of an operation. */
struct rccl_of {
	int32_t rank;  /* RCCL_RANK_UNKNOWN for calls that are no operation */
	int32_t ranks; /* 0: not known */
	uint64_t id;   /* 0: not known */
};

/* One call that is under way; lives on the wrapper's stack. */
struct rccl_call {
	struct frame frame;
	struct rccl_of of;
	uint64_t sequence; /* of an operation among those of its enum rccl_work, from 1; 0: not
			    * numbered */
};

/* The handle that a call returned through COMM; 0: it failed, or COMM is NULL. */
static inline uint64_t rccl_made(int result, void *const *comm)
{
	return (result == 0 || result == RCCL_IN_PROGRESS) && comm ? (uintptr_t)*comm : 0;
}

static inline uint64_t rccl_unique_id_hash(const struct rccl_unique_id *id)
{
	return id ? communicator_id(id, sizeof(*id)) : 0;
}

#define RCCL_BEFORE(call, ...)                                                                     \
	do {                                                                                       \
		if (call_is_observed())                                                            \
			rccl_tell_entry(&(call), (const uint64_t[]){__VA_ARGS__});                 \
	} while (0)

/* Generated. */
extern const struct table_layout rccl_table_layout;
extern void *const rccl_symbols[RCCL_COUNT]; /* the wrappers, as rccl_functions */

/* Returns the function behind the wrapper of FUNCTION at the entry point DOOR, or NULL. */
void *rccl_next_at(unsigned int door, enum rccl_function function);

/* Enters a call of FUNCTION at the entry point DOOR; COMM is its communicator. Starts the session
 * if it is the first use of a GPU. Returns false when the wrapper has to pass the call without a
 * record; true when rccl_leave must follow. */
bool rccl_enter(struct rccl_call *call, enum rccl_function function, unsigned int door, void *comm,
		enum rccl_work work);
/* Tells the observer of the call, and sets the call's begin. ARGS: the words of its arguments, with
 * pointers as they are, and a pointer for an ncclUniqueId. For RCCL_BEFORE. */
void rccl_tell_entry(struct rccl_call *call, const uint64_t *args);
/* Ends the call and writes its API record: RESULT is the ncclResult_t, WORDS the recorded
 * arguments. On the same thread as rccl_enter. */
void rccl_leave(struct rccl_call *call, int result, uint32_t word_count, const uint64_t *words);

#endif
