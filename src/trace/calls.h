/* Inside trace/: filling the rows of calls, record by record in any order. */
#ifndef DAGTAP_TRACE_CALLS_H
#define DAGTAP_TRACE_CALLS_H

#include "trace/process.h"

/* What an API has to do with streams, worked out once an API. */
enum stream_role { STREAM_NONE, STREAM_USE, STREAM_CREATE, STREAM_DESTROY };

struct stream_api {
	enum stream_role role;
	uint8_t word;	/* argument that holds the handle */
	bool is_needed; /* the join asks for its arguments */
};

#define STREAM_HANDLE_NONE UINT64_MAX

/* Fills load->stream_apis. */
int stream_apis_load(struct process_load *load);

/* The thread that was asked for last: mostly asked for again. */
struct fill_thread {
	bool is_known;
	uint32_t tid;
	uint32_t thread;
};

static inline uint32_t fill_thread(struct fill_thread *last, const struct process_load *load,
				   uint32_t tid)
{
	if (!last->is_known || last->tid != tid)
		*last = (struct fill_thread){true, tid, load_find_thread(load, tid)};
	return last->thread;
}

struct call_fill {
	struct process_load *load;
	uint64_t *is_filled; /* a bit a row */
	uint64_t word_room;
	uint32_t unknown_api;
	uint32_t cid_hint, scope_hint;
	struct fill_thread thread;
	/* Of the API that came last. */
	bool has_api;
	uint32_t op;
	uint32_t api;
	struct stream_api stream;
	bool keeps_args;
};

/* 0, -ENOMEM, -E2BIG. */
int call_fill_init(struct call_fill *fill, struct process_load *load);
int call_fill_add(struct call_fill *fill, const struct spool_record *record);
void call_fill_release(struct call_fill *fill);

#endif
