/* IPC handles of memory and signals (hsa_amd_ipc_*). A handle is valid only in the process that
 * made it, where RCCL uses it to pass buffers between its threads. Any other process refuses it,
 * because device memory is private memory of the process. */
#include <string.h>
#include <unistd.h>

#include "softgpu/api.h"
#include "softgpu/device_memory.h"
#include "softgpu/signal_block.h"
#include "softgpu/system_state.h"

/* The content of both kinds of handle. */
struct ipc_handle {
	uint64_t process; /* process id */
	uint64_t address; /* of the memory, or the signal's handle */
	uint64_t bytes;	  /* 0 for a signal */
	uint64_t unused;
};

_Static_assert(sizeof(struct ipc_handle) == sizeof(hsa_amd_ipc_memory_t), "hsa_amd_ipc_memory_t");

static bool is_live(const void *address, uint64_t bytes)
{
	return memory_is_pool_address(address) && memory_range_fits(address, bytes);
}

hsa_status_t softgpu_hsa_amd_ipc_memory_create(void *ptr, size_t len, hsa_amd_ipc_memory_t *handle)
{
	const struct ipc_handle made = {
		.process = (uint64_t)getpid(), .address = (uintptr_t)ptr, .bytes = len};

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!handle || len == 0 || !is_live(ptr, len))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	memcpy(handle, &made, sizeof(made));
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_amd_ipc_memory_attach(const hsa_amd_ipc_memory_t *handle, size_t len,
					       uint32_t num_agents,
					       const hsa_agent_t *mapping_agents, void **mapped_ptr)
{
	struct ipc_handle made;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!handle || !mapped_ptr)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	memcpy(&made, handle, sizeof(made));
	if (made.process != (uint64_t)getpid() || len != made.bytes ||
	    !is_live((void *)(uintptr_t)made.address, made.bytes))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*mapped_ptr = (void *)(uintptr_t)made.address;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_amd_ipc_memory_detach(void *mapped_ptr)
{
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	return memory_is_pool_address(mapped_ptr) ? HSA_STATUS_SUCCESS
						  : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t softgpu_hsa_amd_ipc_signal_create(hsa_signal_t signal, hsa_amd_ipc_signal_t *handle)
{
	const struct ipc_handle made = {.process = (uint64_t)getpid(), .address = signal.handle};
	const struct softgpu_signal *block = signal_block(signal);

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!handle || !block || block->kind != SIGNAL_IPC)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	memcpy(handle, &made, sizeof(made));
	return HSA_STATUS_SUCCESS;
}

/* As in ROCr, the process that made the signal gets the same signal, which must be destroyed once
 * more. */
hsa_status_t softgpu_hsa_amd_ipc_signal_attach(const hsa_amd_ipc_signal_t *handle,
					       hsa_signal_t *signal)
{
	struct ipc_handle made;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!handle || !signal)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	memcpy(&made, handle, sizeof(made));
	if (made.process != (uint64_t)getpid() ||
	    !signal_attach(signal_block((hsa_signal_t){made.address})))
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	signal->handle = made.address;
	return HSA_STATUS_SUCCESS;
}
