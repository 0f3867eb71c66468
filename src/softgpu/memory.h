/* Allocations, locked (pinned) ranges and pointer information. Device memory is host memory;
 * hsa_amd_memory_lock gives an alias address (a reserved, unmapped range), which whoever
 * dereferences device pointers must translate (software-HSA rule: HIP aborts on identity). */
#ifndef SOFTGPU_MEMORY_H
#define SOFTGPU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "softgpu/agent.h"

struct softgpu_agent;
struct softgpu_pool;

/* The host address behind a device address: alias ranges are mapped back, all else is returned as
 * it is. Lock-free when nothing is locked. */
void *memory_translate(const void *device_address);

/* Rewrites, in a private copy of a kernel's arguments, each aligned 8-byte word that points into
 * an alias range. */
void memory_translate_words(void *words, size_t bytes);

/* True when ADDRESS lies in a live pool allocation (any pool). */
bool memory_is_pool_address(const void *address);

/* False when [ADDRESS, ADDRESS + BYTES) begins in a known block and runs over its end. Addresses
 * that nothing is known about (ordinary host memory) pass. */
bool memory_range_fits(const void *address, size_t bytes);

/* What a kernel may touch: true when all BYTES from a host address on lie in one live pool allocation
 * or one locked range. No bytes at all always may. */
bool memory_is_reachable(const void *host_address, uint64_t bytes);

/* Zeroed memory of AGENT for a code object, counted like any allocation, released with
 * hsa_amd_memory_pool_free. */
hsa_status_t memory_allocate_local(struct softgpu_agent *agent, size_t bytes, void **ret_address);

/* Memory that is allocated apart from its address (vmem.c): what it takes of a pool, and what is known of an
 * address while it is mapped there. BYTES are whole pages. */
bool memory_charge(const struct softgpu_pool *pool, size_t bytes);
void memory_discharge(const struct softgpu_pool *pool, size_t bytes);
bool memory_enter_mapping(void *address, size_t bytes, const struct softgpu_pool *pool);
void memory_leave_mapping(void *address);
/* The agents in ACCESS may use what is mapped at ADDRESS. */
void memory_set_access(void *address, const struct agent_set *access);

#endif
