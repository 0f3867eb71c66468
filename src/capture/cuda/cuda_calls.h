/* CUDA calls, as CUPTI's callbacks report them: one record for each call that the program made.
 * The driver calls that a runtime call makes are a part of it.
 *
 * Threading: CUPTI calls back on the thread of the call. Cost besides CUPTI's own: two clock
 * reads and one record a call; no lock, no allocation. */
#ifndef DAGTAP_CAPTURE_CUDA_CALLS_H
#define DAGTAP_CAPTURE_CUDA_CALLS_H

#include "capture/call_counter.h"
#include "capture/cuda/cuda_params.h"
#include "vendor/cupti_types.h"

/* A recording starts: counts calls from here and writes API_NAME records again. On the thread
 * that starts the session. */
void cuda_calls_begin(void);
/* A callback of CUPTI's for a call of DOMAIN (runtime or driver): the call is entered or left. */
void cuda_calls_told(enum cupti_domain domain, uint32_t cbid,
		     const struct cupti_callback_data *data);

/* Returns the correlation id of the program's call that the calling thread is in; 0: none. */
uint64_t cuda_calls_current(void);
/* Returns the time at which that call began; without a call, the time now. */
uint64_t cuda_calls_begin_ns(void);

/* Returns the innermost call that the calling thread is in, mostly a driver call inside the
 * program's runtime call. Its parameters have what CUPTI's callbacks about graphs leave out.
 * Valid until the call returns; cbid 0: none. */
struct cuda_told_call cuda_calls_innermost(void);

/* Where the calling thread last found an edge of that call; for cuda_params_edge alone. */
size_t *cuda_calls_edge_place(void);

/* Returns the calls entered and left since cuda_calls_begin, counted independently of their
 * records. */
struct call_counts cuda_calls_count(void);

/* In a fork child: the parent's calls are not the child's. */
void cuda_calls_forget(void);

#endif
