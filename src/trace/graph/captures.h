/* Inside trace/: which streams are in a stream capture, while calls are walked in the order in
 * which they took effect. No record says that its call was captured. It follows from the calls, by
 * the rules of the runtimes: a capture lasts from its begin to its end on one stream, and includes
 * each stream that waits for an event that was recorded in it.
 *
 * Streams are numbers from 0; TRACE_NONE is a stream of which nothing is known, and every function
 * ignores it. A capture is a number from 1, 0 is none. Used for HIP (call_events.c) and for CUDA
 * (cuda_captures.c). */
#ifndef DAGTAP_TRACE_CAPTURES_H
#define DAGTAP_TRACE_CAPTURES_H

#include <stdbool.h>
#include <stdint.h>

struct capture {
	uint32_t origin; /* stream on which it began */
	bool has_ended;
};

struct captures {
	/* by stream: the last capture that included it, 0 = none; it may have ended */
	uint32_t *of_stream;
	bool *is_foreseen; /* by stream: captures_foresee has seen a begin or an end of it */
	uint32_t stream_count;
	struct capture *rows; /* by number; number 0 is none and has always ended */
	uint32_t count;
};

/* For streams 0 to STREAM_COUNT - 1. Returns 0 or -ENOMEM; call captures_release in both cases. */
int captures_init(struct captures *captures, uint32_t stream_count);
void captures_release(struct captures *captures);

/* Call first, for each begin and each end of a capture, in their order: if the first of a stream is
 * an end, the stream was already captured when the recording began, and its capture starts here.
 * Returns 0 or -ENOMEM. */
int captures_foresee(struct captures *captures, uint32_t stream, bool is_end);

/* STREAM begins a capture. Returns 0 or -ENOMEM. */
int captures_begin(struct captures *captures, uint32_t stream);

/* Ends the capture that began on STREAM. Does nothing for a stream that only joined one. */
void captures_end(struct captures *captures, uint32_t stream);

/* STREAM records an event. EVENT_CAPTURE is the capture of the event's last record, 0 = none, and
 * is updated. IS_NODE: in a capture, the record becomes a node of the graph, and the event keeps
 * its last record. Returns true if the record is captured. */
bool captures_record(const struct captures *captures, uint32_t stream, bool is_node,
		     uint32_t *event_capture);

/* STREAM waits for an event whose last record is of EVENT_CAPTURE, 0 = none, and so joins this
 * capture if it has not ended, unless it is in a capture already. IS_NODE: in a capture, the wait
 * becomes a node of the graph instead. Returns true if the wait is captured. */
bool captures_wait(struct captures *captures, uint32_t stream, bool is_node,
		   uint32_t event_capture);

#endif
