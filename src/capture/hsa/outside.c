/* Second wrappers of the functions that reserve packets, for a dispatch table in which another tool
 * has replaced our wrappers by functions that do not call them. They are put around that tool's
 * functions, and note the call context of the reservation. If the other tool does call our wrapper,
 * that one has noted the reservation already. */
#include "capture/hsa/outside.h"

#include "capture/hsa/gate.h"
#include "capture/hsa/gate_list.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_state.h"

/* The other tool's functions, to which these wrappers pass calls on: only those that are wrapped
 * here and hsa_queue_load_write_index_relaxed are set. */
static struct hsa_calls replaced;

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
	static void store_##order(const hsa_queue_t *queue, uint64_t value)                        \
	{                                                                                          \
		uint64_t first = replaced.hsa_queue_load_write_index_relaxed(queue);               \
                                                                                                   \
		replaced.hsa_queue_store_write_index_##order(queue, value);                        \
		reserved(queue, first, value);                                                     \
	}

#define OUTSIDE_CAS(order)                                                                         \
	static uint64_t cas_##order(const hsa_queue_t *queue, uint64_t expected, uint64_t value)   \
	{                                                                                          \
		uint64_t first =                                                                   \
			replaced.hsa_queue_cas_write_index_##order(queue, expected, value);        \
                                                                                                   \
		if (first == expected)                                                             \
			reserved(queue, first, value);                                             \
		return first;                                                                      \
	}

#define OUTSIDE_ADD(order)                                                                         \
	static uint64_t add_##order(const hsa_queue_t *queue, uint64_t value)                      \
	{                                                                                          \
		uint64_t first = replaced.hsa_queue_add_write_index_##order(queue, value);         \
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

static const struct hsa_calls wrappers = {
	.hsa_queue_store_write_index_relaxed = store_relaxed,
	.hsa_queue_store_write_index_screlease = store_screlease,
	.hsa_queue_cas_write_index_scacq_screl = cas_scacq_screl,
	.hsa_queue_cas_write_index_scacquire = cas_scacquire,
	.hsa_queue_cas_write_index_relaxed = cas_relaxed,
	.hsa_queue_cas_write_index_screlease = cas_screlease,
	.hsa_queue_add_write_index_scacq_screl = add_scacq_screl,
	.hsa_queue_add_write_index_scacquire = add_scacquire,
	.hsa_queue_add_write_index_relaxed = add_relaxed,
	.hsa_queue_add_write_index_screlease = add_screlease,
};

void outside_wrap(void)
{
	hsa_calls_wrap_replaced(&wrappers, &replaced);
}
