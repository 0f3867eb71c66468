/* Compares dagtap's copies of what ROCR tells tools of scratch memory with its header, at compile
 * time. */
#include <hsa/hsa.h>
#include <hsa/hsa_amd_tool.h>

#include "vendor/hsa_scratch_events.h"

#define SAME_FIELD(ours, theirs)                                                                   \
	_Static_assert(offsetof(struct hsa_scratch_event, ours) ==                                 \
				       offsetof(hsa_amd_event_scratch_alloc_end_t, theirs) &&      \
			       sizeof(((struct hsa_scratch_event *)0)->ours) ==                    \
				       sizeof(((hsa_amd_event_scratch_alloc_end_t *)0)->theirs),   \
		       #theirs)
SAME_FIELD(kind, kind);
SAME_FIELD(queue, queue);
SAME_FIELD(flags, flags);
SAME_FIELD(dispatch, dispatch_id);
SAME_FIELD(bytes, size);
SAME_FIELD(slots, num_slots);
_Static_assert(sizeof(struct hsa_scratch_event) == sizeof(hsa_amd_event_scratch_alloc_end_t),
	       "hsa_amd_event_scratch_alloc_end_t");
_Static_assert(sizeof(hsa_amd_tool_event_t) == sizeof(void *), "a union of pointers");

#define SAME_KIND(slot, kind) _Static_assert((int)(slot) + 1 == (int)(kind), #kind)
SAME_KIND(HSA_SCRATCH_ALLOC_START, HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_START);
SAME_KIND(HSA_SCRATCH_ALLOC_END, HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_END);
SAME_KIND(HSA_SCRATCH_FREE_START, HSA_AMD_TOOL_EVENT_SCRATCH_FREE_START);
SAME_KIND(HSA_SCRATCH_FREE_END, HSA_AMD_TOOL_EVENT_SCRATCH_FREE_END);
SAME_KIND(HSA_SCRATCH_RECLAIM_START, HSA_AMD_TOOL_EVENT_SCRATCH_ASYNC_RECLAIM_START);
SAME_KIND(HSA_SCRATCH_RECLAIM_END, HSA_AMD_TOOL_EVENT_SCRATCH_ASYNC_RECLAIM_END);
