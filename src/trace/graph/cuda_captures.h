/* Inside trace/graph/: finds the event records and stream waits that were captured into graphs, and
 * keeps the events that calls name. CUPTI reports a captured wait like any other wait, with the
 * number of the event's last record outside of captures, although the wait is not for that record
 * (H200, CUDA 13.0). */
#ifndef DAGTAP_TRACE_CUDA_CAPTURES_H
#define DAGTAP_TRACE_CUDA_CAPTURES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "trace/trace_model.h"

struct process_load;

enum cuda_capture_role {
	CUDA_CAPTURE_NONE,
	CUDA_CAPTURE_BEGIN,
	CUDA_CAPTURE_END,
	CUDA_CAPTURE_RECORD,
	CUDA_CAPTURE_WAIT,
	CUDA_CAPTURE_NODE, /* sets the event of a graph node; takes no part in captures */
};

/* The role of an API in captures; computed once per API. */
struct cuda_capture_api {
	uint8_t role; /* enum cuda_capture_role */
	/* positions of arguments in the API's records (args_word) */
	uint8_t stream_word, event_word, flags_word;
};

/* One successful call of an API that has a role. */
struct cuda_capture_note {
	uint64_t stream, event; /* handles */
	uint32_t rank;		/* of the call's cid: row from first.calls */
	uint8_t role;		/* enum cuda_capture_role */
	/* Has the flag External: in a capture it makes a node, not an edge. */
	bool is_external;
};

struct cuda_captures {
	struct cuda_capture_note *notes; /* sorted by rank after cuda_captures_load */
	uint32_t count;
	uint64_t *is_captured; /* a bit per call, from first.calls; NULL: none is captured */
};

/* The role of API, by its name and arguments; zeroed role for other APIs. */
struct cuda_capture_api cuda_capture_api_of(const struct trace *trace, const struct trace_api *api);

/* Notes one call; calls_load calls it for each call whose API has a role. RANK is the rank of the
 * call's cid. A call that failed is ignored. 0 or -ENOMEM. */
int cuda_capture_note(struct cuda_captures *captures, const struct cuda_capture_api *api,
		      uint32_t rank, const struct record_api *record);

/* A stage, after the calls and before the graphs and waits: finds the captured calls. 0 or
 * -ENOMEM. */
int cuda_captures_load(struct process_load *load);
void cuda_captures_release(struct cuda_captures *captures);

/* The event argument of CALL (a row, or TRACE_NONE), as the program's pointer. 0 = none, or the
 * recording does not have the arguments. Call after cuda_captures_load. */
uint64_t cuda_event_of_call(const struct process_load *load, uint32_t call);

/* Whether CALL (a row, or TRACE_NONE) is an event record or a stream wait that was captured. Call
 * after cuda_captures_load. */
bool cuda_is_captured(const struct process_load *load, uint32_t call);

#endif
