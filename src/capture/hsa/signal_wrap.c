/* The wrappers of the functions that create, destroy, share and store to signals. A store to a
 * doorbell goes to the queue's gate. */
#include "capture/hsa/app_signal.h"
#include "capture/hsa/gate.h"
#include "capture/hsa/gate_hold.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_state.h"
#include "capture/hsa/hsa_wrappers.h"
#include "capture/hsa/unknown_queues.h"

/* The runtime has made SIGNAL, if STATUS says so: from now on its uses are watched. */
static void signal_made(hsa_status_t status, const hsa_signal_t *signal)
{
	/* A runtime that had no events left was seen to report success with handle 0. */
	if (status == HSA_STATUS_SUCCESS && signal && signal->handle && hsa_is_live())
		object_map_put(&object_map, signal->handle, OBJECT_SIGNAL, NULL, 0);
}

hsa_status_t wrap_hsa_signal_create(hsa_signal_value_t initial_value, uint32_t num_consumers,
				    const hsa_agent_t *consumers, hsa_signal_t *signal)
{
	hsa_status_t status =
		hsa_next.hsa_signal_create(initial_value, num_consumers, consumers, signal);

	signal_made(status, signal);
	return status;
}

hsa_status_t wrap_hsa_amd_signal_create(hsa_signal_value_t initial_value, uint32_t num_consumers,
					const hsa_agent_t *consumers, uint64_t attributes,
					hsa_signal_t *signal)
{
	hsa_status_t status = hsa_next.hsa_amd_signal_create(initial_value, num_consumers,
							     consumers, attributes, signal);

	signal_made(status, signal);
	return status;
}

hsa_status_t wrap_hsa_amd_ipc_signal_create(hsa_signal_t signal, hsa_amd_ipc_signal_t *handle)
{
	/* Before the call, because afterwards another process may have the handle. */
	if (hsa_is_live() && app_signal_find(signal))
		app_signal_share(signal);
	return hsa_next.hsa_amd_ipc_signal_create(signal, handle);
}

/* The process that created the signal gets the same signal again, which may have an entry. */
hsa_status_t wrap_hsa_amd_ipc_signal_attach(const hsa_amd_ipc_signal_t *handle,
					    hsa_signal_t *signal)
{
	hsa_status_t status = hsa_next.hsa_amd_ipc_signal_attach(handle, signal);

	if (status == HSA_STATUS_SUCCESS && signal && signal->handle && hsa_is_live())
		app_signal_share(*signal);
	return status;
}

hsa_status_t wrap_hsa_signal_destroy(hsa_signal_t signal)
{
	struct object *entry = hsa_is_live() ? app_signal_find(signal) : NULL;

	if (entry)
		app_signal_end(entry);
	return hsa_next.hsa_signal_destroy(signal);
}

/* Handles a store by the program. Returns true for the doorbell of a queue with a gate, which rings
 * the device itself; false when the wrapper is to pass the store on to the runtime. */
static bool store_is_answered(hsa_signal_t signal, hsa_signal_value_t value)
{
	struct object *entry;

	if (!hsa_is_live())
		return false;
	entry = object_map_find(&object_map, signal.handle);
	if (!entry) {
		unknown_queue_ring(signal);
	} else if (entry->kind == OBJECT_DOORBELL) {
		gate_ring(entry->owner, (uint64_t)value);
		return true;
	} else if (entry->kind == OBJECT_SIGNAL) {
		app_signal_stored(entry);
	}
	return false;
}

#define WRAP_STORE(name)                                                                           \
	void wrap_##name(hsa_signal_t signal, hsa_signal_value_t value)                            \
	{                                                                                          \
		if (!store_is_answered(signal, value))                                             \
			hsa_next.name(signal, value);                                              \
	}

WRAP_STORE(hsa_signal_store_relaxed)
WRAP_STORE(hsa_signal_store_screlease)
WRAP_STORE(hsa_signal_silent_store_relaxed)
WRAP_STORE(hsa_signal_silent_store_screlease)
