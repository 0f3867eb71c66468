/* Tells of scratch memory: see hsa_scratch.h. */
#include "capture/hsa/hsa_scratch.h"

#include "capture/handle_map.h"
#include "capture/hsa/gate_list.h"
#include "capture/hsa/hsa_memory.h"
#include "capture/memory_observer.h"
#include "vendor/hsa_newer.h"

static hsa_scratch_function *nexts[HSA_SCRATCH_SLOTS]; /* what was in the slots */

/* The operations that the thread is inside of, by number: the runtime begins and ends each on one
 * thread. It reclaims memory inside of an allocation. */
static _Thread_local struct {
	struct inject_scratch scratch;
	bool is_told;
} operations[INJECT_SCRATCH_RECLAIM + 1];

static hsa_status_t pass(enum hsa_scratch_slot slot, const struct hsa_scratch_event *event)
{
	return nexts[slot] ? nexts[slot](event) : HSA_STATUS_SUCCESS;
}

/* By queue with scratch memory: the handle of its agent. The runtime does not tell it, and when it
 * frees the memory of a queue that is destroyed, the queue has no gate any more. */
static struct handle_map agents = HANDLE_MAP_INIT;

static struct inject_agent agent_of(const hsa_queue_t *queue)
{
	const struct gate *gate = gate_of(queue);

	if (gate)
		handle_map_put(&agents, (uintptr_t)queue, gate->agent.handle);
	return hsa_memory_agent_of((hsa_agent_t){handle_map_get(&agents, (uintptr_t)queue)});
}

static void begin(enum inject_scratch_operation operation, const struct hsa_scratch_event *event)
{
	struct inject_scratch *scratch = &operations[operation].scratch;

	operations[operation].is_told = memory_is_observed();
	if (!operations[operation].is_told)
		return;
	*scratch = (struct inject_scratch){
		.queue = event->queue->id,
		.agent = agent_of(event->queue),
		.dispatch = operation == INJECT_SCRATCH_ALLOCATE ? event->dispatch : 0,
		.flags = (uint32_t)event->flags,
		.operation = operation,
	};
	scratch_begin(scratch);
}

static void end(enum inject_scratch_operation operation, const struct hsa_scratch_event *event)
{
	struct inject_scratch *scratch = &operations[operation].scratch;

	if (!operations[operation].is_told)
		return;
	if (operation == INJECT_SCRATCH_FREE)
		handle_map_take(&agents, (uintptr_t)event->queue);
	operations[operation].is_told = false;
	scratch->flags = (uint32_t)event->flags;
	if (operation == INJECT_SCRATCH_ALLOCATE) {
		scratch->bytes = event->bytes;
		scratch->slots = event->slots;
	}
	scratch_end(scratch);
}

#define BEGIN(name, slot, operation)                                                               \
	static hsa_status_t name(const struct hsa_scratch_event *event)                            \
	{                                                                                          \
		begin(operation, event);                                                           \
		return pass(slot, event);                                                          \
	}
#define END(name, slot, operation)                                                                 \
	static hsa_status_t name(const struct hsa_scratch_event *event)                            \
	{                                                                                          \
		end(operation, event);                                                             \
		return pass(slot, event);                                                          \
	}

BEGIN(alloc_start, HSA_SCRATCH_ALLOC_START, INJECT_SCRATCH_ALLOCATE)
END(alloc_end, HSA_SCRATCH_ALLOC_END, INJECT_SCRATCH_ALLOCATE)
BEGIN(free_start, HSA_SCRATCH_FREE_START, INJECT_SCRATCH_FREE)
END(free_end, HSA_SCRATCH_FREE_END, INJECT_SCRATCH_FREE)
BEGIN(reclaim_start, HSA_SCRATCH_RECLAIM_START, INJECT_SCRATCH_RECLAIM)
END(reclaim_end, HSA_SCRATCH_RECLAIM_END, INJECT_SCRATCH_RECLAIM)

static hsa_scratch_function *const ours[HSA_SCRATCH_SLOTS] = {
	alloc_start, alloc_end, free_start, free_end, reclaim_start, reclaim_end};

void scratch_watch(struct hsa_api_table *table)
{
	struct hsa_newer_api_table *newer = (struct hsa_newer_api_table *)table;
	const size_t reach = offsetof(struct hsa_newer_api_table, pc_sampling);

	/* The minor version of a table is its size in bytes. */
	if (table->version.minor_id < reach || !newer->tools ||
	    newer->tools->version.minor_id < sizeof(*newer->tools))
		return;
	for (int i = 0; i < HSA_SCRATCH_SLOTS; i++) {
		if (newer->tools->slot[i] == ours[i])
			continue;
		nexts[i] = newer->tools->slot[i];
		newer->tools->slot[i] = ours[i];
	}
}
