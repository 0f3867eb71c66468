/* CUDA calls, as CUPTI's callbacks report them: one record for each call that the program made.
 * The driver calls that a runtime call makes are a part of it.
 *
 * Threading: CUPTI calls back on the thread of the call. Cost besides CUPTI's own: two clock
 * reads and one record a call; no lock, no allocation. */
#ifndef DAGTAP_CAPTURE_CUDA_CALLS_H
#define DAGTAP_CAPTURE_CUDA_CALLS_H

#include "capture/call_counter.h"
#include "vendor/cupti_types.h"

/* A recording starts: counts calls from here and writes API_NAME records again. On the thread
 * that starts the session. */
void cuda_calls_begin(void);
/* A callback of CUPTI's for a call of DOMAIN (runtime or driver): the call is entered or left. */
void cuda_calls_told(enum cupti_domain domain, uint32_t cbid,
		     const struct cupti_callback_data *data);

/* The same for a call of the driver while nothing is recorded: only calls that build graphs are
 * looked at. */
void cuda_calls_told_dormant(uint32_t cbid, const struct cupti_callback_data *data);

/* Returns the calls entered and left since cuda_calls_begin, counted independently of their
 * records. */
struct call_counts cuda_calls_count(void);

/* In a fork child: the parent's calls are not the child's. */
void cuda_calls_forget(void);

#endif
