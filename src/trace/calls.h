/* Inside trace/: what filling rows of calls and of their activities needs alike. */
#ifndef DAGTAP_TRACE_CALLS_H
#define DAGTAP_TRACE_CALLS_H

#include "trace/process.h"

/* What an API has to do with streams, worked out once an API. */
enum stream_role { STREAM_NONE, STREAM_USE, STREAM_CREATE, STREAM_DESTROY };

struct stream_api {
	enum stream_role role;
	uint8_t word;	    /* argument that holds the handle */
	bool is_needed;	    /* the join asks for its arguments */
	bool is_per_thread; /* without a handle it works on its thread's own stream */
};

#define STREAM_WORD_NONE UINT8_MAX

#define STREAM_HANDLE_PER_THREAD 2
#define STREAM_HANDLE_NONE	 UINT64_MAX

/* Fills load->stream_apis. */
int stream_apis_load(struct process_load *load);

/* Streams of the process: calls are to be taken in the order of their correlation ids. */
struct stream_lives;

struct stream_walk {
	struct process_load *load;
	struct stream_lives *lives;
};

/* Adds the null stream. 0 or -ENOMEM; to be released either way. */
int stream_walk_init(struct stream_walk *walk, struct process_load *load);

/* Sets the call's stream. 0, -ENOMEM, -E2BIG. */
int stream_walk_take(struct stream_walk *walk, struct trace_call *call);
void stream_walk_release(struct stream_walk *walk);

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

#endif
