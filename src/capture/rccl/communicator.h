/* What is known of a communicator while it lives: how many operations came on it, and its rank.
 *
 * Threading: any thread, without a lock. There is room for 1024 at a time; one more has no number. */
#ifndef DAGTAP_CAPTURE_RCCL_COMMUNICATOR_H
#define DAGTAP_CAPTURE_RCCL_COMMUNICATOR_H

#include <stdatomic.h>
#include <stdint.h>

struct communicator {
	_Atomic uint64_t handle;
	_Atomic uint64_t operations;
	_Atomic int32_t rank_and_1; /* 0 = not known */
};

/* The handle's, a new one at its first use. NULL when there is no room, and for the handle 0. */
struct communicator *communicator_use(uint64_t handle);

/* The handle is about to be given back: what has it next is another communicator. */
void communicator_forget(uint64_t handle);

void communicator_forget_all(void);

#endif
