/* Tells of roctx's calls: see mark_observer.h. */
#include "capture/mark_observer.h"

#include "capture/call_observer.h"
#include "capture/capture_session.h"
#include "capture/frame.h"

static void tell(const struct inject_mark *mark)
{
	const struct inject_observer *observer =
		atomic_load_explicit(&call_observer, memory_order_acquire);

	if (observer)
		observer->mark(mark);
}

void mark_enter(struct inject_mark *ret_mark, enum inject_mark_function function,
		const char *message, uint64_t argument)
{
	uint32_t recording;

	ret_mark->cid = 0;
	if (!atomic_load_explicit(&call_observer, memory_order_relaxed))
		return;
	recording = session_on_number();
	if (!recording)
		return;
	*ret_mark = (struct inject_mark){
		.cid = session_next_cid(),
		.parent = frame_top && frame_is_recorded(frame_top) ? frame_top->cid : 0,
		.begin_ns = session_now_ns(),
		.argument = argument,
		.message = message,
		.function = function,
		.recording = recording,
	};
	tell(ret_mark);
}

void mark_leave(struct inject_mark *mark, uint64_t result)
{
	if (!mark->cid)
		return;
	mark->end_ns = session_now_ns();
	mark->result = result;
	mark->recording = session_current_number();
	tell(mark);
}
