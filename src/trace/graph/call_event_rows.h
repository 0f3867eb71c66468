/* Inside trace/: the rows of events, their records and waits, from the notes that call_events.c has
 * walked through. */
#ifndef DAGTAP_TRACE_CALL_EVENT_ROWS_H
#define DAGTAP_TRACE_CALL_EVENT_ROWS_H

#include "trace/process_load.h"

/* Numbers of rows that the notes make. */
struct call_event_counts {
	uint32_t events, records, waits;
};

/* The call that NOTE is about. */
static inline const struct trace_call *call_event_call(const struct process_load *load,
						       const struct call_event_note *note)
{
	return &load->trace->calls[load->first.calls + note->rank];
}

/* True if NOTE records an event. */
static inline bool call_event_is_record(const struct call_event_note *note)
{
	return note->role >= CALL_EVENT_RECORD && note->role <= CALL_EVENT_RECORD_NODE;
}

/* Adds the rows of the process, in the order of load->call_events, which is the order of the calls:
 * WALKED, which are COUNTS->events, and those of records and waits. A note that makes a record or a
 * wait has a `row`, which becomes the row's index. Returns 0 or -ENOMEM. */
int call_event_rows_make(struct process_load *load, const struct call_event_counts *counts,
			 const struct trace_event *walked);

#endif
