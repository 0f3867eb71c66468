/* The buffers that CUPTI fills with activity records. CUPTI requests a buffer, fills it and
 * returns it; it is read and used again.
 *
 * CUPTI's thread that returns full buffers also reads them here. After CUPTI was given no buffer
 * for three million records, this thread used a whole core until the process ended (H100, driver
 * 580.159.04; docs/cuda.md). So CUPTI is given buffers from a reserve first. From CUDA 13.0 on each
 * thread that makes records has a buffer of its own (cupti_activity.h,
 * CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER), so one buffer for each thread that has asked
 * (CUDA_BUFFER_THREADS at most) comes on top of each of these numbers:
 *
 * - Up to CUDA_BUFFERS_KEPT buffers stay mapped.
 * - While CUPTI has more of them, it is behind: CUDA_BUFFERS_SKIPPED returned buffers are counted
 *   and not read, then one is read, so that its thread catches up. The buffers beyond those that
 *   are kept are unmapped when they come back.
 * - When CUPTI has CUDA_BUFFERS_MOST, it is given none. It drops the records for which it has no
 *   room, and counts them. CUPTI before CUDA 12.9 crashes when it is given none: it gets one small
 *   buffer again and again, whose records are lost.
 *
 * Threading: CUPTI may call the first two functions on any thread; records are read by one
 * thread at a time. */
#ifndef DAGTAP_CAPTURE_CUDA_BUFFERS_H
#define DAGTAP_CAPTURE_CUDA_BUFFERS_H

#include "vendor/cupti_types.h"

/* What a kill loses is in buffers that are not full: some 4,800 kernels in one. */
#define CUDA_BUFFER_BYTES    (1u << 20)
#define CUDA_BUFFERS_KEPT    256
#define CUDA_BUFFERS_MOST    1024
#define CUDA_BUFFER_THREADS  1024
#define CUDA_BUFFERS_SKIPPED 7

/* CUPTI's callbacks (cuptiActivityRegisterCallbacks). cuda_buffers_lend gives CUPTI a buffer, or,
 * from CUPTI_WITH_REFUSALS on, NULL when it has all that it may have. cuda_buffers_take reads or
 * counts the records of a buffer that CUPTI returns. */
cupti_buffer_requested cuda_buffers_lend;
cupti_buffer_completed cuda_buffers_take;

/* A recording begins: from here the records of returned buffers are read. Called by the thread
 * that starts the session. Outside a recording CUPTI may return buffers, too; they are not read. */
void cuda_buffers_open(void);
/* The recording ends. Waits up to three seconds (TIMER_CUDA_BUFFERS) until the returned buffers
 * are read. If a reader does not finish, the rest of its buffer is read in no recording, and the
 * buffer counts as torn. Called by the thread that stops the session. */
void cuda_buffers_close(void);

/* Called before the recording's last flushes: from here until the next open the records of all
 * buffers are read, however many CUPTI has. */
void cuda_buffers_drain(void);

/* Called before the forced flush: from here until the next open, CUPTI returns all buffers, also
 * those with records that are not complete. A buffer whose reading ends at such a record is
 * counted as unfinished and not as torn, since CUPTI reports incomplete and invalid records
 * alike. */
void cuda_buffers_last_call(void);

/* The number of buffers, since the process started, that could not be read to their end. */
uint64_t cuda_buffers_torn(void);
/* Those of them that ended in an unfinished record. */
uint64_t cuda_buffers_unfinished(void);

/* Since the process started: how often CUPTI was given no buffer, or one whose records are lost;
 * and how many records were counted and not read. */
uint64_t cuda_buffers_refused(void);
uint64_t cuda_buffers_passed_over(void);

/* In a fork child, where another thread of the parent may have held a lock. Buffers that CUPTI
 * had are given up. */
void cuda_buffers_forget(void);

#endif
