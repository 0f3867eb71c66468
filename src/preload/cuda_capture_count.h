/* How many captures of streams may be under way. While there is none, the driver need not be asked
 * whether a stream is captured. Any thread; no call takes a lock. */
#ifndef DAGPATCH_PRELOAD_CUDA_CAPTURE_COUNT_H
#define DAGPATCH_PRELOAD_CUDA_CAPTURE_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/* The program may capture by a call that is not wrapped: one may be under way from now on. */
void cuda_capture_unknown_call(void);

/* The program is going to begin a capture. */
void cuda_capture_begins(void);

/* A capture has ended, or has not begun. */
void cuda_capture_ended(void);

/* Whether a stream may be under capture. */
bool cuda_may_capture(void);

#endif
