/* Which mode a queue is traced in: what the environment asks for, and what the queue allows. The
 * modes are described in docs/hsa-timing.md. */
#ifndef CAPTURE_HSA_QUEUE_MODE_H
#define CAPTURE_HSA_QUEUE_MODE_H

#include <stdbool.h>

#include <hsa/hsa.h>

#include "record/record.h"

/* Reads DAGTAP_HSA_MODE and DAGTAP_HSA_SERIALIZE. Only the first call has an effect. One thread at
 * a time, before the other functions are called. */
void queue_mode_read(void);

/* Returns the mode of a queue of TYPE that is about to be created. If it is not the mode that was
 * asked for, a note says why, once in a process. */
enum record_queue_mode queue_mode_choose(hsa_queue_type32_t type);

/* The same for a queue that the runtime has created already, which cannot become an intercept
 * queue. */
enum record_queue_mode queue_mode_choose_made(hsa_queue_type32_t type);

/* Whether kernels run one at a time on each GPU (serial.h). */
bool queue_mode_serialises(void);

/* Whether the program waits for the monitor: for completions that it passes on, or packets that are
 * held back. */
bool queue_mode_needs_monitor(void);

/* Returns one line that describes what was asked for, for the trace. A static string. */
const char *queue_mode_text(void);

#endif
