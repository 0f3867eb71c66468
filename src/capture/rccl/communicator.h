/* Communicators of RCCL while they live: the number of operations on each, and its rank.
 *
 * Threading: any thread, without a lock. There is room for 1024 at a time; the operations on
 * further ones have no number. */
#ifndef DAGTAP_CAPTURE_RCCL_COMMUNICATOR_H
#define DAGTAP_CAPTURE_RCCL_COMMUNICATOR_H

#include <stdatomic.h>
#include <stdint.h>

struct communicator {
	_Atomic uint64_t handle;     /* ncclComm_t; communicator.c has two more values */
	_Atomic uint64_t operations; /* so far, from 0 */
	_Atomic int32_t rank_and_1;  /* rank + 1; 0: not known yet */
};

/* Returns the communicator of HANDLE, which is made at its first use. NULL when there is no
 * room, and for HANDLE 0. The pointer is valid until communicator_forget. */
struct communicator *communicator_use(uint64_t handle);

/* HANDLE is about to be destroyed: a later communicator may get the same handle. */
void communicator_forget(uint64_t handle);

/* In a fork child. */
void communicator_forget_all(void);

#endif
