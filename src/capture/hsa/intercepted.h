/* The runtime's intercept queues: the fallback for a runtime whose index functions cannot be
 * wrapped, and the way to see what another tool's queues bring to the device. */
#ifndef CAPTURE_HSA_INTERCEPTED_H
#define CAPTURE_HSA_INTERCEPTED_H

#include "capture/hsa/gate.h"

/* Registers with QUEUE, which the runtime made by hsa_amd_queue_intercept_create and nobody uses
 * yet. IS_CHAINED: another tool's. 0 or a negative errno. */
int intercepted_open(hsa_queue_t *queue, hsa_agent_t agent, bool is_chained);

#endif
