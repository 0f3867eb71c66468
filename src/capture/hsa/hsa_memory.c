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
