/* What the generated wrappers of the RCCL API are made of (scripts/gen-hip-api.py): as HIP's
 * (capture/hip/wrap.h), without hooks. What works on data has two words more, the rank and the number of
 * the operation on its communicator in this process, from 1; numbers go on while nothing is recorded.
 *
 * Threading: any thread. */
#ifndef DAGTAP_CAPTURE_RCCL_WRAP_H
#define DAGTAP_CAPTURE_RCCL_WRAP_H

#include <stdbool.h>

#include "capture/frame.h"
#include "capture/rccl/rccl_ops.h"
#include "capture/table.h"
#include "capture/words.h"

/* ncclResult_t: what a wrapper gives that has nothing behind it. */
#define RCCL_INTERNAL_ERROR 3

#define RCCL_RANK_UNKNOWN (-1)

struct rccl_unique_id {
	char internal[128];
};

struct rccl_op_info {
	const char *symbol;
	const char *text; /* of the API_NAME record */
};

#define RCCL_COUNT (RCCL_OP_COUNT - RCCL_NONE)

extern const struct rccl_op_info rccl_ops[RCCL_COUNT];

struct rccl_call {
	struct frame frame;
	int32_t rank;
	uint64_t sequence; /* of an operation */
};

extern const struct table_layout rccl_table_layout;

/* The function behind the wrapper of OP at DOOR, or NULL. */
void *rccl_next_at(unsigned int door, enum rccl_op op);

/* False: pass the call through. True: rccl_leave must follow. */
bool rccl_enter(struct rccl_call *call, enum rccl_op op, unsigned int door, void *comm,
		bool is_operation);
void rccl_leave(struct rccl_call *call, int result, uint32_t word_count, const uint64_t *words);

#endif
