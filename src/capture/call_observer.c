/* Tells of calls of HIP and RCCL: see call_observer.h. */
#include "capture/call_observer.h"

const struct inject_observer *_Atomic call_observer;

/* ARGS NULL: the call has returned. */
static void tell(const struct frame *frame, const char *text, const void *stream,
		 const uint64_t *args, int result)
{
	const struct inject_observer *observer =
		atomic_load_explicit(&call_observer, memory_order_acquire);
	const struct frame *outer = frame->outer;
	struct inject_call told = {
		.cid = frame->cid,
		.parent = outer && frame_is_recorded(outer) ? outer->cid : 0,
		.function = frame->function,
		.dispatches = frame->dispatches,
		.copies = frame->copies,
		.unknown = frame_unknown(frame),
		.args = args,
		.text = text,
		.stream = stream,
		.result = result,
		.value = frame->text ? (uintptr_t)frame->text : (uint64_t)result,
	};

	if (observer && frame->session)
		(args ? observer->enter : observer->leave)(&told);
}

void call_observe_entry(struct frame *frame, const char *text, const void *stream,
			const uint64_t *args)
{
	/* The observer may leave its function, and the stack that FRAME is on, by longjmp. */
	frame_pop(frame);
	tell(frame, text, stream, args, 0);
	/* Not frame_push: frames that the observer has left in the list by a jump are gone. */
	frame_top = frame;
}

void call_observe_return(struct frame *frame, const char *text, const void *stream, int result)
{
	frame->end_ns = session_now_ns();
	tell(frame, text, stream, NULL, result);
}
