/* The memory pools: what exists where. The CPU has a fine-grained, a kernel-argument and a
 * coarse-grained pool (HIP insists that the flags are not mixed); each GPU its VRAM and its group
 * segment. A region of the older API is the same thing under the same handle. */
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
	size_t bytes;
	bool allocatable;
};

/* False for an unknown handle. */
bool pool_find(uint64_t handle, struct softgpu_pool *ret_pool);

/* The pool that AGENT's own allocations (code objects) come from: VRAM, or the CPU's coarse one. */
struct softgpu_pool pool_local(struct softgpu_agent *agent);

uint64_t pool_local_handle(const struct softgpu_agent *agent);

/* What is left of that pool. */
uint64_t pool_available_bytes(struct softgpu_agent *agent);

/* Whether AGENT can be given access to allocations of POOL. */
hsa_amd_memory_pool_access_t pool_access(const struct softgpu_pool *pool,
					 const struct softgpu_agent *agent);

#endif
