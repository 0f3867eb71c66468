/* Enters and leaves wrapped HIP calls; see hip_wrap.h. */
#include "capture/hip/hip_wrap.h"

#include "capture/call_observer.h"
#include "capture/capture_session.h"
#include "capture/hip/stream_capture.h"
#include "capture/scope.h"

/* Returns whether dagtap itself makes a call on this thread. */
static bool is_muted(void)
{
	return frame_top && !frame_top->cid;
}

/* Starts the first session. Returns whether a session is on. */
static bool wake(void)
{
	/* The call may come from the constructor of another library, before ours has run. */
	session_add_source(&hip_source);
	return session_start();
}

/* Returns whether a call between two sessions gets its hooks: graphs are made and handles are
 * used again meanwhile, and the next session must not take one for another. */
static bool is_followed(enum hip_function function, bool is_bare, int state)
{
	const struct hip_hook *hook = &hip_hooks[function];

	if (state != SESSION_DRAINING && state != SESSION_STOPPED)
		return false;
	return is_bare ? hook->is_for_all : hook->is_followed || stream_capture_any();
}

/* Returns whether the wrapper passes the call without a frame. RET_SESSION: the number of the
 * session that is on; 0: none is. */
static bool passes(enum hip_function function, bool is_bare, uint32_t *ret_session)
{
	int state = atomic_load_explicit(&session_state, memory_order_relaxed);

	*ret_session = 0;
	/* While the process is dormant this load is all that most calls cost. The program has
	 * stopped the session, and only its own call or the switch starts the next one. */
	if (state >= SESSION_DRAINING)
		return !is_followed(function, is_bare, state);
	*ret_session = session_on_number();
	if (!*ret_session && wake()) {
		/* Only now it is known that the call has no record. */
		if (hip_is_unsubscribed() && hip_functions[function].is_unsubscribed)
			return true;
		*ret_session = session_on_number();
	}
	return !*ret_session &&
	       !is_followed(function, is_bare,
			    atomic_load_explicit(&session_state, memory_order_relaxed));
}

bool hip_enter(struct hip_call *call, enum hip_function function, unsigned int door, void *stream)
{
	uint32_t session;

	call->is_bare = door > DOOR_TABLE;
	call->door = (uint8_t)door;
	if (passes(function, call->is_bare, &session) || is_muted() ||
	    (door != DOOR_SYMBOL && frame_is_under_way(function)))
		return false;

	call->frame.session = session;
	if (session)
		hip_count_entered();
	call->stream = stream;
	call->capturing = false;
	call->is_node = false;
	call->saved = NULL;
	call->frame.function = function;
	if (stream_capture_any())
		stream_capture_before(call);
	call->frame.comes_again = door == DOOR_SYMBOL;
	call->frame.activities = 0;
	call->frame.dispatches = call->frame.copies = call->frame.others = 0;
	call->frame.unrecorded = 0;
	call->frame.end_ns = 0;
	call->frame.text = NULL;
	call->frame.scope = scope_current();
	call->frame.cid = session_next_cid();
	frame_push(&call->frame);
	call->frame.begin_ns = session_now_ns();
	return true;
}

void hip_run_before(struct hip_call *call, const uint64_t *args)
{
	void (*before)(struct hip_call *, const uint64_t *) =
		hip_hooks[call->frame.function].before;

	if (call_is_observed())
		call_observe_entry(&call->frame, hip_functions[call->frame.function].text,
				   call->stream, args);
	if (before && !call->is_bare)
		before(call, args);
	call->frame.begin_ns = session_now_ns();
}

void hip_leave(struct hip_call *call, int result, uint32_t word_count, const uint64_t *words)
{
	const struct frame *frame = &call->frame;

	frame_pop(&call->frame);
	frame_take_counted(&call->frame);
	if (call_is_observed())
		call_observe_return(&call->frame, hip_functions[frame->function].text, call->stream,
				    result);
	/* Before the call's own record: a launch whose API record is in the trace and whose
	 * NODE_RECORDED is not was not captured. */
	if (call->capturing && result == HIP_OK) {
		if (!call->frame.end_ns)
			call->frame.end_ns = session_now_ns();
		stream_capture_after(call, words);
	}
	/* When the session has ended, frame_write writes nothing: what the call has submitted
	 * since then is not recorded, so it is a call that had not returned. */
	if (frame->session)
		frame_write(frame, result, word_count, words, hip_counter);
	if (hip_hooks[frame->function].after &&
	    (!call->is_bare || hip_hooks[frame->function].is_for_all))
		hip_hooks[frame->function].after(call, result, words);
}
