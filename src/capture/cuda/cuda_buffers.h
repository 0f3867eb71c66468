/* The buffers that CUPTI fills with activity records: lent, read when they come back, lent again.
 *
 * At most CUDA_BUFFERS_MOST are lent at a time, so that memory is bounded however far the GPU is
 * behind; what CUPTI then has no room for it drops and counts. Both functions may be called by any
 * thread; records are read by one at a time. */
#ifndef DAGTAP_CAPTURE_CUDA_BUFFERS_H
#define DAGTAP_CAPTURE_CUDA_BUFFERS_H

#include "vendor/cupti_types.h"

#define CUDA_BUFFER_BYTES (4u << 20)
#define CUDA_BUFFERS_MOST 64

/* What is registered with CUPTI. */
cupti_buffer_requested cuda_buffers_lend;
cupti_buffer_completed cuda_buffers_take;

/* Outside a recording CUPTI may still bring some: what they hold is nobody's. Close waits, three seconds at
 * most, until buffers that have been brought are read; the rest of one whose reader does not come on is
 * not read in this recording nor in the next, and it counts as torn. */
void cuda_buffers_open(void);
void cuda_buffers_close(void);

/* Until then: CUPTI is asked for all buffers, also for those with records that are not complete. Reading one of
 * them ends there, for it says no more than that the record is incomplete or invalid. */
void cuda_buffers_last_call(void);

/* Buffers with records that came back, those whose records could not be read to their end, and those that
 * ended in one that was not finished. */
uint64_t cuda_buffers_taken(void);
uint64_t cuda_buffers_torn(void);
uint64_t cuda_buffers_unfinished(void);

/* In a fork child: another thread may have held the locks. What was lent is gone. */
void cuda_buffers_forget(void);

#endif
