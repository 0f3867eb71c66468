/* Communicators of RCCL and NCCL while they live: the number of operations on each, its rank, and
 * an id that is the same on all ranks.
 *
 * Threading: any thread, without a lock. There is room for 1024 at a time; the operations on
 * further ones have no number. */
#ifndef DAGTAP_CAPTURE_RCCL_COMMUNICATOR_H
#define DAGTAP_CAPTURE_RCCL_COMMUNICATOR_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct communicator {
	_Atomic uint64_t handle; /* ncclComm_t; communicator.c has two more values */
	/* Operations so far, counted for themselves: of collectives all ranks make the same, of
	 * transfers (send, receive) they do not. */
	_Atomic uint64_t collectives, transfers;
	_Atomic uint64_t splits;    /* communicators that were made of it so far */
	_Atomic uint64_t id;	    /* 0: not known */
	_Atomic int32_t ranks;	    /* how many; 0: not known */
	_Atomic int32_t rank_and_1; /* rank + 1; 0: not known yet */
};

/* Returns the communicator of HANDLE, which is made at its first use. NULL when there is no
 * room, and for HANDLE 0. The pointer is valid until communicator_forget. */
struct communicator *communicator_use(uint64_t handle);

/* A communicator was made with HANDLE. Its operations count from 0. RANK -1, RANKS 0, ID 0: not
 * known. Does nothing for HANDLE 0, and when there is no room. */
void communicator_made(uint64_t handle, uint64_t id, int32_t rank, int32_t ranks);

/* Returns the id of the bytes that tell a communicator from all others: FNV-1a, but never 0. Ids
 * are in files, so this must not change. */
uint64_t communicator_id(const void *bytes, size_t size);

/* Counts one more communicator that is made of the one of HANDLE, which all ranks do in the same
 * order, and returns the id of those with COLOR. 0: HANDLE's id is not known. */
uint64_t communicator_split(uint64_t handle, int32_t color);

/* HANDLE is about to be destroyed: a later communicator may get the same handle. */
void communicator_forget(uint64_t handle);

/* In a fork child. */
void communicator_forget_all(void);

#endif
