/* A part of the stage of memory (memory.c): what launches of graphs allocate and free. HIP's
 * records have the addresses of the nodes; CUPTI does not tell those of CUDA's graphs. */
#ifndef DAGTAP_TRACE_GRAPH_MEMORY_H
#define DAGTAP_TRACE_GRAPH_MEMORY_H

#include "trace/process_load.h"

/* Adds to the memory operations of the process, which begin at FIRST, those of each launch that
 * succeeded, and keeps them in the order of their calls. Those of one launch have the time at which
 * its call began, and stand in HIP's order of nodes. If the executable graph frees on launch, what
 * its last launch left is released before them. Call after naming_load. 0 or -ENOMEM. */
int graph_memory_apply(struct process_load *load, uint32_t first);

#endif
