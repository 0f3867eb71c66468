/* The operations at each address, in order of time: what the stage of memory (memory.c) adds
 * releases by. */
#ifndef DAGTAP_TRACE_MEMORY_ORDER_H
#define DAGTAP_TRACE_MEMORY_ORDER_H

#include <stdint.h>

#include "base/sort.h"
#include "trace/trace_model.h"

/* Returns COUNT memory operations from FIRST on, by address (the key), those of one address by
 * time, those of one time by index. The caller frees them. NULL: out of memory. */
struct sort_row *memory_by_address(const struct trace *trace, uint32_t first, uint32_t count);

#endif
