/* Inside trace/: which streams are being captured, while calls are walked in the order in which they took
 * effect. Nothing in a record says that its call was captured; it follows from the calls, as it does for
 * the runtimes: from begin to end on one stream, and on each stream that waits for what was recorded in it.
 *
 * Streams are numbers from 0; TRACE_NONE is one of which nothing is known. A capture is a number from 1. */
#ifndef DAGTAP_TRACE_CAPTURES_H
#define DAGTAP_TRACE_CAPTURES_H

#include <stdbool.h>
#include <stdint.h>

struct capture {
	uint32_t origin; /* stream that it began on */
	bool has_ended;
};

struct captures {
	uint32_t *of_stream; /* the last one that took it, 0 = none */
	bool *is_foreseen;
	uint32_t stream_count;
	struct capture *rows; /* number 0 is none */
	uint32_t count;
};

/* 0 or -ENOMEM; to be released either way. */
int captures_init(struct captures *captures, uint32_t stream_count);
void captures_release(struct captures *captures);

/* First, of each begin and each end, in their order: where an end has no begin the stream was captured before
 * anything was recorded. 0 or -ENOMEM. */
int captures_foresee(struct captures *captures, uint32_t stream, bool is_end);

int captures_begin(struct captures *captures, uint32_t stream);

/* Ends what began on this stream; of a stream that was only drawn in, nothing. */
void captures_end(struct captures *captures, uint32_t stream);

/* The stream waits for something that is captured. */
void captures_draw_in(struct captures *captures, uint32_t stream, uint32_t capture);

bool captures_is_under_way(const struct captures *captures, uint32_t capture);

/* That the stream is in now, 0 = none. */
uint32_t captures_of(const struct captures *captures, uint32_t stream);

#endif
