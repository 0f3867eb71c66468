/* CUDA calls, as CUPTI's callbacks tell of them: one record for each call that the program made. What
 * a call of the runtime calls in the driver is part of it.
 *
 * The callbacks come on the calling thread. Cost beside CUPTI's own: two clock reads and a record a
 * call; no lock, no allocation. */
#ifndef DAGTAP_CAPTURE_CUDA_CALLS_H
#define DAGTAP_CAPTURE_CUDA_CALLS_H

#include "capture/call_counter.h"
#include "capture/cuda/cuda_params.h"
#include "vendor/cupti_types.h"

void cuda_calls_begin(void); /* a recording starts: names are to be written again */
void cuda_calls_told(enum cupti_domain domain, uint32_t cbid,
		     const struct cupti_callback_data *data);

/* The call that this thread is in, 0 = none, and when it began: now, without one. */
uint64_t cuda_calls_current(void);
uint64_t cuda_calls_begin_ns(void);

/* The innermost call that this thread is in, the driver's within one of the program's mostly: its
 * parameters say what CUPTI's steps of graphs leave out. */
struct cuda_told_call cuda_calls_innermost(void);

/* Where the edges of that call were looked for last (cuda_params_edge). */
size_t *cuda_calls_edge_place(void);

/* Calls entered and left since cuda_calls_begin, counted apart from their records. */
struct call_counts cuda_calls_count(void);

void cuda_calls_forget(void); /* in a fork child */

#endif
