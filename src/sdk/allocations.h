/* Calls of HSA that allocate and free memory, and what the runtime does to scratch memory: a
 * tool's callbacks on the thread where it happens, and records for its buffers (observed.h). Any
 * thread. */
#ifndef DAGTAP_SDK_ALLOCATIONS_H
#define DAGTAP_SDK_ALLOCATIONS_H

#include "base/inject.h"

/* A call is entered, or has returned. */
void allocations_observe(const struct inject_memory *memory);

/* An operation on scratch memory has begun, or has ended. */
void allocations_observe_scratch(const struct inject_scratch *scratch);

#endif
