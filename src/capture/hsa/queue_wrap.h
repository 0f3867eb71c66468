/* How queues come under a gate, for the wrappers of all calls that make and destroy them. */
#ifndef CAPTURE_HSA_QUEUE_WRAP_H
#define CAPTURE_HSA_QUEUE_WRAP_H

#include <stdbool.h>

#include <hsa/hsa.h>

#include "record/record.h"

/* Whether queues that are made now are recorded, or will be: true also between two recordings,
 * because the next one is to see them. */
bool queue_is_followed(void);

/* QUEUE was just made by the program's call, and nobody uses it yet: takes it under a gate of MODE,
 * as one user more where it has one. When that fails a note says so. */
void queue_opened(hsa_queue_t *queue, hsa_agent_t agent, enum record_queue_mode mode);

/* QUEUE was made when nothing is recorded any more: its packets are counted as untraced. PROXY: by
 * hsa_amd_queue_intercept_create. */
void queue_made_late(hsa_queue_t *queue, bool is_proxy);

#endif
