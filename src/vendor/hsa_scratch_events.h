/* What the HSA runtime tells tools of scratch memory, from ROCR 6 on (hsa/hsa_amd_tool.h).
 * tests/rocm compares it with the header. */
#ifndef VENDOR_HSA_SCRATCH_EVENTS_H
#define VENDOR_HSA_SCRATCH_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>

/* What a tool is told of scratch memory (hsa/hsa_amd_tool.h): a union of pointers, passed by value,
 * whose structs are the first fields of this one. */
struct hsa_scratch_event {
	int kind;
	const hsa_queue_t *queue;
	int flags;
	uint64_t dispatch;   /* of allocations: the packet that needs it */
	size_t bytes, slots; /* of the end of an allocation */
};

typedef hsa_status_t hsa_scratch_function(const struct hsa_scratch_event *event);

/* Functions that tools themselves install, in the order of the table for tools. */
enum hsa_scratch_slot {
	HSA_SCRATCH_ALLOC_START,
	HSA_SCRATCH_ALLOC_END,
	HSA_SCRATCH_FREE_START,
	HSA_SCRATCH_FREE_END,
	HSA_SCRATCH_RECLAIM_START,
	HSA_SCRATCH_RECLAIM_END,
	HSA_SCRATCH_SLOTS
};

#endif
