/* Which of CUPTI's streams a handle stands for. Calls name streams by handle, activities by the
 * numbers of a context and of a stream within it. CUPTI is asked once for each handle, and the
 * answer is forgotten when the stream is destroyed, since its handle may be used again.
 *
 * Threading: CUPTI's callbacks, on any thread. A stream that is known costs a look-up without a
 * lock; the first use of a stream in a recording asks CUPTI, writes a record and takes a lock. */
#ifndef DAGTAP_CAPTURE_CUDA_STREAMS_H
#define DAGTAP_CAPTURE_CUDA_STREAMS_H

#include <stdint.h>

#include "vendor/cupti_types.h"

/* CONTEXT has made STREAM, or is about to destroy it. */
void cuda_streams_made(void *context, void *stream);
void cuda_streams_gone(void *stream);

/* A call has used the stream HANDLE: returns the number of the stream's context, 0 if it is not
 * known. A default stream (0, CUDA_STREAM_LEGACY, CUDA_STREAM_PER_THREAD) is that of the context
 * that is current in the call. If the recording does not have the stream's number yet, writes it
 * (CUDA_STREAM_HANDLE), as valid from BEGIN_NS on, when the call began. CALL is what CUPTI passes
 * to the callback of the call's exit. */
uint32_t cuda_streams_use(uint64_t handle, uint64_t begin_ns,
			  const struct cupti_callback_data *call);

/* In a fork child: forgets all. */
void cuda_streams_forget(void);

#endif
