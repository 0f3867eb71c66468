/* Writes the MEMORY records of HSA's memory pools; see hsa_memory.h. */
#include "capture/hsa/hsa_memory.h"

#include "capture/capture_session.h"
#include "capture/frame.h"
#include "capture/hsa/hsa_agents.h"
#include "capture/hsa/hsa_wrappers.h"
#include "capture/memory_observer.h"
#include "capture/scope.h"

uint64_t hsa_memory_agent(const void *address)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};

	if (!hsa_next.hsa_amd_pointer_info ||
	    hsa_next.hsa_amd_pointer_info(address, &info, NULL, NULL, NULL) != HSA_STATUS_SUCCESS ||
	    info.type != HSA_EXT_POINTER_TYPE_HSA)
		return 0;
	return info.agentOwner.handle;
}

/* The low 16 bits of the location are bus, device and function. */
#define LOCATION_MASK 0xffffu

static bool is_at(hsa_agent_t agent, uint32_t domain, uint32_t bus_device_function)
{
	uint32_t location[2] = {0}, in_domain[2] = {0};

	hsa_next.hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DOMAIN, in_domain);
	return hsa_next.hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_BDFID,
					   location) == HSA_STATUS_SUCCESS &&
	       (location[0] & LOCATION_MASK) == bus_device_function && in_domain[0] == domain;
}

uint64_t hsa_memory_agent_at(uint32_t domain, uint32_t bus_device_function)
{
	uint64_t found = 0;
	uint32_t count;
	const struct hsa_agent_entry *agents = hsa_agents_get(&count);

	for (uint32_t i = 0; i < count; i++) {
		if (!agents[i].is_gpu || !is_at(agents[i].handle, domain, bus_device_function))
			continue;
		if (found)
			return 0;
		found = agents[i].handle.handle;
	}
	return found;
}

static enum record_memory_kind kind_of(uint64_t agent)
{
	uint32_t count;
	const struct hsa_agent_entry *agents = hsa_agents_get(&count);

	for (uint32_t i = 0; i < count; i++) {
		if (agents[i].handle.handle == agent)
			return agents[i].is_gpu ? RECORD_MEMORY_KIND_DEVICE
						: RECORD_MEMORY_KIND_HOST;
	}
	return RECORD_MEMORY_KIND_UNKNOWN;
}

static bool records_pools;

void hsa_memory_record_pools(bool is_wanted)
{
	records_pools = is_wanted;
}

static void put(enum record_memory_type type, struct record_memory *record)
{
	record->scope = scope_current();
	writer_put(session_writer(), RECORD_MEMORY, type, record, sizeof(*record));
}

static void put_allocation(hsa_status_t status, size_t size, const void *address)
{
	struct record_memory record = {.bytes = size, .result = (int32_t)status};

	if (!records_pools || !session_is_on())
		return;
	record.ns = session_now_ns();
	if (status == HSA_STATUS_SUCCESS) {
		record.address = (uintptr_t)address;
		record.agent = hsa_memory_agent(address);
		record.kind = kind_of(record.agent);
	}
	put(record.address ? RECORD_MEMORY_ALLOCATE : RECORD_MEMORY_FAIL, &record);
}

/* ---- whose a pool is ---- */

struct inject_agent hsa_memory_agent_of(hsa_agent_t agent)
{
	uint32_t count;
	const struct hsa_agent_entry *agents = hsa_agents_get(&count);

	for (uint32_t i = 0; i < count; i++) {
		if (agents[i].handle.handle == agent.handle)
			return (struct inject_agent){
				.driver_id = agents[i].driver_id,
				.gpu_ordinal = agents[i].gpu_ordinal,
				.is_known = true,
				.is_gpu = agents[i].is_gpu,
			};
	}
	return (struct inject_agent){0};
}

/* Stop the iteration at the pool or region whose handle DATA points to. */
static hsa_status_t stop_at_pool(hsa_amd_memory_pool_t pool, void *data)
{
	return pool.handle == *(const uint64_t *)data ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;
}

static hsa_status_t stop_at_region(hsa_region_t region, void *data)
{
	return region.handle == *(const uint64_t *)data ? HSA_STATUS_INFO_BREAK
							: HSA_STATUS_SUCCESS;
}

/* The agent of a pool, or of a region: the first one that lists it. GPUs list the CPU's regions,
 * too, after the CPU. */
static struct inject_agent owner_of(uint64_t handle, bool is_pool)
{
	uint32_t count;
	const struct hsa_agent_entry *agents = hsa_agents_get(&count);

	for (uint32_t i = 0; i < count; i++) {
		hsa_status_t status = HSA_STATUS_SUCCESS;

		if (!is_pool)
			status = hsa_next.hsa_agent_iterate_regions(agents[i].handle,
								    stop_at_region, &handle);
		else if (hsa_next.hsa_amd_agent_iterate_memory_pools)
			status = hsa_next.hsa_amd_agent_iterate_memory_pools(agents[i].handle,
									     stop_at_pool, &handle);
		if (status == HSA_STATUS_INFO_BREAK)
			return hsa_memory_agent_of(agents[i].handle);
	}
	return (struct inject_agent){0};
}

/* ---- the observer ---- */

/* Begins what the observer is told of an allocation. False: nobody is. */
static bool begin_allocation(struct inject_memory *memory, enum inject_memory_operation operation,
			     uint64_t place, bool is_pool, size_t size)
{
	if (!memory_is_observed())
		return false;
	*memory = (struct inject_memory){
		.bytes = size, .agent = owner_of(place, is_pool), .operation = operation};
	memory_enter(memory);
	return true;
}

static void end_allocation(struct inject_memory *memory, hsa_status_t status, uint64_t address)
{
	if (status == HSA_STATUS_SUCCESS)
		memory->address = address;
	memory_leave(memory);
}

static bool begin_free(struct inject_memory *memory, enum inject_memory_operation operation,
		       uint64_t address)
{
	if (!memory_is_observed())
		return false;
	*memory = (struct inject_memory){.address = address, .operation = operation};
	memory_enter(memory);
	return true;
}

/* ---- the wrappers ---- */

hsa_status_t wrap_hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t size,
					       uint32_t flags, void **ptr)
{
	struct inject_memory memory;
	bool is_told = begin_allocation(&memory, INJECT_ALLOCATE, pool.handle, true, size);
	hsa_status_t status = hsa_next.hsa_amd_memory_pool_allocate(pool, size, flags, ptr);
	void *address = status == HSA_STATUS_SUCCESS ? *ptr : NULL;

	if (is_told)
		end_allocation(&memory, status, (uintptr_t)address);
	put_allocation(status, size, address);
	return status;
}

hsa_status_t wrap_hsa_amd_memory_pool_free(void *ptr)
{
	struct record_memory record = {.ns = session_now_ns(), .address = (uintptr_t)ptr};
	struct inject_memory memory;
	bool is_told = begin_free(&memory, INJECT_FREE, (uintptr_t)ptr);
	hsa_status_t status = hsa_next.hsa_amd_memory_pool_free(ptr);

	if (is_told)
		memory_leave(&memory);
	if (ptr && status == HSA_STATUS_SUCCESS && records_pools && session_is_on())
		put(RECORD_MEMORY_RELEASE, &record);
	return status;
}

hsa_status_t wrap_hsa_memory_allocate(hsa_region_t region, size_t size, void **ptr)
{
	struct inject_memory memory;
	bool is_told = begin_allocation(&memory, INJECT_ALLOCATE, region.handle, false, size);
	hsa_status_t status = hsa_next.hsa_memory_allocate(region, size, ptr);

	if (is_told)
		end_allocation(&memory, status, status == HSA_STATUS_SUCCESS ? (uintptr_t)*ptr : 0);
	return status;
}

hsa_status_t wrap_hsa_memory_free(void *ptr)
{
	struct inject_memory memory;
	bool is_told = begin_free(&memory, INJECT_FREE, (uintptr_t)ptr);
	hsa_status_t status = hsa_next.hsa_memory_free(ptr);

	if (is_told)
		memory_leave(&memory);
	return status;
}

hsa_status_t wrap_hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t pool, size_t size,
					     hsa_amd_memory_type_t type, uint64_t flags,
					     hsa_amd_vmem_alloc_handle_t *ret_handle)
{
	struct inject_memory memory;
	bool is_told = begin_allocation(&memory, INJECT_VMEM_ALLOCATE, pool.handle, true, size);
	hsa_status_t status =
		hsa_next.hsa_amd_vmem_handle_create(pool, size, type, flags, ret_handle);

	if (is_told)
		end_allocation(&memory, status,
			       status == HSA_STATUS_SUCCESS ? ret_handle->handle : 0);
	return status;
}

hsa_status_t wrap_hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t handle)
{
	struct inject_memory memory;
	bool is_told = begin_free(&memory, INJECT_VMEM_FREE, handle.handle);
	hsa_status_t status = hsa_next.hsa_amd_vmem_handle_release(handle);

	if (is_told)
		memory_leave(&memory);
	return status;
}
