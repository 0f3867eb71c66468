/* Finds the graph node that a captured call became. HIP does not tell it, but the set of the
 * stream's last nodes, before and after the call, does. That a launch was captured is recorded
 * in any case, also when its node is not known: the ledger has to know that no dispatch is
 * expected of it.
 *
 * Threading: any thread. Cost: while no stream of the process is being captured, one relaxed
 * load a call; otherwise two calls of the runtime. */
#ifndef DAGTAP_CAPTURE_HIP_STREAM_CAPTURE_H
#define DAGTAP_CAPTURE_HIP_STREAM_CAPTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/hip/hip_wrapped_call.h"

extern _Atomic uint32_t stream_captures; /* streams whose capture has begun and not ended */

/* Returns whether any stream of the process is being captured. One relaxed load. */
static inline bool stream_capture_any(void)
{
	return atomic_load_explicit(&stream_captures, memory_order_relaxed) != 0;
}

/* Before the runtime's function: sets call->capturing and call->last_node. */
void stream_capture_before(struct hip_call *call);
/* After a call with call->capturing that succeeded, and before its API record is written: writes
 * its NODE_RECORDED. ARGS are the recorded words. */
void stream_capture_after(struct hip_call *call, const uint64_t *args);

/* Hook of hooks.c for hipStreamBeginCapture and its variants. */
void stream_capture_begun(struct hip_call *call, int result, const uint64_t *args);
/* Hook of hooks.c for hipStreamEndCapture. */
void stream_capture_ended(struct hip_call *call, int result, const uint64_t *args);
/* Hook of hooks.c for hipStreamDestroy, which ends the stream's capture. */
void stream_capture_stream_gone(struct hip_call *call, int result, const uint64_t *args);

/* In a fork child: no stream is being captured. */
void stream_capture_reset(void);

#endif
