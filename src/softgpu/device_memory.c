/* HSA functions that allocate, free, copy and fill memory, and that give agents access to it. */
#include "softgpu/device_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softgpu/agent.h"
#include "softgpu/api.h"
#include "softgpu/memory_block.h"
#include "softgpu/pool.h"
#include "softgpu/system_state.h"

/* The flags of hsa_amd_memory_pool_flag_t (since ROCR 6): over PCIe, contiguous, executable,
 * uncached. All memory of the software GPU has these properties. */
#define POOL_FLAGS 0xfu

static void discharge(struct softgpu_agent *agent, size_t bytes)
{
	__atomic_sub_fetch(&agent->live_bytes, bytes, __ATOMIC_RELAXED);
}

/* A GPU has as much memory as is configured, however much the host has. The CPU has no limit
 * here. */
bool memory_charge(const struct softgpu_pool *pool, size_t bytes)
{
	struct softgpu_agent *agent = pool->agent;
	uint64_t live = __atomic_add_fetch(&agent->live_bytes, bytes, __ATOMIC_RELAXED);

	if (!agent->is_gpu || live <= pool->bytes)
		return true;
	discharge(agent, bytes);
	return false;
}

void memory_discharge(const struct softgpu_pool *pool, size_t bytes)
{
	discharge(pool->agent, bytes);
}

static hsa_status_t allocate(const struct softgpu_pool *pool, size_t bytes, void **ret_address)
{
	struct memory_block *block;

	if (!pool->allocatable || bytes > pool->bytes)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	block = calloc(1, sizeof(*block));
	if (!block)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	block->bytes = block_bytes(bytes);
	block->global_flags = pool->global_flags;
	block->owner = pool->agent;
	agent_set_add(&block->access, pool->agent->index);
	if (!memory_charge(pool, block->bytes)) {
		free(block);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	if (!block_map(block, PROT_READ | PROT_WRITE)) {
		discharge(pool->agent, block->bytes);
		free(block);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	*ret_address = (void *)block->begin;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t memory_allocate_local(struct softgpu_agent *agent, size_t bytes, void **ret_address)
{
	const struct softgpu_pool pool = pool_local(agent);
	hsa_status_t status = allocate(&pool, bytes, ret_address);

	return status == HSA_STATUS_ERROR_INVALID_ALLOCATION ? HSA_STATUS_ERROR_OUT_OF_RESOURCES
							     : status;
}

hsa_status_t softgpu_hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t handle, size_t size,
						  uint32_t flags, void **ptr)
{
	struct softgpu_pool pool;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!ptr || size == 0 || flags & ~POOL_FLAGS)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!pool_find(handle.handle, &pool))
		return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
	return allocate(&pool, size, ptr);
}

hsa_status_t softgpu_hsa_memory_allocate(hsa_region_t region, size_t size, void **ptr)
{
	struct softgpu_pool pool;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!ptr || size == 0)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!pool_find(region.handle, &pool))
		return HSA_STATUS_ERROR_INVALID_REGION;
	return allocate(&pool, size, ptr);
}

/* Removes the pool allocation that begins at ADDRESS from the tree and returns it; NULL when there
 * is none. */
static struct memory_block *take_block(const void *address)
{
	struct memory_block *block;

	blocks_lock();
	block = block_find(address);
	if (block && (block->is_locked || block->is_mapping || block->begin != (uintptr_t)address))
		block = NULL;
	if (block)
		block_remove(block);
	blocks_unlock();
	return block;
}

hsa_status_t softgpu_hsa_amd_memory_pool_free(void *ptr)
{
	struct memory_block *block;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!ptr)
		return HSA_STATUS_SUCCESS;
	block = take_block(ptr);
	if (!block)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	while (block->notifiers) {
		struct notifier *notifier = block->notifiers;

		block->notifiers = notifier->next;
		notifier->callback(ptr, notifier->user_data);
		free(notifier);
	}
	munmap(ptr, block->bytes);
	discharge(block->owner, block->bytes);
	free(block);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_memory_free(void *ptr)
{
	return softgpu_hsa_amd_memory_pool_free(ptr);
}

static bool access_allowed(const struct memory_block *block, const struct agent_set *access)
{
	const struct softgpu_pool pool = pool_local(block->owner);

	for (uint32_t i = 0; i < agent_count(); i++) {
		if (agent_set_has(access, i) &&
		    pool_access(&pool, agent_at(i)) == HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED)
			return false;
	}
	return true;
}

hsa_status_t softgpu_hsa_amd_agents_allow_access(uint32_t num_agents, const hsa_agent_t *agents,
						 const uint32_t *flags, const void *ptr)
{
	hsa_status_t status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
	struct memory_block *block;
	struct agent_set access;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (num_agents == 0 || !agents || flags || !ptr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (!agent_set_of(agents, num_agents, &access))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	blocks_lock();
	block = block_find(ptr);
	if (block && !block->is_locked && access_allowed(block, &access)) {
		block->access = access;
		agent_set_add(&block->access, block->owner->index);
		status = HSA_STATUS_SUCCESS;
	}
	blocks_unlock();
	return status;
}

hsa_status_t softgpu_hsa_memory_copy(void *dst, const void *src, size_t size)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!dst || !src || !memory_range_fits(dst, size) || !memory_range_fits(src, size))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	memmove(memory_translate(dst), memory_translate(src), size);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_amd_memory_fill(void *ptr, uint32_t value, size_t count)
{
	const struct memory_block *block;
	uint32_t *words;
	bool fits = false;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!ptr || (uintptr_t)ptr % sizeof(uint32_t) != 0)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	blocks_lock();
	block = block_find(ptr);
	if (block)
		fits = count <= (block->bytes - ((uintptr_t)ptr - block->begin)) / sizeof(uint32_t);
	blocks_unlock();
	if (!fits)
		return HSA_STATUS_ERROR_INVALID_ALLOCATION;
	words = memory_translate(ptr);
	for (size_t i = 0; i < count; i++)
		words[i] = value;
	return HSA_STATUS_SUCCESS;
}

/* Does nothing: registration is only a hint where GPUs access memory through pools. */
hsa_status_t softgpu_hsa_memory_register(void *ptr, size_t size)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	return ptr && size > 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t softgpu_hsa_memory_deregister(void *ptr, size_t size)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_memory_assign_agent(void *ptr, hsa_agent_t agent,
					     hsa_access_permission_t access)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!agent_find(agent))
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!ptr || access < HSA_ACCESS_PERMISSION_RO || access > HSA_ACCESS_PERMISSION_RW)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return HSA_STATUS_SUCCESS;
}
