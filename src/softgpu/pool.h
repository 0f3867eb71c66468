/* The memory pools. The CPU has a fine-grained pool, a kernel-argument pool and a coarse-grained
 * pool (HIP requires that the flags are not combined); each GPU has a pool for its VRAM and one for
 * its group segment. A region of the older API is a pool, with the same handle.
 *
 * Threading: any thread; pools are computed from the configuration and hold no state. */
#ifndef SOFTGPU_POOL_H
#define SOFTGPU_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softgpu/agent.h"

#define POOL_GRANULE_BYTES 4096u

struct softgpu_pool {
	struct softgpu_agent *agent; /* the owner */
	hsa_amd_segment_t segment;
	uint32_t global_flags; /* hsa_amd_memory_pool_global_flag_t */
	size_t bytes;	       /* size of the pool: a GPU's memory, or the machine's */
	bool allocatable;      /* false for the group segment */
};

/* Gives the pool of HANDLE. Returns false for an unknown handle. */
bool pool_find(uint64_t handle, struct softgpu_pool *ret_pool);

/* Returns the pool for allocations that belong to AGENT itself, such as code objects: a GPU's VRAM,
 * or the CPU's coarse-grained pool. */
struct softgpu_pool pool_local(struct softgpu_agent *agent);

/* Returns the handle of that pool. */
uint64_t pool_local_handle(const struct softgpu_agent *agent);

/* Returns how many bytes of that pool are not allocated. */
uint64_t pool_available_bytes(struct softgpu_agent *agent);

/* Returns which access AGENT has, or can be given, to allocations of POOL. */
hsa_amd_memory_pool_access_t pool_access(const struct softgpu_pool *pool,
					 const struct softgpu_agent *agent);

#endif
