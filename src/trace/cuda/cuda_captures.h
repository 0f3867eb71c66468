/* Inside trace/: which waits of CUDA were captured, and the events that calls name. CUPTI brings
 * captured waits like any other, with the number of the event's last record outside of captures,
 * which they are not for (H200, CUDA 13.0). */
#ifndef DAGTAP_TRACE_CUDA_CAPTURES_H
#define DAGTAP_TRACE_CUDA_CAPTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "trace/model.h"

struct process_load;

enum cuda_capture_role {
	CUDA_CAPTURE_NONE,
	CUDA_CAPTURE_BEGIN,
	CUDA_CAPTURE_END,
	CUDA_CAPTURE_RECORD,
	CUDA_CAPTURE_WAIT,
	CUDA_CAPTURE_NODE, /* no part of a capture: the event of a graph's node */
};

/* What an API has to do with captures, worked out once an API. */
struct cuda_capture_api {
	uint8_t role; /* enum cuda_capture_role */
	uint8_t stream_word, event_word, flags_word;
};

struct cuda_capture_note {
	uint64_t stream, event; /* handles */
	uint32_t rank;		/* of the call */
	uint8_t role;
	bool is_external; /* captured, it is a node of the graph and no edge */
};

struct cuda_captures {
	struct cuda_capture_note *notes; /* by call, once they are loaded */
	uint32_t count;
	uint64_t *is_captured; /* a bit a call, from first.calls; NULL: none is */
};

struct cuda_capture_api cuda_capture_api_of(const struct trace *trace, const struct trace_api *api);

/* While calls are filled. 0 or -ENOMEM. */
int cuda_capture_note(struct cuda_captures *captures, const struct cuda_capture_api *api,
		      uint32_t rank, const struct record_api *record);

/* A stage, before the waits'. */
int cuda_captures_load(struct process_load *load);
void cuda_captures_release(struct cuda_captures *captures);

/* The event that the call was given, a pointer; 0 = none, or not kept. CALL may be TRACE_NONE. */
uint64_t cuda_event_of_call(const struct process_load *load, uint32_t call);

/* CALL may be TRACE_NONE. */
bool cuda_is_captured(const struct process_load *load, uint32_t call);

#endif
