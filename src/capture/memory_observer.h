/* Tells the observer of calls (base/inject.h) of what HSA does to memory and scratch memory. Any
 * thread. Cost without an observer: one relaxed load. */
#ifndef DAGTAP_CAPTURE_MEMORY_OBSERVER_H
#define DAGTAP_CAPTURE_MEMORY_OBSERVER_H

#include <stdbool.h>

#include "base/inject.h"

/* Whether there is an observer and something is recorded. Call it first. */
bool memory_is_observed(void);

/* A call is entered: sets its correlation ids and its begin, and tells the observer. All other
 * fields are the caller's. */
void memory_enter(struct inject_memory *memory);
/* The call has returned: sets its end, and tells the observer. */
void memory_leave(struct inject_memory *memory);

/* The same of an operation on scratch memory. */
void scratch_begin(struct inject_scratch *scratch);
void scratch_end(struct inject_scratch *scratch);

#endif
