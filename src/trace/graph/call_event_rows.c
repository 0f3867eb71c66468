/* Makes rows of the notes of events, records and waits (call_event_rows.h). */
#include "trace/graph/call_event_rows.h"

#include <errno.h>
#include <string.h>

#include "trace/row_table.h"

static enum trace_wait_type wait_type(enum call_event_role role)
{
	switch (role) {
	case CALL_EVENT_STREAM_WAIT:
		return TRACE_WAIT_STREAM_EVENT;
	case CALL_EVENT_WAIT:
		return TRACE_WAIT_EVENT;
	case CALL_EVENT_WAIT_STREAM:
		return TRACE_WAIT_STREAM;
	default:
		return TRACE_WAIT_DEVICE;
	}
}

/* Time at which the stream reached the record, if the device tells: start or end of the kernel that
 * the event was given to. 0 = not known. */
static int64_t device_ns(const struct trace *trace, const struct trace_call *call,
			 enum call_event_role role)
{
	const struct trace_activity *kernel = &trace->activities[call->activity_first];

	if ((role != CALL_EVENT_RECORD_START && role != CALL_EVENT_RECORD_STOP) ||
	    call->activity_count != 1 || trace_work_of(trace, kernel)->kind != TRACE_KERNEL)
		return 0;
	return role == CALL_EVENT_RECORD_START ? kernel->start_ns : kernel->end_ns;
}

static void fill_record(const struct process_load *load, const struct call_event_note *note,
			uint32_t event_first, struct trace_event_record *row)
{
	const struct trace_call *call = call_event_call(load, note);

	*row = (struct trace_event_record){
		.process = load->process,
		.call = load->first.calls + note->rank,
		.cid = call->cid,
		.stream = call->stream,
		.event = event_first + note->event_row,
		.node = note->node,
		.context =
			call->stream == TRACE_NONE ? 0 : load->trace->streams[call->stream].context,
		.device_ns = device_ns(load->trace, call, note->role),
	};
}

static void fill_wait(const struct process_load *load, const struct call_event_note *note,
		      uint32_t event_first, struct trace_wait *row)
{
	const struct trace_call *call = call_event_call(load, note);

	*row = (struct trace_wait){
		.process = load->process,
		.call = load->first.calls + note->rank,
		.cid = call->cid,
		.begin_ns = call->begin_ns,
		.end_ns = call->end_ns,
		.type = wait_type(note->role),
		.known = note->known,
		.stream = call->stream,
		.event = TRACE_NONE,
		.producer = TRACE_NONE,
		.context = note->context,
	};
	if (note->event_row != TRACE_NONE)
		row->event = event_first + note->event_row;
	if (note->producer != TRACE_NONE)
		row->producer = load->call_events.rows[note->producer].row;
}

int call_event_rows_make(struct process_load *load, const struct call_event_counts *counts,
			 const struct trace_event *walked)
{
	uint32_t event_first = load->trace->events_count;
	uint32_t record_row = load->trace->event_records_count;
	struct trace_event *events = trace_extend(load->trace, events, counts->events);
	struct trace_event_record *records =
		trace_extend(load->trace, event_records, counts->records);
	struct trace_wait *waits = trace_extend(load->trace, waits, counts->waits);

	if (!events || !records || !waits)
		return -ENOMEM;
	if (counts->events)
		memcpy(events, walked, counts->events * sizeof(*events));
	/* All records first: if threads raced, a wait may have a smaller cid than the record it is
	 * for. */
	for (uint32_t i = 0; i < load->call_events.count; i++) {
		struct call_event_note *note = &load->call_events.rows[i];

		if (note->row == TRACE_NONE || !call_event_is_record(note))
			continue;
		note->row = record_row++;
		fill_record(load, note, event_first, records++);
	}
	for (uint32_t i = 0; i < load->call_events.count; i++) {
		const struct call_event_note *note = &load->call_events.rows[i];

		if (note->row != TRACE_NONE && !call_event_is_record(note))
			fill_wait(load, note, event_first, waits++);
	}
	return 0;
}
