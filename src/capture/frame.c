/* Writes the API records of calls, and gives activities their call; see frame.h. */
#include "capture/frame.h"

#include <stddef.h>
#include <string.h>

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

/* Returns whether the session of the call is still on. */
static bool is_on(const struct frame *frame)
{
	return session_is_on() && frame_is_recorded(frame);
}

/* The return is counted between reserve and commit: closing the spool waits for records that are
 * being written, so that the count and the record belong to the same session. */
void frame_write(const struct frame *frame, int result, uint32_t word_count, const uint64_t *words,
		 struct call_counter *counter)
{
	uint64_t end_ns = frame->end_ns ? frame->end_ns : session_now_ns();
	const struct frame *outer = frame->outer;
	/* Take the writer before checking the session: one that is taken later may belong to the
	 * next session. */
	struct writer *writer = session_writer();
	size_t bytes = offsetof(struct record_api, args) + word_count * sizeof(*words);
	struct record_api *api;

	if (!is_on(frame))
		return;
	api = writer_reserve(writer, RECORD_API, bytes);
	/* Without memory, either the spool has no room, or the session has just ended. */
	if (!api && !is_on(frame))
		return;
	call_count(counter, &counter->left);
	if (!api)
		return;
	api->cid = frame->cid;
	api->parent = outer && frame_is_recorded(outer) ? outer->cid : 0;
	api->scope = frame->scope;
	api->begin_ns = frame->begin_ns;
	api->end_ns = end_ns;
	api->result = result;
	api->activities = frame->activities - frame->unrecorded;
	memcpy(api->args, words, word_count * sizeof(*words));
	writer_commit(writer, api, RECORD_API, bytes, frame->function);
}
