/* Tells of what HSA does to memory: see memory_observer.h. */
#include "capture/memory_observer.h"

#include "capture/call_observer.h"
#include "capture/capture_session.h"
#include "capture/frame.h"

static void tell(const struct inject_memory *memory)
{
	const struct inject_observer *observer =
		atomic_load_explicit(&call_observer, memory_order_acquire);

	if (observer && observer->memory)
		observer->memory(memory);
}

static void tell_scratch(const struct inject_scratch *scratch)
{
	const struct inject_observer *observer =
		atomic_load_explicit(&call_observer, memory_order_acquire);

	if (observer && observer->scratch)
		observer->scratch(scratch);
}

bool memory_is_observed(void)
{
	return atomic_load_explicit(&call_observer, memory_order_relaxed) && session_is_on();
}

/* The ids of what happens inside of the innermost recorded call, if there is one. */
static void set_ids(uint64_t *ret_cid, uint64_t *ret_parent)
{
	const struct frame *frame = frame_top;

	*ret_parent = 0;
	if (!frame || !frame->cid || !frame_is_recorded(frame)) {
		*ret_cid = session_next_cid();
		return;
	}
	*ret_cid = frame->cid;
	if (frame->outer && frame_is_recorded(frame->outer))
		*ret_parent = frame->outer->cid;
}

void memory_enter(struct inject_memory *memory)
{
	set_ids(&memory->cid, &memory->parent);
	memory->begin_ns = session_now_ns();
	memory->end_ns = 0;
	tell(memory);
}

void memory_leave(struct inject_memory *memory)
{
	memory->end_ns = session_now_ns();
	tell(memory);
}

void scratch_begin(struct inject_scratch *scratch)
{
	set_ids(&scratch->cid, &scratch->parent);
	scratch->begin_ns = session_now_ns();
	scratch->end_ns = 0;
	tell_scratch(scratch);
}

void scratch_end(struct inject_scratch *scratch)
{
	scratch->end_ns = session_now_ns();
	tell_scratch(scratch);
}
