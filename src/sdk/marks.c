/* Calls of roctx: see marks.h. */
#include "sdk/marks.h"

#include "sdk/observed.h"
#include "sdk/requests.h"
#include "sdk/time.h"

_Static_assert(offsetof(struct sdk_hip_record, start_ns) == sizeof(struct sdk_record_head),
	       "a record of a call begins with the head");

void marks_observe(const struct inject_mark *mark)
{
	static _Thread_local struct observed_state state;
	struct sdk_mark_data data = {
		.size = sizeof(data),
		.argument = mark->function == INJECT_STOP ? mark->argument
							  : (uint64_t)(uintptr_t)mark->message,
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
		.operation = (int)mark->function,
		.callback = SDK_CALLBACK_MARKER_CORE_API,
		.buffer = SDK_BUFFER_MARKER_CORE_API,
		.request = SDK_REQUEST_MARKER_CORE_API,
		.payload = &data,
	};

	if (mark->end_ns)
		observed_end(&state, &what, (struct sdk_record_head *)&record, sizeof(record));
	else
		observed_begin(&state, &what);
}
