/* The runtime's intercept queues: the fallback for a runtime whose index functions cannot be
 * wrapped, and the way to see what another tool's intercept queues hand on to the device. The
 * program gets a proxy of the queue; the runtime calls a handler with the packets before it writes
 * them to the real queue. */
#ifndef CAPTURE_HSA_INTERCEPTED_H
#define CAPTURE_HSA_INTERCEPTED_H

#include "capture/hsa/gate.h"

/* Opens a gate for QUEUE and registers the tool's handler with it. QUEUE was created by
 * hsa_amd_queue_intercept_create, and no thread uses it yet. IS_CHAINED: another tool created it.
 * Returns 0 or a negative errno; after a failure the queue works without the tool. */
int intercepted_open(hsa_queue_t *queue, hsa_agent_t agent, bool is_chained);

#endif
