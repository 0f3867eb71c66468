/* Records of launches of graphs, their calls and their activities, given to a struct cuda_launches
 * one by one. The call with the correlation id CID begins at ten times CID. */
#ifndef DAGTAP_TESTS_PLAYED_LAUNCHES_H
#define DAGTAP_TESTS_PLAYED_LAUNCHES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "live/cuda_launch_rows.h"

/* A launch of a graph causes KERNELS kernels and a copy. Launches take turns on STREAMS streams. */
enum { CONTEXT = 1, KERNELS = 2, NODES = KERNELS + 1, STREAMS = 4 };

/* Functions, from RECORD_CUDA_FUNCTION_FIRST on. */
enum { KERNEL_LAUNCH, STREAM_WAIT, CONTEXT_WAIT };

/* A call that has returned. */
struct returned {
	uint32_t tid, function;
	uint64_t cid, end_ns; /* 0: right after its begin */
	uint64_t args[2];
};

/* LAUNCH: that of the call, or NULL. */
void launches_call(struct cuda_launches *launches, const struct record_graph_launch *launch,
		   struct returned call);

/* The name of a function comes. */
void launches_name(struct cuda_launches *launches, uint32_t function, const char *name);

/* The host has waited for a stream of CONTEXT, or for all of a context. */
void launches_stream_wait(struct cuda_launches *launches, uint64_t stream, uint64_t cid);
void launches_context_wait(struct cuda_launches *launches, uint64_t context, uint64_t cid);

/* The call of a launch is entered; it has returned; both, on thread 1. */
void launches_enter(struct cuda_launches *launches, uint64_t exec, uint64_t replay, uint64_t cid);
void launches_leave(struct cuda_launches *launches, uint64_t exec, uint64_t replay,
		    struct returned call);
void launches_launch(struct cuda_launches *launches, uint64_t exec, uint64_t replay, uint64_t cid);

/* A kernel, a memset, and a piece of the copy, come of a launch. */
void launches_kernel(struct cuda_launches *launches, uint64_t exec, uint64_t replay, uint64_t cid,
		     uint64_t node);
void launches_memset(struct cuda_launches *launches, uint64_t exec, uint64_t replay, uint64_t cid,
		     uint64_t node);
void launches_piece(struct cuda_launches *launches, uint64_t exec, uint64_t replay, uint64_t cid);

/* All comes of a launch: the kernels, and the copy in two pieces. */
void launches_activities(struct cuda_launches *launches, uint64_t exec, uint64_t replay,
			 uint64_t cid);

/* A launch of which all comes. */
void launches_whole_launch(struct cuda_launches *launches, uint64_t exec, uint64_t replay,
			   uint64_t cid);

/* The graph is destroyed by the call CID. */
void launches_destroy(struct cuda_launches *launches, uint64_t exec, uint64_t cid);

/* What there is after GRAPH_LAUNCHES launches by the capture side's count. */
struct deliveries launches_count(const struct cuda_launches *launches, uint64_t graph_launches);

#endif
