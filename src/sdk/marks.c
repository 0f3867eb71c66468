/* Calls of roctx: see marks.h. */
#include "sdk/marks.h"

#include "sdk/inside.h"
#include "sdk/mark_ranges.h"
#include "sdk/observed.h"
#include "sdk/requests.h"
#include "sdk/time.h"

_Static_assert(offsetof(struct sdk_hip_record, start_ns) == sizeof(struct sdk_record_head),
	       "a record of a call begins with the head");

_Static_assert((int)SDK_CALLBACK_MARKER_NAME_API == (int)SDK_BUFFER_MARKER_NAME_API &&
		       (int)SDK_REQUEST_MARKER_NAME_API == (int)SDK_BUFFER_MARKER_NAME_API,
	       "a kind of calls has one number");

/* The kind of calls of FUNCTION, and its first function. */
static int kind_of(enum inject_mark_function function, enum inject_mark_function *ret_first)
{
	if (function >= INJECT_NAME_THREAD) {
		*ret_first = INJECT_NAME_THREAD;
		return SDK_CALLBACK_MARKER_NAME_API;
	}
	*ret_first = function >= INJECT_PAUSE ? INJECT_PAUSE : INJECT_MARK;
	return function >= INJECT_PAUSE ? SDK_CALLBACK_MARKER_CONTROL_API
					: SDK_CALLBACK_MARKER_CORE_API;
}

static bool takes_message(enum inject_mark_function function)
{
	return function == INJECT_MARK || function == INJECT_PUSH || function == INJECT_START ||
	       function >= INJECT_NAME_THREAD;
}

INSIDE_ON_STACK void marks_observe(const struct inject_mark *mark)
{
	static _Thread_local struct observed_state state;
	bool has_message = takes_message(mark->function);
	struct inside place;
	enum inject_mark_function first;
	int kind = kind_of(mark->function, &first);
	struct sdk_mark_data data = {
		.size = sizeof(data),
		.argument = has_message ? (uint64_t)(uintptr_t)mark->message : mark->argument,
		.second = has_message ? mark->argument : 0,
		.result = mark->result,
	};
	struct sdk_hip_record record = {
		.start_ns = sdk_time_of(mark->begin_ns),
		.end_ns = sdk_time_of(mark->end_ns),
		.tid = requests_tid(),
	};
	const struct observed what = {
		.cid = mark->cid,
		.parent = mark->parent,
		.operation = (int)(mark->function - first),
		.callback = (enum sdk_callback_kind)kind,
		.buffer = (enum sdk_buffer_kind)kind,
		.request = (enum sdk_request_kind)kind,
		.payload = &data,
	};

	bool is_nested = inside_enter(&place, INSIDE_MARK);

	/* No function of roctx calls another one: the tool has left the callback of the last one,
	 * whose end then does not come. */
	if (!is_nested && !mark->end_ns)
		state.cid = 0;
	if (mark->end_ns)
		observed_end(&state, &what, (struct sdk_record_head *)&record, sizeof(record));
	else
		observed_begin(&state, &what);
	if (!is_nested && kind == SDK_CALLBACK_MARKER_CORE_API)
		mark_ranges_observe(mark);
	inside_leave(&place);
}
