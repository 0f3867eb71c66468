/*
 * A played libnccl.so.2: the part of NCCL's interface that the tests call, as nccl.h 2.32.3
 * declares it. Ranks do not exchange data. An operation launches a kernel through the model of
 * CUPTI; a group launches one for each communicator and stream when it ends.
 */
#ifndef TESTS_PLAYED_NCCL_H
#define TESTS_PLAYED_NCCL_H

#include <stddef.h>

enum { PLAYED_INT8 = 0, PLAYED_FLOAT16 = 6, PLAYED_FLOAT32 = 7, PLAYED_SUM = 0 };

struct played_id {
	char internal[128];
};

/* X(name, parameters) */
#define PLAYED_NCCL(X)                                                                             \
	X(ncclGetUniqueId, (struct played_id * id))                                                \
	X(ncclCommInitRank, (void **comm, int ranks, struct played_id id, int rank))               \
	X(ncclCommInitRankConfig,                                                                  \
	  (void **comm, int ranks, struct played_id id, int rank, void *config))                   \
	X(ncclCommInitAll, (void **comms, int devices, const int *list))                           \
	X(ncclCommSplit, (void *comm, int color, int key, void **ret_comm, void *config))          \
	X(ncclCommDestroy, (void *comm))                                                           \
	X(ncclCommAbort, (void *comm))                                                             \
	X(ncclCommUserRank, (const void *comm, int *rank))                                         \
	X(ncclCommCount, (const void *comm, int *ranks))                                           \
	X(ncclAllReduce, (const void *from, void *to, size_t count, int type, int reduction,       \
			  void *comm, void *stream))                                               \
	X(ncclAllGather,                                                                           \
	  (const void *from, void *to, size_t count, int type, void *comm, void *stream))          \
	X(ncclAlltoAll,                                                                            \
	  (const void *from, void *to, size_t count, int type, void *comm, void *stream))          \
	X(ncclSend,                                                                                \
	  (const void *from, size_t count, int type, int peer, void *comm, void *stream))          \
	X(ncclRecv, (void *to, size_t count, int type, int peer, void *comm, void *stream))        \
	X(ncclGroupStart, (void))                                                                  \
	X(ncclGroupEnd, (void))

#define X(name, parameters) int name parameters;
PLAYED_NCCL(X)
#undef X

#endif
