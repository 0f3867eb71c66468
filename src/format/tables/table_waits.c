/* The tables of events, waits and memory, whose rows begin with the call that caused them. */
#include "format/tables/table_cells.h"

/* What the rows of all three begin with. */
struct caused_row {
	uint32_t process, call;
	uint64_t cid;
};

#define ASSERT_CAUSED(type)                                                                        \
	_Static_assert(offsetof(struct type, process) == offsetof(struct caused_row, process) &&   \
			       offsetof(struct type, call) == offsetof(struct caused_row, call) && \
			       offsetof(struct type, cid) == offsetof(struct caused_row, cid),     \
		       #type " begins as struct caused_row")
ASSERT_CAUSED(trace_event_record);
ASSERT_CAUSED(trace_wait);
ASSERT_CAUSED(trace_memory_operation);

/* If the call has no row, the correlation id alone is known. */
TABLE_READ(caused_cid)
{
	const struct caused_row *caused = row;

	return caused->call != TRACE_NONE ? cell_of(reader->trace->calls[caused->call].cid)
					  : cell_of_known(caused->cid);
}

#define CAUSED_COLUMNS                                                                             \
	COLUMN("process", NULL, UINT32, cell_pid, FIELD(process)),                                 \
		COLUMN("cid", NULL, UINT64, caused_cid, 0),                                        \
		NAME_COLUMN("api", cell_api, FIELD(call), text_string)

/* FIELD is the offset of the index of an event. */
TABLE_READ(event_handle)
{
	uint32_t event = cell_field_u32(row, field);

	return event == TRACE_NONE ? CELL_UNKNOWN : cell_of(reader->trace->events[event].handle);
}

TABLE_READ(event_generation)
{
	uint32_t event = cell_field_u32(row, field);

	return event == TRACE_NONE ? CELL_UNKNOWN
				   : cell_of(reader->trace->events[event].generation);
}

TABLE_READ(event_foreign)
{
	uint32_t event = cell_field_u32(row, field);

	return event == TRACE_NONE ? CELL_UNKNOWN
				   : cell_of(reader->trace->events[event].is_foreign);
}

#define EVENT_COLUMNS                                                                              \
	COLUMN("event", NULL, UINT64, event_handle, FIELD(event)),                                 \
		COLUMN("generation", NULL, UINT32, event_generation, FIELD(event)),                \
		COLUMN("foreign", NULL, BOOL, event_foreign, FIELD(event))

#define ROW_TYPE trace_event_record

/* The launch whose node recorded the event; TRACE_NONE if no node did. */
static uint32_t recorder_launch(const struct trace *trace, const struct trace_event_record *record)
{
	if (record->node == TRACE_NONE || record->call == TRACE_NONE)
		return TRACE_NONE;
	return trace->calls[record->call].launch;
}

TABLE_READ(recorder_graph)
{
	const struct trace_event_record *record = row;

	if (record->node == TRACE_NONE || record->call == TRACE_NONE)
		return CELL_UNKNOWN;
	return cell_graph(reader, &reader->trace->nodes[record->node].graph, 0);
}

TABLE_READ(recorder_exec)
{
	uint32_t launch = recorder_launch(reader->trace, row);

	return cell_exec(reader, &launch, 0);
}

TABLE_READ(recorder_replay)
{
	uint32_t launch = recorder_launch(reader->trace, row);

	return cell_replay(reader, &launch, 0);
}

TABLE_READ(recorder_node)
{
	const struct trace_event_record *record = row;

	return record->call == TRACE_NONE ? CELL_UNKNOWN : cell_node(reader, &record->node, 0);
}

static const struct table_column events_columns[] = {
	CAUSED_COLUMNS,
	EVENT_COLUMNS,
	COLUMN("stream", NULL, UINT32, cell_stream, FIELD(stream)),
	COLUMN("order", NULL, UINT64, cell_u64_known, FIELD(order)),
	COLUMN("device_ns", "ns", INT64, cell_u64_known, FIELD(device_ns)),
	COLUMN("graph", NULL, UINT64, recorder_graph, 0),
	COLUMN("exec", NULL, UINT64, recorder_exec, 0),
	COLUMN("replay", NULL, UINT64, recorder_replay, 0),
	COLUMN("node", NULL, UINT32, recorder_node, 0),
};

TABLE_OF_ARRAY(events, events_columns, event_records);

#undef ROW_TYPE
#define ROW_TYPE trace_wait

TABLE_READ(wait_duration)
{
	const struct trace_wait *wait = row;

	return cell_of((uint64_t)words_span_ns(wait->begin_ns, wait->end_ns));
}

/* Reads a cell of the event record that the wait is for. */
#define PRODUCER_CELL(name, read, field_of_record)                                                 \
	TABLE_READ(name)                                                                           \
	{                                                                                          \
		uint32_t producer = ((const struct trace_wait *)row)->producer;                    \
                                                                                                   \
		if (producer == TRACE_NONE)                                                        \
			return CELL_UNKNOWN;                                                       \
		return read(reader, &reader->trace->event_records[producer], field_of_record);     \
	}

PRODUCER_CELL(producer_cid, cell_u64_known, offsetof(struct trace_event_record, cid))
PRODUCER_CELL(producer_stream, cell_stream, offsetof(struct trace_event_record, stream))
PRODUCER_CELL(producer_graph, recorder_graph, 0)
PRODUCER_CELL(producer_exec, recorder_exec, 0)
PRODUCER_CELL(producer_replay, recorder_replay, 0)
PRODUCER_CELL(producer_node, recorder_node, 0)

static TABLE_TEXT_OF(text_wait_type)
{
	return words_wait_type((enum trace_wait_type)number);
}

static TABLE_TEXT_OF(text_known)
{
	return words_known((enum trace_known)number);
}

static const struct table_column waits_columns[] = {
	CAUSED_COLUMNS,
	NAME_COLUMN("type", cell_word, FIELD(type), text_wait_type),
	COLUMN("begin_ns", "ns", INT64, cell_u64, FIELD(begin_ns)),
	COLUMN("end_ns", "ns", INT64, cell_u64, FIELD(end_ns)),
	COLUMN("duration_ns", "ns", INT64, wait_duration, 0),
	COLUMN("result", NULL, INT32, cell_i32, FIELD(result)),
	COLUMN("stream", NULL, UINT32, cell_stream, FIELD(stream)),
	EVENT_COLUMNS,
	NAME_COLUMN("known", cell_word, FIELD(known), text_known),
	COLUMN("order", NULL, UINT64, cell_u64_known, FIELD(order)),
	COLUMN("producer_cid", NULL, UINT64, producer_cid, 0),
	COLUMN("producer_stream", NULL, UINT32, producer_stream, 0),
	COLUMN("producer_graph", NULL, UINT64, producer_graph, 0),
	COLUMN("producer_exec", NULL, UINT64, producer_exec, 0),
	COLUMN("producer_replay", NULL, UINT64, producer_replay, 0),
	COLUMN("producer_node", NULL, UINT32, producer_node, 0),
};

TABLE_OF_ARRAY(waits, waits_columns, waits);

#undef ROW_TYPE
#define ROW_TYPE trace_memory_operation

enum operation { ALLOCATE, RELEASE, FAIL };

TABLE_READ(operation)
{
	const struct trace_memory_operation *operation = row;

	return cell_of(operation->is_release ? RELEASE : operation->result ? FAIL : ALLOCATE);
}

static TABLE_TEXT_OF(text_operation)
{
	static const char *const operations[] = {
		[ALLOCATE] = "allocate",
		[RELEASE] = "release",
		[FAIL] = "fail",
	};

	return operations[number];
}

static TABLE_TEXT_OF(text_memory_kind)
{
	return words_memory_kind((enum record_memory_kind)number);
}

static const struct table_column memory_columns[] = {
	CAUSED_COLUMNS,
	NAME_COLUMN("device", cell_device, FIELD(agent), text_device),
	NAME_COLUMN("operation", operation, 0, text_operation),
	COLUMN("ns", "ns", INT64, cell_u64_known, FIELD(ns)),
	COLUMN("address", NULL, UINT64, cell_u64_known, FIELD(address)),
	COLUMN("bytes", "bytes", UINT64, cell_u64_known, FIELD(bytes)),
	NAME_COLUMN("kind", cell_word, FIELD(kind), text_memory_kind),
	COLUMN("stream", NULL, UINT32, cell_stream, FIELD(stream)),
	SCOPE_COLUMN("scope", cell_scope, FIELD(scope), text_scope),
	COLUMN("scope_id", NULL, UINT64, cell_scope_id, FIELD(scope)),
};

TABLE_OF_ARRAY(memory, memory_columns, memory_operations);
