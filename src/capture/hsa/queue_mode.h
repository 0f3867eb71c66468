/* How a queue's packets are timed: what the environment asks for, and what a queue can do. */
#ifndef CAPTURE_HSA_QUEUE_MODE_H
#define CAPTURE_HSA_QUEUE_MODE_H

#include <stdbool.h>

#include <hsa/hsa.h>

#include "record/record.h"

/* Reads DAGTAP_HSA_MODE and DAGTAP_HSA_SERIALIZE. Once; one thread at a
 * time. */
void queue_mode_read(void);

/* For a queue of TYPE. When it is not the one that was asked for a note says why,
 * once. */
enum record_queue_mode queue_mode_choose(hsa_queue_type32_t type);
/* The same for a queue that exists already: no intercept queue can be made in its place. */
enum record_queue_mode queue_mode_choose_made(hsa_queue_type32_t type);

/* Kernels run one at a time on each GPU. */
bool queue_mode_serialises(void);

/* The program waits for what the monitor does: completions passed on, packets held back. */
bool queue_mode_needs_monitor(void);

/* One line: what is asked for, for the trace. */
const char *queue_mode_text(void);

#endif
