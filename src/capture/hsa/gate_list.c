/* The list of all gates; see the header. */
#include "capture/hsa/gate_list.h"

static _Atomic(struct gate *) newest;

struct gate *gate_newest(void)
{
	return atomic_load_explicit(&newest, memory_order_acquire);
}

void gate_list_add(struct gate *gate)
{
	gate->older = gate_newest();
	atomic_store_explicit(&newest, gate, memory_order_release);
}

struct gate *gate_find(const hsa_queue_t *queue)
{
	struct object *entry = object_map_find(&object_map, (uint64_t)(uintptr_t)queue);

	return entry && entry->kind == OBJECT_QUEUE ? entry->owner : NULL;
}

struct gate *gate_of(const hsa_queue_t *queue)
{
	struct gate *gate = gate_find(queue);
	struct object *entry;

	if (__builtin_expect(gate != NULL, 1) || !queue)
		return gate;
	entry = object_map_find(&object_map, queue->doorbell_signal.handle);
	return entry && entry->kind == OBJECT_DOORBELL ? entry->owner : NULL;
}
