/* Memory and scratch memory: see allocations.h. */
#include "sdk/allocations.h"

#include "sdk/agents.h"
#include "sdk/observed.h"
#include "sdk/requests.h"
#include "sdk/time.h"

_Static_assert((int)INJECT_ALLOCATE == (int)SDK_ALLOCATION_ALLOCATE &&
		       (int)INJECT_VMEM_FREE == (int)SDK_ALLOCATION_VMEM_FREE &&
		       (int)INJECT_SCRATCH_RECLAIM == (int)SDK_SCRATCH_ASYNC_RECLAIM,
	       "operations have one number");

_Static_assert(sizeof(struct sdk_allocation_record) == 88 &&
		       sizeof(struct sdk_allocation_data) == 48 &&
		       sizeof(struct sdk_scratch_record) == 96 &&
		       sizeof(struct sdk_scratch_data) == 56,
	       "as in release 1.0.0");

void allocations_observe(const struct inject_memory *memory)
{
	static _Thread_local struct observed_state state;
	struct sdk_allocation_data data = {
		.size = sizeof(data),
		.agent = agents_id_of(&memory->agent),
		.address = memory->address,
		.bytes = memory->bytes,
	};
	struct sdk_allocation_record record = {
		.tid = requests_tid(),
		.start_ns = sdk_time_of(memory->begin_ns),
		.end_ns = sdk_time_of(memory->end_ns),
		.agent = data.agent,
		.address = memory->address,
		.bytes = memory->bytes,
	};
	const struct observed what = {
		.cid = memory->cid,
		.parent = memory->parent,
		.operation = (int)memory->operation,
		.callback = SDK_CALLBACK_MEMORY_ALLOCATION,
		.buffer = SDK_BUFFER_MEMORY_ALLOCATION,
		.request = SDK_REQUEST_MEMORY_ALLOCATION,
		.payload = &data,
	};

	if (!memory->end_ns) {
		observed_begin(&state, &what);
		return;
	}
	data.start_ns = record.start_ns;
	data.end_ns = record.end_ns;
	observed_end(&state, &what, &record.head, sizeof(record));
}

/* The number of the begin of an operation among the runtime's events, from 1; its end is the next
 * one. */
static uint32_t event_of(const struct inject_scratch *scratch)
{
	return 2 * ((uint32_t)scratch->operation - 1) + 1 + (scratch->end_ns != 0);
}

void allocations_observe_scratch(const struct inject_scratch *scratch)
{
	/* By operation: memory is reclaimed inside of an allocation. */
	static _Thread_local struct observed_state states[INJECT_SCRATCH_RECLAIM + 1];
	struct observed_state *state = &states[scratch->operation];
	struct sdk_scratch_data data = {
		.size = sizeof(data),
		.agent = agents_id_of(&scratch->agent),
		.queue = {scratch->queue},
		.flags = scratch->flags,
		.event = event_of(scratch),
		.dispatch = scratch->dispatch,
		.bytes = scratch->bytes,
		.slots = scratch->slots,
	};
	struct sdk_scratch_record record = {
		.agent = data.agent,
		.queue = data.queue,
		.tid = requests_tid(),
		.start_ns = sdk_time_of(scratch->begin_ns),
		.end_ns = sdk_time_of(scratch->end_ns),
		.flags = scratch->flags,
		.bytes = scratch->bytes,
	};
	const struct observed what = {
		.cid = scratch->cid,
		.parent = scratch->parent,
		.operation = (int)scratch->operation,
		.callback = SDK_CALLBACK_SCRATCH_MEMORY,
		.buffer = SDK_BUFFER_SCRATCH_MEMORY,
		.request = SDK_REQUEST_SCRATCH_MEMORY,
		.payload = &data,
	};

	if (scratch->end_ns)
		observed_end(state, &what, &record.head, sizeof(record));
	else
		observed_begin(state, &what);
}
