/* Entering and leaving a wrapped HIP call, and finding what is behind it. */
#include "capture/hip/wrap.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "capture/hip/hip.h"
#include "capture/hip/stream_capture.h"
#include "capture/scope.h"
#include "capture/session.h"

void *_Atomic hip_nexts[HIP_OP_COUNT];

void *hip_resolve_symbol(const char *symbol)
{
	/* A library that came in RTLD_LOCAL with a plugin is not among the objects that RTLD_NEXT
	 * looks at. The handle is kept: a library whose functions we call must stay. */
	static const char *const sonames[] = {"libamdhip64.so.7", "libamdhip64.so.6",
					      "libamdhip64.so.5", "libamdhip64.so"};
	void *found = dlsym(RTLD_NEXT, symbol);

	for (size_t i = 0; !found && i < sizeof(sonames) / sizeof(*sonames); i++) {
		void *library = dlopen(sonames[i], RTLD_LAZY | RTLD_NOLOAD);

		if (library)
			found = dlsym(library, symbol);
	}
	return found;
}

void *hip_resolve(enum hip_op op)
{
	void *found = hip_resolve_symbol(hip_ops[op].symbol);

	/* Not finding is not remembered: the library may be loaded later. */
	if (found)
		atomic_store_explicit(&hip_nexts[op], found, memory_order_relaxed);
	return found;
}

/* A call of the tool's own is under way on this thread. */
static bool is_muted(void)
{
	return frame_top && !frame_top->cid;
}

void hip_mute(struct frame *frame)
{
	*frame = (struct frame){0};
	frame_push(frame);
}

void hip_unmute(struct frame *frame)
{
	frame_pop(frame);
}

static bool wake(void)
{
	/* Stopped, which only the program's own call changes. */
	if (atomic_load_explicit(&session_state, memory_order_relaxed) >= SESSION_DRAINING)
		return false;
	session_add_part(&hip_part); /* a call from another library's constructor, before ours */
	return session_start();
}

/* Between two sessions graphs are made and handles used again: the next session is not to take one for
 * another. */
static bool is_followed(enum hip_op op)
{
	int state = atomic_load_explicit(&session_state, memory_order_relaxed);

	return (state == SESSION_DRAINING || state == SESSION_STOPPED) &&
	       (hip_hooks[op].is_followed || stream_capture_any());
}

bool hip_enter(struct hip_call *call, enum hip_op op, void *stream)
{
	bool is_recorded = session_is_on() || wake();

	if ((!is_recorded && !is_followed(op)) || is_muted())
		return false;

	call->frame.session = is_recorded ? session_current_number() : 0;
	if (is_recorded)
		hip_count_entered();
	call->stream = stream;
	call->capturing = false;
	if ((uintptr_t)stream > HIP_STREAM_LEGACY && stream_capture_any())
		stream_capture_before(call);
	call->saved = NULL;
	call->frame.op = op;
	call->frame.activities = 0;
	call->frame.scope = scope_current();
	call->frame.cid = session_next_cid();
	frame_push(&call->frame);
	call->frame.begin_ns = session_now_ns();
	return true;
}

void hip_run_before(struct hip_call *call, const uint64_t *args)
{
	hip_hooks[call->frame.op].before(call, args);
	call->frame.begin_ns = session_now_ns();
}

static void write_call(const struct frame *frame, int result, uint32_t word_count,
		       const uint64_t *words)
{
	uint64_t end_ns = session_now_ns();
	const struct frame *outer = frame->outer;
	struct writer *writer = session_writer();
	size_t bytes = offsetof(struct record_api, args) + word_count * sizeof(*words);
	struct record_api *api = writer_reserve(writer, RECORD_API, bytes);

	hip_count_left();
	if (!api)
		return;
	api->cid = frame->cid;
	api->parent = outer && frame_is_recorded(outer) ? outer->cid : 0;
	api->scope = frame->scope;
	api->begin_ns = frame->begin_ns;
	api->end_ns = end_ns;
	api->result = result;
	api->activities = frame->activities;
	memcpy(api->args, words, word_count * sizeof(*words));
	writer_commit(writer, api, RECORD_API, bytes, frame->op);
}

void hip_leave(struct hip_call *call, int result, uint32_t word_count, const uint64_t *words)
{
	const struct frame *frame = &call->frame;

	frame_pop(&call->frame);
	/* Once the session ends the rest of what the call submits goes unrecorded: it has not returned. */
	if (session_is_on() && frame_is_recorded(frame))
		write_call(frame, result, word_count, words);
	if (hip_hooks[frame->op].after)
		hip_hooks[frame->op].after(call, result, words);
	if (call->capturing && result == HIP_OK)
		stream_capture_after(call, words);
}
