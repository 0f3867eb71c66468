/* HSA functions that lock (pin) memory of the host for GPUs, and unlock it. */
#include <stdlib.h>
#include <sys/mman.h>

#include "softgpu/agent.h"
#include "softgpu/api.h"
#include "softgpu/memory_block.h"
#include "softgpu/pool.h"
#include "softgpu/system_state.h"

/* Locks memory that is already locked with the same begin and size; returns false when there is
 * none. All locks of it get the same address, as with the driver: HIP locks a registered range once
 * for each GPU and uses any of the addresses on any GPU. */
static bool relock_range(const void *host_ptr, size_t size, const struct agent_set *access,
			 void **ret_alias)
{
	struct memory_block *block;

	blocks_lock();
	block = block_find_lock(host_ptr, size);
	if (block) {
		block->lock_count++;
		for (size_t i = 0; i < sizeof(access->words) / sizeof(access->words[0]); i++)
			block->access.words[i] |= access->words[i];
		*ret_alias = (void *)(block->begin + block->lock_lead);
	}
	blocks_unlock();
	return block != NULL;
}

static hsa_status_t lock_range(void *host_ptr, size_t size, const struct agent_set *access,
			       uint32_t global_flags, void **ret_alias)
{
	size_t lead = (uintptr_t)host_ptr % POOL_GRANULE_BYTES;
	struct memory_block *block;

	if (relock_range(host_ptr, size, access, ret_alias))
		return HSA_STATUS_SUCCESS;
	block = calloc(1, sizeof(*block));
	if (!block)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	block->bytes = block_bytes(lead + size);
	block->host_begin = (uintptr_t)host_ptr - lead;
	block->is_locked = true;
	block->lock_lead = lead;
	block->lock_bytes = size;
	block->lock_count = 1;
	block->global_flags = global_flags;
	block->owner = agent_at(0);
	block->access = *access;
	if (!block_map(block, PROT_NONE)) {
		free(block);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	block_list_lock(block);
	*ret_alias = (void *)(block->begin + lead);
	return HSA_STATUS_SUCCESS;
}

static bool lock_arguments_ok(const void *host_ptr, size_t size, const hsa_agent_t *agents,
			      int num_agent, void *const *agent_ptr)
{
	return host_ptr && agent_ptr && size > 0 && num_agent >= 0 &&
	       (agents != NULL) == (num_agent > 0) &&
	       size <= UINTPTR_MAX / 2 - (uintptr_t)host_ptr % POOL_GRANULE_BYTES;
}

hsa_status_t softgpu_hsa_amd_memory_lock(void *host_ptr, size_t size, hsa_agent_t *agents,
					 int num_agent, void **agent_ptr)
{
	struct agent_set access;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!lock_arguments_ok(host_ptr, size, agents, num_agent, agent_ptr))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!agent_set_of(agents, (uint32_t)num_agent, &access))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	return lock_range(host_ptr, size, &access, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
			  agent_ptr);
}

hsa_status_t softgpu_hsa_amd_memory_lock_to_pool(void *host_ptr, size_t size, hsa_agent_t *agents,
						 int num_agent, hsa_amd_memory_pool_t handle,
						 uint32_t flags, void **agent_ptr)
{
	struct softgpu_pool pool;
	struct agent_set access;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (flags != 0 || !lock_arguments_ok(host_ptr, size, agents, num_agent, agent_ptr))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!pool_find(handle.handle, &pool) || pool.agent->is_gpu)
		return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
	if (!agent_set_of(agents, (uint32_t)num_agent, &access))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	return lock_range(host_ptr, size, &access, pool.global_flags, agent_ptr);
}

/* Removes a lock of the most recent block that begins at HOST_PTR. If it was the last lock, takes
 * the block out of the tree and returns it; otherwise returns NULL. */
static struct memory_block *take_locked(const void *host_ptr)
{
	struct memory_block *block;

	blocks_lock();
	block = block_find_lock(host_ptr, 0);
	if (block && --block->lock_count > 0)
		block = NULL;
	if (block)
		block_remove(block);
	blocks_unlock();
	return block;
}

hsa_status_t softgpu_hsa_amd_memory_unlock(void *host_ptr)
{
	struct memory_block *block;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!host_ptr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	block = take_locked(host_ptr);
	/* The memory has other locks or was never locked: ROCr returns success. */
	if (!block)
		return HSA_STATUS_SUCCESS;
	munmap((void *)block->begin, block->bytes);
	free(block);
	return HSA_STATUS_SUCCESS;
}
