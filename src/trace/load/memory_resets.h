/* A part of the stage of memory (memory_rows.c): a reset of a device releases what it holds,
 * without a call for each allocation. */
#ifndef DAGTAP_TRACE_MEMORY_RESETS_H
#define DAGTAP_TRACE_MEMORY_RESETS_H

#include "trace/process_load.h"

/* Adds to the memory operations of the process, which begin at FIRST, a release of each allocation
 * that a RECORD_MEMORY_RESET released, and keeps them in the order of their calls. 0 or -ENOMEM. */
int memory_resets_apply(struct process_load *load, uint32_t first);

#endif
