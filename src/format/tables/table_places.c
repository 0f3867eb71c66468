/* The tables of what rows refer to, processes, threads, devices and streams, and of the ledger. */
#include "format/tables/table_cells.h"

#define ROW_TYPE trace_process

TABLE_READ(complete)
{
	return cell_of(((const struct trace_process *)row)->state == TRACE_COMPLETE);
}

/* The largest uncertainty of a merged rank's times; none in other recordings. */
TABLE_READ(clock_uncertainty)
{
	const struct trace *trace = reader->trace;
	uint32_t clock = ((const struct trace_process *)row)->clock;

	return trace->clocks_count ? cell_of(rank_clock_worst(&trace->clocks[clock].fit))
				   : CELL_UNKNOWN;
}

static const struct table_column processes_columns[] = {
	COLUMN("process", NULL, UINT32, cell_u32, FIELD(pid)),
	COLUMN("parent_process", NULL, UINT32, cell_u32_known, FIELD(parent_pid)),
	COLUMN("session", NULL, UINT32, cell_u32, FIELD(session)),
	COLUMN("start_ns", "ns", INT64, cell_u64, FIELD(start_ns)),
	COLUMN("end_ns", "ns", INT64, cell_u64, FIELD(end_ns)),
	COLUMN("start_realtime_ns", "ns", INT64, cell_u64_known, FIELD(start_realtime_ns)),
	NAME_COLUMN("host", cell_string, FIELD(host), text_string),
	NAME_COLUMN("exe", cell_string, FIELD(exe), text_string),
	NAME_COLUMN("command", cell_string, FIELD(command), text_string),
	COLUMN("complete", NULL, BOOL, complete, 0),
	COLUMN("clock_uncertainty_ns", "ns", UINT64, clock_uncertainty, 0),
};

TABLE_OF_ARRAY(processes, processes_columns, processes);

#undef ROW_TYPE
#define ROW_TYPE trace_thread

static const struct table_column threads_columns[] = {
	COLUMN("process", NULL, UINT32, cell_pid, FIELD(process)),
	COLUMN("thread", NULL, UINT32, cell_u32, FIELD(tid)),
	NAME_COLUMN("name", cell_string, FIELD(name), text_string),
};

TABLE_OF_ARRAY(threads, threads_columns, threads);

#undef ROW_TYPE
#define ROW_TYPE trace_agent

TABLE_READ(agent_device)
{
	return cell_of((uint64_t)((const struct trace_agent *)row - reader->trace->agents));
}

static const struct table_column devices_columns[] = {
	COLUMN("process", NULL, UINT32, cell_pid, FIELD(process)),
	NAME_COLUMN("device", agent_device, 0, text_device),
	COLUMN("index", NULL, UINT32, cell_u32_counted, FIELD(index)),
	NAME_COLUMN("architecture", cell_string, FIELD(name), text_string),
	NAME_COLUMN("product", cell_string, FIELD(product), text_string),
	NAME_COLUMN("uuid", cell_string, FIELD(uuid), text_string),
	COLUMN("memory_bytes", "bytes", UINT64, cell_u64_known, FIELD(memory_bytes)),
	COLUMN("memory_bytes_per_s", "bytes/s", UINT64, cell_u64_known, FIELD(memory_bytes_per_s)),
	COLUMN("compute_units", NULL, UINT32, cell_u32_known, FIELD(compute_units)),
	COLUMN("wave_size", "work-items", UINT32, cell_u32_known, FIELD(wave_size)),
	COLUMN("clock_khz", "kHz", UINT32, cell_u32_known, FIELD(clock_khz)),
	COLUMN("clock_error_ns", "ns", DOUBLE, cell_u64, FIELD(fit_error_ns)),
	COLUMN("anchors", NULL, UINT32, cell_u32, FIELD(anchor_count)),
};

TABLE_OF_ARRAY(devices, devices_columns, agents);

#undef ROW_TYPE
#define ROW_TYPE trace_stream

static TABLE_TEXT_OF(text_stream_kind)
{
	return words_stream_kind((enum trace_stream_kind)number);
}

static const struct table_column streams_columns[] = {
	COLUMN("process", NULL, UINT32, cell_pid, FIELD(process)),
	COLUMN("stream", NULL, UINT32, cell_u32, FIELD(ordinal)),
	COLUMN("stream_handle", NULL, UINT64, cell_u64, FIELD(handle)),
	NAME_COLUMN("device", cell_device, FIELD(agent), text_device),
	COLUMN("context", NULL, UINT32, cell_u32_known, FIELD(context)),
	NAME_COLUMN("kind", cell_word, FIELD(kind), text_stream_kind),
};

TABLE_OF_ARRAY(streams, streams_columns, streams);

#undef ROW_TYPE
#define ROW_TYPE trace_source

TABLE_READ(expected)
{
	const struct trace_source *source = row;

	return source->has_expected ? cell_of(source->expected) : CELL_UNKNOWN;
}

TABLE_READ(dropped)
{
	const struct trace_source *source = row;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < source->drop_count; i++)
		sum += reader->trace->drops[source->drop_first + i].count;
	return cell_of(sum);
}

static const struct table_column ledger_columns[] = {
	COLUMN("process", NULL, UINT32, cell_pid, FIELD(process)),
	NAME_COLUMN("source", cell_string, FIELD(name), text_string),
	NAME_COLUMN("witness", cell_string, FIELD(witness), text_string),
	COLUMN("expected", "rows", UINT64, expected, 0),
	COLUMN("received", "rows", UINT64, cell_u64, FIELD(received)),
	COLUMN("dropped", "rows", UINT64, dropped, 0),
	COLUMN("joined", "rows", UINT64, cell_u64, FIELD(joined)),
	COLUMN("orphan_calls", "rows", UINT64, cell_u64, FIELD(orphan_calls)),
	COLUMN("orphan_activities", "rows", UINT64, cell_u64, FIELD(orphan_activities)),
	COLUMN("untimed", "rows", UINT64, cell_u64, FIELD(untimed)),
	COLUMN("unexplained", "rows", UINT64, cell_u64, FIELD(unexplained)),
	NAME_COLUMN("state", cell_string, FIELD(state), text_string),
	NAME_COLUMN("remarks", cell_string, FIELD(text), text_string),
};

TABLE_OF_ARRAY(ledger, ledger_columns, sources);
