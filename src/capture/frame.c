#include "capture/frame.h"

#include "capture/scope.h"

__thread struct frame *frame_top;

struct frame_context frame_take(void)
{
	struct frame *frame = frame_top;

	if (!frame)
		return (struct frame_context){.scope = scope_current(), .tid = session_tid()};
	if (!frame_is_recorded(frame))
		return (struct frame_context){.tid = session_tid()};
	return (struct frame_context){
		.cid = frame->cid,
		.scope = frame->scope,
		.ordinal = frame->activities++,
		.tid = session_tid(),
	};
}
