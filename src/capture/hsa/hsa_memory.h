/* Memory of HSA's agents: whose an address is, and the wrappers of the functions that allocate and
 * free memory. The wrappers tell the observer of calls (base/inject.h). MEMORY records are written
 * of memory pools, in programs without HIP only: HIP's calls tell more, and HIP allocates memory
 * for itself, too. */
#ifndef CAPTURE_HSA_MEMORY_H
#define CAPTURE_HSA_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "base/inject.h"

/* The handle of the agent that owns the memory at ADDRESS; 0: not known. The runtime must be open.
 * Any thread; takes a lock of the runtime's. */
uint64_t hsa_memory_agent(const void *address);

/* The handle of the GPU at this place: BUS_DEVICE_FUNCTION as HSA has it, 8, 5 and 3 bits. 0: there
 * is none, or several parts of one card are there. The runtime must be open. Any thread. */
uint64_t hsa_memory_agent_at(uint32_t domain, uint32_t bus_device_function);

/* AGENT as an observer gets it. Valid once the runtime has opened. */
struct inject_agent hsa_memory_agent_of(hsa_agent_t agent);

/* Whether MEMORY records are written of memory pools. Called when the runtime opens, before the
 * wrappers are stored. */
void hsa_memory_record_pools(bool is_wanted);

#endif
