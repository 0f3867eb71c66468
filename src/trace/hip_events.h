/* Inside trace/: HIP's calls that make, record and wait for events, noted when the calls are filled (their
 * arguments may not be kept) and made rows of when it is known on which streams they were.
 *
 * HIP does not say which record a wait is for: it is the event's last one before the wait. An event is a
 * handle from the return of the call that made it to the entry of the one that destroyed it; records and
 * waits count from their entry. So calls of several threads are in an order that the threads themselves
 * could have seen; where a record and a wait overlap there is none, and the wait says so. */
#ifndef DAGTAP_TRACE_HIP_EVENTS_H
#define DAGTAP_TRACE_HIP_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "trace/model.h"

struct process_load;

enum hip_event_role {
	HIP_EVENT_NONE,
	HIP_EVENT_CREATE,
	HIP_EVENT_OPEN,	  /* from another process */
	HIP_EVENT_EXPORT, /* to another process */
	HIP_EVENT_DESTROY,
	HIP_EVENT_RECORD,
	HIP_EVENT_RECORD_START, /* with a launch: where its kernel begins */
	HIP_EVENT_RECORD_STOP,
	HIP_EVENT_RECORD_NODE,	/* by a launch: a node of its graph */
	HIP_EVENT_RECORD_MAYBE, /* a launch of which it is not known what its nodes record */
	HIP_EVENT_STREAM_WAIT,
	HIP_EVENT_WAIT,
	HIP_EVENT_WAIT_STREAM,
	HIP_EVENT_WAIT_DEVICE,
	HIP_EVENT_CAPTURE_BEGIN,
	HIP_EVENT_CAPTURE_END,
	HIP_EVENT_STREAM_GONE,
};

#define HIP_EVENT_NO_WORD UINT8_MAX

/* What an API has to do with events, worked out once an API. */
struct hip_event_api {
	uint8_t role; /* enum hip_event_role */
	uint8_t word; /* argument that holds the event */
	uint8_t stop_word;
	uint8_t flags_word; /* of records and waits that a capture may make nodes of */
};

struct hip_event_note {
	uint64_t event; /* handle */
	uint32_t rank;	/* of the call */
	uint32_t event_row;
	uint32_t producer; /* note, TRACE_NONE = none */
	uint32_t row;	   /* in event_records or waits, TRACE_NONE = it has none */
	uint32_t node;	   /* RECORD_NODE: index into trace.nodes */
	uint8_t role;
	uint8_t known;
	bool is_external; /* captured, it is a node of the graph and no edge */
};

struct hip_event_notes {
	struct hip_event_note *rows;
	uint32_t count;
};

struct hip_event_api hip_event_api_of(const struct trace *trace, const struct trace_api *api);

/* The call of that rank may be about an event. 0 or -ENOMEM. */
int hip_event_note(struct hip_event_notes *notes, const struct hip_event_api *api, uint32_t rank,
		   const struct record_api *record);

/* A stage: events, their records, waits. */
int hip_events_load(struct process_load *load);

#endif
