/* Inside trace/: what several stages need to fill rows of calls and activities: streams of calls
 * (streams.c, join/call_streams.c), and a cache of threads. */
#ifndef DAGTAP_TRACE_CALL_STREAMS_H
#define DAGTAP_TRACE_CALL_STREAMS_H

#include "trace/process_load.h"

/* What an API does with streams. Computed once per API. */
enum stream_role { STREAM_NONE, STREAM_USE, STREAM_CREATE, STREAM_DESTROY };

struct stream_api {
	enum stream_role role;
	uint8_t word; /* word of the argument that holds the handle, or STREAM_WORD_NONE */
	/* join_load reads its arguments: they are kept even if trace_options.is_brief */
	bool is_needed;
	/* without a handle it works on the calling thread's own default stream */
	bool is_per_thread;
};

#define STREAM_WORD_NONE UINT8_MAX

/* Instead of a handle: the call works on no stream. */
#define STREAM_HANDLE_NONE UINT64_MAX

/* Until join_load gives a call its activities, the two fields for them hold the handle of its
 * stream, or STREAM_HANDLE_NONE. */
static inline void call_keep_handle(struct trace_call *call, uint64_t handle)
{
	call->activity_first = (uint32_t)handle;
	call->activity_count = (uint32_t)(handle >> 32);
}

static inline uint64_t call_kept_handle(const struct trace_call *call)
{
	return (uint64_t)call->activity_count << 32 | call->activity_first;
}

/* Fills load->call_notes.stream_apis, by API from first.apis. Returns 0 or -ENOMEM. */
int stream_apis_load(struct process_load *load);

/* Adds a stream and sets *RET_STREAM to its row. Returns 0 or -ENOMEM. */
int stream_add(struct process_load *load, uint64_t handle, enum trace_stream_kind kind,
	       uint32_t *ret_stream);

/* Sets the stream of each call of the process that names one, and adds rows of streams as they show
 * (join/call_streams.c). streams_load must have run. Returns 0, or -ENOMEM also if there are too
 * many rows. */
int call_streams_load(struct process_load *load);

/* The last answer, for a caller that mostly asks for the same thread again. Zero-initialise. */
struct fill_thread {
	bool is_known;
	uint32_t tid;
	uint32_t thread;
};

/* load_find_thread with that memory. */
static inline uint32_t fill_thread(struct fill_thread *last, const struct process_load *load,
				   uint32_t tid)
{
	if (!last->is_known || last->tid != tid)
		*last = (struct fill_thread){true, tid, load_find_thread(load, tid)};
	return last->thread;
}

#endif
