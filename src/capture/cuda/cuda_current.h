/* The CUDA call that each thread is in, as CUPTI's callbacks report it. cuda_calls.c writes
 * it, and cuda_graph_capture.c reads which call a step of a graph belongs to.
 *
 * Threading: each thread has its own. Cost: a few loads of thread-local memory. */
#ifndef DAGTAP_CAPTURE_CUDA_CUDA_CURRENT_H
#define DAGTAP_CAPTURE_CUDA_CUDA_CURRENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture_session.h"
#include "capture/cuda/cuda_params.h"

/* The call that a thread is in. A state of an earlier session is out of date: the end of its
 * call was not seen. */
struct cuda_current {
	uint64_t cid;	   /* of the program's call; 0: none is recorded */
	uint64_t begin_ns; /* of that call */
	uint32_t session;
	uint32_t depth;	    /* calls that are entered and not left */
	bool is_recorded;   /* the program's call was entered while the session was on */
	bool has_begun;	    /* the thread has entered a call in this session */
	bool has_made_node; /* the program's call has made a graph node: it was captured */
	struct cuda_told_call innermost; /* the innermost call; cbid 0 once it is left */
	size_t edge_place;		 /* where cuda_params_edge last found an edge of it */
	/* The number of a runtime call of which only driver calls were seen, since it was
	 * entered before the recording or is not asked for; 0: none. */
	uint64_t under_way;
};

extern __thread struct cuda_current cuda_current __attribute__((tls_model("initial-exec")));

/* Returns the correlation id of the program's call that the calling thread is in; 0: none. */
static inline uint64_t cuda_current_cid(void)
{
	return cuda_current.session == session_current_number() ? cuda_current.cid : 0;
}

/* Returns the time at which that call began; without a call, the time now. */
static inline uint64_t cuda_current_begin_ns(void)
{
	return cuda_current_cid() ? cuda_current.begin_ns : session_now_ns();
}

/* A call of cuda_building.list that a thread of a dormant process is in. */
struct cuda_dormant_call {
	struct cuda_told_call call; /* cbid 0: none */
	uint64_t cid;
	uint32_t session; /* the last one when the call was entered */
};

extern __thread struct cuda_dormant_call cuda_dormant_call
	__attribute__((tls_model("initial-exec")));

/* A call that is left after a session has begun is not seen to be left, and its parameters are gone
 * then. */
static inline bool cuda_is_in_dormant_call(void)
{
	return cuda_dormant_call.call.cbid && cuda_dormant_call.session == session_current_number();
}

/* Returns an id that all steps of graphs have that the call brings in which the calling thread is:
 * that of the program's call, or one that no recorded call has. 0: it is in none. */
static inline uint64_t cuda_current_step_cid(void)
{
	uint64_t cid = cuda_current_cid();

	return cid || !cuda_is_in_dormant_call() ? cid : cuda_dormant_call.cid;
}

/* Returns the innermost call that the calling thread is in, mostly a driver call inside the
 * program's runtime call. Its parameters have what CUPTI's callbacks about graphs leave out.
 * Valid until the call returns; cbid 0: none. */
static inline struct cuda_told_call cuda_current_innermost(void)
{
	if (cuda_current_cid())
		return cuda_current.innermost;
	return cuda_is_in_dormant_call() ? cuda_dormant_call.call : (struct cuda_told_call){0};
}

#endif
