/* How a queue gets a gate. For the wrappers of all calls that create queues (queue_wrap.c,
 * queue_made.c). Any thread. */
#ifndef CAPTURE_HSA_QUEUE_WRAP_H
#define CAPTURE_HSA_QUEUE_WRAP_H

#include <stdbool.h>

#include <hsa/hsa.h>

#include "record/record.h"

/* Whether queues that are created now are recorded, or may be later. True also between two
 * recordings, because the next one is to see them. */
bool queue_is_followed(void);

/* Opens a gate of MODE for QUEUE, which the program has just created and no thread uses yet. If
 * QUEUE has a gate already (a cooperative queue is handed out several times), adds a user to that
 * one. A failure is reported by a note. */
void queue_opened(hsa_queue_t *queue, hsa_agent_t agent, enum record_queue_mode mode);

/* QUEUE was created after the tool stopped recording for good: its packets are counted as untraced.
 * PROXY: it was created by hsa_amd_queue_intercept_create. */
void queue_made_late(hsa_queue_t *queue, bool is_proxy);

#endif
