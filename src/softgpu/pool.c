/* The list of memory pools, and the HSA functions on pools and regions. */
#include "softgpu/pool.h"

#include <string.h>
#include <unistd.h>

#include "softgpu/answer.h"
#include "softgpu/api.h"
#include "softgpu/config.h"
#include "softgpu/system_state.h"

#define POOL_HANDLE_BASE   0x706f6f6c00000000ull
#define POOLS_PER_AGENT	   4u
#define GROUP_BYTES	   (64u << 10)
#define NUMA_DISTANCE_XGMI 15
#define NUMA_DISTANCE_PCIE 20

struct pool_kind {
	hsa_amd_segment_t segment;
	uint32_t global_flags;
};

static const struct pool_kind cpu_pools[] = {
	{HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED},
	{HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED |
					 HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT},
	{HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED},
};
#define CPU_POOL_COARSE 2u

static const struct pool_kind gpu_pools[] = {
	{HSA_AMD_SEGMENT_GLOBAL, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED},
	{HSA_AMD_SEGMENT_GROUP, 0},
};
#define GPU_POOL_VRAM 0u

static uint32_t pool_count(const struct softgpu_agent *agent)
{
	return agent->is_gpu ? sizeof(gpu_pools) / sizeof(gpu_pools[0])
			     : sizeof(cpu_pools) / sizeof(cpu_pools[0]);
}

static uint64_t pool_handle(const struct softgpu_agent *agent, uint32_t slot)
{
	return POOL_HANDLE_BASE + (uint64_t)agent->index * POOLS_PER_AGENT + slot;
}

static size_t host_memory_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES);

	return pages > 0 ? (size_t)pages * POOL_GRANULE_BYTES : (size_t)1 << 32;
}

static struct softgpu_pool make_pool(struct softgpu_agent *agent, uint32_t slot)
{
	const struct pool_kind *kind = agent->is_gpu ? &gpu_pools[slot] : &cpu_pools[slot];
	struct softgpu_pool pool = {
		.agent = agent,
		.segment = kind->segment,
		.global_flags = kind->global_flags,
		.allocatable = kind->segment == HSA_AMD_SEGMENT_GLOBAL,
	};

	if (!pool.allocatable)
		pool.bytes = GROUP_BYTES;
	else if (agent->is_gpu)
		pool.bytes = config_get()->vram_bytes & ~(size_t)(POOL_GRANULE_BYTES - 1);
	else
		pool.bytes = host_memory_bytes();
	return pool;
}

bool pool_find(uint64_t handle, struct softgpu_pool *ret_pool)
{
	uint64_t number = handle - POOL_HANDLE_BASE;
	uint32_t slot = (uint32_t)(number % POOLS_PER_AGENT);
	struct softgpu_agent *agent;

	if (number / POOLS_PER_AGENT >= agent_count())
		return false;
	agent = agent_at((uint32_t)(number / POOLS_PER_AGENT));
	if (slot >= pool_count(agent))
		return false;
	*ret_pool = make_pool(agent, slot);
	return true;
}

struct softgpu_pool pool_local(struct softgpu_agent *agent)
{
	return make_pool(agent, agent->is_gpu ? GPU_POOL_VRAM : CPU_POOL_COARSE);
}

uint64_t pool_local_handle(const struct softgpu_agent *agent)
{
	return pool_handle(agent, agent->is_gpu ? GPU_POOL_VRAM : CPU_POOL_COARSE);
}

uint64_t pool_available_bytes(struct softgpu_agent *agent)
{
	const struct softgpu_pool pool = pool_local(agent);
	uint64_t live = __atomic_load_n(&agent->live_bytes, __ATOMIC_RELAXED);

	return live < pool.bytes ? pool.bytes - live : 0;
}

hsa_amd_memory_pool_access_t pool_access(const struct softgpu_pool *pool,
					 const struct softgpu_agent *agent)
{
	if (pool->agent == agent)
		return HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT;
	if (pool->segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
	if (!agent->is_gpu && !config_get()->large_bar)
		return HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
	return HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT;
}

static hsa_status_t get_info(const struct softgpu_pool *pool, uint32_t attribute, void *value)
{
	const size_t granule = POOL_GRANULE_BYTES;
	const uint32_t segment = pool->segment;
	const bool for_all = pool->allocatable && (!pool->agent->is_gpu || config_get()->large_bar);

	switch (attribute) {
	case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
		return answer(value, &segment, sizeof(segment));
	case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
		return answer(value, &pool->global_flags, sizeof(pool->global_flags));
	case HSA_AMD_MEMORY_POOL_INFO_SIZE:
	case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
		return answer(value, &pool->bytes, sizeof(pool->bytes));
	case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
		return answer(value, &pool->allocatable, sizeof(pool->allocatable));
	case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
	case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
	case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE:
		return answer(value, &granule, sizeof(granule));
	case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
		return answer(value, &for_all, sizeof(for_all));
	case HSA_AMD_MEMORY_POOL_INFO_LOCATION:
		return answer(value, &(uint32_t){pool->agent->is_gpu}, sizeof(uint32_t));
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

hsa_status_t softgpu_hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t handle,
						  hsa_amd_memory_pool_info_t attribute, void *value)
{
	struct softgpu_pool pool;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!pool_find(handle.handle, &pool))
		return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	return get_info(&pool, (uint32_t)attribute, value);
}

hsa_status_t softgpu_hsa_amd_agent_iterate_memory_pools(
	hsa_agent_t handle, hsa_status_t (*callback)(hsa_amd_memory_pool_t pool, void *data),
	void *data)
{
	const struct softgpu_agent *agent = agent_find(handle);

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	for (uint32_t slot = 0; slot < pool_count(agent); slot++) {
		hsa_status_t status =
			callback((hsa_amd_memory_pool_t){pool_handle(agent, slot)}, data);

		if (status != HSA_STATUS_SUCCESS)
			return status;
	}
	return HSA_STATUS_SUCCESS;
}

/* Always false: memory stays where it was allocated, as on every system that ROCr supports. */
hsa_status_t softgpu_hsa_amd_memory_pool_can_migrate(hsa_amd_memory_pool_t src_memory_pool,
						     hsa_amd_memory_pool_t dst_memory_pool,
						     bool *result)
{
	struct softgpu_pool pool;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!pool_find(src_memory_pool.handle, &pool) || !pool_find(dst_memory_pool.handle, &pool))
		return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
	if (!result)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*result = false;
	return HSA_STATUS_SUCCESS;
}

static hsa_amd_memory_pool_link_info_t make_link(const struct softgpu_pool *pool,
						 const struct softgpu_agent *agent)
{
	const bool xgmi = pool->agent->is_gpu && agent->is_gpu;

	return (hsa_amd_memory_pool_link_info_t){
		.min_bandwidth = xgmi ? 50000 : 16000,
		.max_bandwidth = xgmi ? 50000 : 16000,
		.atomic_support_32bit = true,
		.atomic_support_64bit = true,
		.coherent_support = true,
		.link_type = xgmi ? HSA_AMD_LINK_INFO_TYPE_XGMI : HSA_AMD_LINK_INFO_TYPE_PCIE,
		.numa_distance = xgmi ? NUMA_DISTANCE_XGMI : NUMA_DISTANCE_PCIE,
	};
}

hsa_status_t softgpu_hsa_amd_agent_memory_pool_get_info(hsa_agent_t agent_handle_,
							hsa_amd_memory_pool_t handle,
							hsa_amd_agent_memory_pool_info_t attribute,
							void *value)
{
	const struct softgpu_agent *agent = agent_find(agent_handle_);
	hsa_amd_memory_pool_link_info_t link;
	struct softgpu_pool pool;
	uint32_t access;
	uint32_t hops;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!pool_find(handle.handle, &pool))
		return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	access = pool_access(&pool, agent);
	hops = access == HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT ? 1 : 0;
	switch (attribute) {
	case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
		return answer(value, &access, sizeof(access));
	case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
		return answer(value, &hops, sizeof(hops));
	case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO:
		link = make_link(&pool, agent);
		return answer(value, &link, hops * sizeof(link));
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

static hsa_status_t iterate_regions(const struct softgpu_agent *agent,
				    hsa_status_t (*callback)(hsa_region_t region, void *data),
				    void *data)
{
	for (uint32_t slot = 0; slot < pool_count(agent); slot++) {
		hsa_status_t status = callback((hsa_region_t){pool_handle(agent, slot)}, data);

		if (status != HSA_STATUS_SUCCESS)
			return status;
	}
	return HSA_STATUS_SUCCESS;
}

/* The regions of a GPU are its own and those of the CPU, as in ROCr: programs that use the older
 * API find the kernel-argument region there. */
hsa_status_t softgpu_hsa_agent_iterate_regions(
	hsa_agent_t handle, hsa_status_t (*callback)(hsa_region_t region, void *data), void *data)
{
	const struct softgpu_agent *agent = agent_find(handle);
	hsa_status_t status;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!agent)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	status = iterate_regions(agent, callback, data);
	if (status != HSA_STATUS_SUCCESS || !agent->is_gpu)
		return status;
	return iterate_regions(agent_at(0), callback, data);
}

static hsa_status_t get_region_extra(const struct softgpu_pool *pool, uint32_t attribute,
				     void *value)
{
	const bool host_accessible =
		pool_access(pool, agent_at(0)) != HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
	const uint32_t no_limit = 0;
	void *const base = NULL;

	switch (attribute) {
	case HSA_REGION_INFO_ALLOC_MAX_SIZE:
		return answer(value, &pool->bytes, sizeof(pool->bytes));
	case HSA_REGION_INFO_ALLOC_MAX_PRIVATE_WORKGROUP_SIZE:
		return answer(value, &no_limit, sizeof(no_limit));
	case HSA_AMD_REGION_INFO_HOST_ACCESSIBLE:
		return answer(value, &host_accessible, sizeof(host_accessible));
	case HSA_AMD_REGION_INFO_BASE:
		return answer(value, &base, sizeof(base));
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

hsa_status_t softgpu_hsa_region_get_info(hsa_region_t region, hsa_region_info_t attribute,
					 void *value)
{
	struct softgpu_pool pool;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!pool_find(region.handle, &pool))
		return HSA_STATUS_ERROR_INVALID_REGION;
	if (!value)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	/* The attributes of pools and regions have the same numbers only where both have them. */
	switch ((uint32_t)attribute) {
	case HSA_REGION_INFO_SEGMENT:
	case HSA_REGION_INFO_GLOBAL_FLAGS:
	case HSA_REGION_INFO_SIZE:
	case HSA_REGION_INFO_RUNTIME_ALLOC_ALLOWED:
	case HSA_REGION_INFO_RUNTIME_ALLOC_GRANULE:
	case HSA_REGION_INFO_RUNTIME_ALLOC_ALIGNMENT:
		return get_info(&pool, (uint32_t)attribute, value);
	default:
		return get_region_extra(&pool, (uint32_t)attribute, value);
	}
}
