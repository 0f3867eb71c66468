/* The handlers of system events, and the mark that softgpu_memory_fault leaves for the
 * processor. */
#include "softgpu/fault.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <dagtap/softgpu.h>

#include "softgpu/system_state.h"

#define HANDLERS_MOST 16

static struct {
	pthread_mutex_t lock;
	struct {
		hsa_amd_system_event_callback_t callback;
		void *data;
	} handlers[HANDLERS_MOST];
	uint32_t count;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Set by the host function that the calling thread runs; taken by fault_take. */
static _Thread_local bool has_faulted;
static _Thread_local uint64_t fault_address;

void softgpu_memory_fault(const void *address)
{
	has_faulted = true;
	fault_address = (uint64_t)(uintptr_t)address;
}

bool fault_take(uint64_t *ret_address)
{
	bool taken = has_faulted;

	has_faulted = false;
	if (taken)
		*ret_address = fault_address;
	return taken;
}

hsa_status_t fault_handler_add(hsa_amd_system_event_callback_t callback, void *data)
{
	bool has_room;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!callback)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pthread_mutex_lock(&registry.lock);
	has_room = registry.count < HANDLERS_MOST;
	if (has_room) {
		registry.handlers[registry.count].callback = callback;
		registry.handlers[registry.count++].data = data;
	}
	pthread_mutex_unlock(&registry.lock);
	return has_room ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

void fault_handlers_forget(void)
{
	pthread_mutex_lock(&registry.lock);
	registry.count = 0;
	pthread_mutex_unlock(&registry.lock);
}

void fault_raise(hsa_agent_t agent, uint64_t address)
{
	hsa_amd_event_t event = {.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT};
	bool is_taken = false;
	uint32_t count;

	event.memory_fault.agent = agent;
	event.memory_fault.virtual_address = address;
	event.memory_fault.fault_reason_mask = HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT;
	pthread_mutex_lock(&registry.lock);
	count = registry.count;
	pthread_mutex_unlock(&registry.lock);
	/* Without the lock: while the runtime is up, handlers are added but not removed. */
	for (uint32_t i = 0; i < count; i++)
		is_taken |= registry.handlers[i].callback(&event, registry.handlers[i].data) ==
			    HSA_STATUS_SUCCESS;
	if (is_taken)
		return;
	fprintf(stderr, "softgpu: memory access fault at 0x%" PRIx64 ": page not present\n",
		address);
	abort();
}
