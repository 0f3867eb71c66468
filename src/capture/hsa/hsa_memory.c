/* Writes the MEMORY records of HSA's memory pools; see hsa_memory.h. */
#include "capture/hsa/hsa_memory.h"

#include "capture/capture_session.h"
#include "capture/frame.h"
#include "capture/hsa/hsa_agents.h"
#include "capture/hsa/hsa_wrappers.h"
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

static void put(enum record_memory_type type, struct record_memory *record)
{
	record->scope = scope_current();
	writer_put(session_writer(), RECORD_MEMORY, type, record, sizeof(*record));
}

hsa_status_t wrap_hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t pool, size_t size,
					       uint32_t flags, void **ptr)
{
	hsa_status_t status = hsa_next.hsa_amd_memory_pool_allocate(pool, size, flags, ptr);
	struct record_memory record = {.bytes = size, .result = (int32_t)status};

	if (!session_is_on())
		return status;
	record.ns = session_now_ns();
	if (status == HSA_STATUS_SUCCESS) {
		record.address = (uintptr_t)*ptr;
		record.agent = hsa_memory_agent(*ptr);
		record.kind = kind_of(record.agent);
	}
	put(record.address ? RECORD_MEMORY_ALLOCATE : RECORD_MEMORY_FAIL, &record);
	return status;
}

hsa_status_t wrap_hsa_amd_memory_pool_free(void *ptr)
{
	struct record_memory record = {.ns = session_now_ns(), .address = (uintptr_t)ptr};
	hsa_status_t status = hsa_next.hsa_amd_memory_pool_free(ptr);

	if (ptr && status == HSA_STATUS_SUCCESS && session_is_on())
		put(RECORD_MEMORY_RELEASE, &record);
	return status;
}
