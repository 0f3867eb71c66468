/* Allocations, locked (pinned) ranges and pointer information. Device memory is host memory, at the
 * same address. Locked host memory has a device address of its own, the *alias*: an address in a
 * range that is reserved and not mapped. The alias must differ from the host address, because HIP
 * aborts when they are equal. So all code that accesses memory through a device address must
 * translate the address first.
 *
 * Threading: any thread may call any function; one lock protects all blocks. Cost, where nothing
 * else is said: a tree look-up under that lock. */
#ifndef SOFTGPU_MEMORY_H
#define SOFTGPU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>

#include "softgpu/agent.h"

struct softgpu_agent;
struct softgpu_pool;

/* Returns the host address of DEVICE_ADDRESS: the host memory behind an alias; any other address
 * unchanged. Takes no lock for an address outside of the bounds of all aliases that ever
 * existed. */
void *memory_translate(const void *device_address);

/* Replaces, in WORDS (a private copy of a kernel's arguments), each 8-byte word that is an alias by
 * its host address. Only words at multiples of 8 bytes are looked at. */
void memory_translate_words(void *words, size_t bytes);

/* Returns whether ADDRESS lies in a live allocation of a pool, or in memory that vmem.c has
 * mapped. */
bool memory_is_pool_address(const void *address);

/* Returns false when [ADDRESS, ADDRESS + BYTES) begins in a known block and ends beyond it. Returns
 * true for an address of no known block, such as ordinary host memory. */
bool memory_range_fits(const void *address, size_t bytes);

/* Returns whether a kernel may access the BYTES at HOST_ADDRESS: all of them lie in one live pool
 * allocation or in one locked range. True when BYTES is 0. Cost: also a scan of the locked
 * ranges. */
bool memory_is_reachable(const void *host_address, uint64_t bytes);

/* Allocates zeroed memory of AGENT for a code object. It counts like any allocation; release it
 * with hsa_amd_memory_pool_free. Returns HSA_STATUS_ERROR_OUT_OF_RESOURCES when there is none. */
hsa_status_t memory_allocate_local(struct softgpu_agent *agent, size_t bytes, void **ret_address);

/* For vmem.c, where memory is allocated apart from its address. memory_charge takes BYTES of POOL
 * and returns false when a GPU has too little memory left; memory_discharge gives them back. BYTES
 * is whole pages. */
bool memory_charge(const struct softgpu_pool *pool, size_t bytes);
void memory_discharge(const struct softgpu_pool *pool, size_t bytes);

/* For vmem.c: memory_enter_mapping makes known that BYTES (whole pages) of POOL's memory are mapped
 * at ADDRESS; it returns false when out of memory. memory_leave_mapping undoes it. The mapping
 * itself is the caller's. */
bool memory_enter_mapping(void *address, size_t bytes, const struct softgpu_pool *pool);
void memory_leave_mapping(void *address);

/* Sets the agents that may access the memory that is mapped at ADDRESS, for pointer information. */
void memory_set_access(void *address, const struct agent_set *access);

#endif
