/* Which graph node a captured call became: HIP does not say, but the stream's set of last nodes
 * does, before and after the call. Looked at only while some stream of the process is being
 * captured; else one relaxed load a call. That a launch was captured is said in any case, also when
 * its node cannot be told: the ledger has to know that it owes no dispatch. Any thread. */
#ifndef DAGTAP_CAPTURE_HIP_STREAM_CAPTURE_H
#define DAGTAP_CAPTURE_HIP_STREAM_CAPTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/hip/wrap.h"

extern _Atomic uint32_t stream_captures; /* streams whose capture began and has not ended */

static inline bool stream_capture_any(void)
{
	return atomic_load_explicit(&stream_captures, memory_order_relaxed) != 0;
}

/* Sets call->capturing. */
void stream_capture_before(struct hip_call *call);
/* Of a call with that set, which succeeded; before its record is written. */
void stream_capture_after(struct hip_call *call, const uint64_t *args);

/* Hooks: hipStreamBeginCapture, hipStreamEndCapture, hipStreamDestroy. */
void stream_capture_begun(struct hip_call *call, int result, const uint64_t *args);
void stream_capture_ended(struct hip_call *call, int result, const uint64_t *args);
void stream_capture_stream_gone(struct hip_call *call, int result, const uint64_t *args);

void stream_capture_reset(void);

#endif
