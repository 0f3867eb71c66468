/* Second wrappers of the functions that reserve packets, for a dispatch table in which another tool
 * has replaced our wrappers by functions that do not call them. They are put around that tool's
 * functions (hsa_calls_wrap_outside), and note the call context of the reservation. If the other
 * tool does call our wrapper, that one has noted the reservation already. */
#include "capture/hsa/gate.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_state.h"

/* Whether our own wrapper has noted the reservation that this thread has just made at FIRST. Only
 * that call can have moved the index beyond FIRST. */
static bool is_noted(const struct gate *gate, uint64_t first)
{
	if (gate_has_index(gate))
		return atomic_load_explicit(&gate->virtual_index, memory_order_relaxed) > first;
	return __atomic_load_n(&gate->queue->write_dispatch_id, __ATOMIC_RELAXED) > first;
}

/* The calling thread has reserved the packets FIRST to END - 1. */
static void reserved(const hsa_queue_t *queue, uint64_t first, uint64_t end)
{
	struct gate *gate = hsa_is_live() ? gate_find(queue) : NULL;

	if (gate && end > first && gate_is_tracing(gate) && !is_noted(gate, first))
		reservations_put(&gate->reservations, first, end - first);
}

#define OUTSIDE_STORE(order)                                                                       \
	void outside_hsa_queue_store_write_index_##order(const hsa_queue_t *queue, uint64_t value) \
	{                                                                                          \
		uint64_t first = hsa_outside.hsa_queue_load_write_index_relaxed(queue);            \
                                                                                                   \
		hsa_outside.hsa_queue_store_write_index_##order(queue, value);                     \
		reserved(queue, first, value);                                                     \
	}

#define OUTSIDE_CAS(order)                                                                         \
	uint64_t outside_hsa_queue_cas_write_index_##order(const hsa_queue_t *queue,               \
							   uint64_t expected, uint64_t value)      \
	{                                                                                          \
		uint64_t first =                                                                   \
			hsa_outside.hsa_queue_cas_write_index_##order(queue, expected, value);     \
                                                                                                   \
		if (first == expected)                                                             \
			reserved(queue, first, value);                                             \
		return first;                                                                      \
	}

#define OUTSIDE_ADD(order)                                                                         \
	uint64_t outside_hsa_queue_add_write_index_##order(const hsa_queue_t *queue,               \
							   uint64_t value)                         \
	{                                                                                          \
		uint64_t first = hsa_outside.hsa_queue_add_write_index_##order(queue, value);      \
                                                                                                   \
		reserved(queue, first, first + value);                                             \
		return first;                                                                      \
	}

OUTSIDE_STORE(relaxed)
OUTSIDE_STORE(screlease)
OUTSIDE_CAS(scacq_screl)
OUTSIDE_CAS(scacquire)
OUTSIDE_CAS(relaxed)
OUTSIDE_CAS(screlease)
OUTSIDE_ADD(scacq_screl)
OUTSIDE_ADD(scacquire)
OUTSIDE_ADD(relaxed)
OUTSIDE_ADD(screlease)
