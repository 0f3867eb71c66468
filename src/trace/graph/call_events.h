/* Inside trace/: events of HIP, and those of CUDA if CUPTI was not asked for them. Calls that make,
 * record and wait for events are noted while the rows of calls are filled, because the arguments of
 * calls may not be kept. The notes become rows after the stage that tells on which streams the
 * calls were.
 *
 * No call says which record a wait is for: it is the last record of the event before the wait.
 * An event exists from the return of the call that made its handle to the entry of the call that
 * destroyed it; records and waits take effect at the entry of their call. This gives the calls of
 * several threads an order that the threads themselves could have observed. Where a record and a
 * wait overlap there is no such order, and the row of the wait says so (TRACE_KNOWN_LIKELY). */
#ifndef DAGTAP_TRACE_CALL_EVENTS_H
#define DAGTAP_TRACE_CALL_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "trace/trace_model.h"

struct process_load;

/* What a call does to an event, a stream or a capture. The order counts: call_event_note keeps
 * calls without an event from CALL_EVENT_WAIT_STREAM on, and is_record() tests a range. */
enum call_event_role {
	CALL_EVENT_NONE,
	CALL_EVENT_CREATE,
	CALL_EVENT_OPEN,   /* opens an event of another process */
	CALL_EVENT_EXPORT, /* makes a handle for another process */
	CALL_EVENT_DESTROY,
	CALL_EVENT_RECORD,
	CALL_EVENT_RECORD_START, /* by a launch: at the start of its kernel */
	CALL_EVENT_RECORD_STOP,	 /* by a launch: at the end of its kernel */
	CALL_EVENT_RECORD_NODE,	 /* by a graph launch: a node records the event */
	CALL_EVENT_RECORD_MAYBE, /* a graph launch: which events its nodes record is not known */
	CALL_EVENT_STREAM_WAIT,
	CALL_EVENT_WAIT, /* the host waits for an event */
	CALL_EVENT_WAIT_STREAM,
	CALL_EVENT_WAIT_DEVICE,
	CALL_EVENT_CAPTURE_BEGIN,
	CALL_EVENT_CAPTURE_END,
	CALL_EVENT_STREAM_GONE,
};

/* What an API does with events. Computed once per API. Words are positions in its records
 * (args_word). */
struct call_event_api {
	uint8_t role;	   /* enum call_event_role */
	uint8_t word;	   /* word of the argument that holds the event */
	uint8_t stop_word; /* of CALL_EVENT_RECORD_START: of the event to record at the end */
	/* of records and waits: their flags, which may ask for a node in a captured graph */
	uint8_t flags_word;
	uint8_t context_word; /* of CUDA's: number of the context */
};

/* A call that concerns an event. call_event_note fills event, rank, role and is_external;
 * call_events_load the rest. */
struct call_event_note {
	uint64_t event;	    /* handle, 0 = none */
	uint32_t rank;	    /* of the call: its row, from first.calls */
	uint32_t event_row; /* index among the process's events; TRACE_NONE = none */
	/* of a wait: index of the note of the record it is for; TRACE_NONE = none */
	uint32_t producer;
	/* Index into event_records or waits, first within the process, in the end within the trace;
	 * TRACE_NONE = it gets no row. */
	uint32_t row;
	uint32_t node;	  /* of CALL_EVENT_RECORD_NODE: index into trace.nodes */
	uint32_t context; /* CUPTI's number; 0 = none, or not known */
	uint8_t role;	  /* enum call_event_role */
	uint8_t known;	  /* of a wait: enum trace_known */
	/* if its stream is captured, it becomes a node of the graph, not an edge */
	bool is_external;
};

/* The notes of a process, by call once call_events_load has begun. process_load owns the rows. */
struct call_event_notes {
	struct call_event_note *rows;
	uint32_t count;
};

/* What API does with events. The role is CALL_EVENT_NONE for calls of other interfaces, and for
 * CUDA's if CUPTI was asked for waits. Call after cuda_load. */
struct call_event_api call_event_api_of(const struct process_load *load,
					const struct trace_api *api);

/* Notes the call of RECORD and API, which has row RANK from first.calls, if it concerns an event
 * and had an effect. Call for each call whose API has a role. Returns 0 or -ENOMEM. */
int call_event_note(struct call_event_notes *notes, const struct call_event_api *api, uint32_t rank,
		    const struct record_api *record);

/* A stage (trace/process_load.h): makes rows of events, their records and waits. */
int call_events_load(struct process_load *load);

#endif
