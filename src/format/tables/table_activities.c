/* The table of activities. */
#include <string.h>

#include "format/tables/table_cells.h"
#include "trace/occupancy.h"

#define ROW_TYPE    trace_activity
#define WORK(field) offsetof(struct trace_work, field)

static const struct trace_work *work_of(const struct table_reader *reader, const void *row)
{
	return trace_work_of(reader->trace, row);
}

/* FIELD is an offset in struct trace_work. */
TABLE_READ(work_u32)
{
	return cell_of_known(cell_field_u32(work_of(reader, row), field));
}

TABLE_READ(work_u64)
{
	return cell_of_known(cell_field_u64(work_of(reader, row), field));
}

TABLE_READ(work_word)
{
	return cell_word(reader, work_of(reader, row), field);
}

TABLE_READ(work_string)
{
	return cell_string(reader, work_of(reader, row), field);
}

TABLE_READ(work_bool)
{
	return cell_bool(reader, work_of(reader, row), field);
}

static bool is_timed(const void *row)
{
	return ((const struct trace_activity *)row)->untimed == RECORD_UNTIMED_NO;
}

TABLE_READ(time_ns)
{
	return is_timed(row) ? cell_u64(reader, row, field) : CELL_UNKNOWN;
}

TABLE_READ(duration_ns)
{
	const struct trace_activity *activity = row;

	if (!is_timed(row))
		return CELL_UNKNOWN;
	return cell_of((uint64_t)words_span_ns(activity->start_ns, activity->end_ns));
}

/* FIELD is an offset in struct trace_ticks. */
TABLE_READ(tick)
{
	const struct trace *trace = reader->trace;

	if (!trace->ticks)
		return CELL_UNKNOWN;
	return cell_u64_known(reader,
			      &trace->ticks[(const struct trace_activity *)row - trace->activities],
			      field);
}

/* FIELD is the dimension. */
TABLE_READ(grid)
{
	const struct trace_work *work = work_of(reader, row);

	if (words_counts_blocks(reader->trace, row))
		return cell_of_known(words_blocks(work->grid[field], work->workgroup[field]));
	return cell_of_known(work->grid[field]);
}

TABLE_READ(grid_unit)
{
	if (!work_of(reader, row)->grid[0])
		return CELL_UNKNOWN;
	return cell_of(words_counts_blocks(reader->trace, row));
}

TABLE_READ(scope)
{
	uint32_t index = trace_scope_of(reader->trace, row);

	return cell_scope(reader, &index, 0);
}

TABLE_READ(scope_id)
{
	uint32_t index = trace_scope_of(reader->trace, row);

	return cell_scope_id(reader, &index, 0);
}

TABLE_READ(graph)
{
	uint32_t index = words_activity_graph(reader->trace, row);

	return cell_graph(reader, &index, 0);
}

TABLE_READ(confidence)
{
	return cell_of(((const struct trace_activity *)row)->confidence);
}

TABLE_READ(untimed)
{
	return cell_of(((const struct trace_activity *)row)->untimed);
}

static void reckon_occupancy(const struct trace *trace, struct table_occupancy *entry)
{
	struct occupancy known = {0};
	double value;

	if (entry->agent != TRACE_NONE)
		known = occupancy_of(trace_text(trace, trace->agents[entry->agent].name),
				     &trace->works[entry->work]);
	entry->occupancy = entry->limits = CELL_UNKNOWN;
	if (!known.waves_most)
		return;
	value = occupancy_value(&known);
	entry->occupancy.is_known = true;
	memcpy(&entry->occupancy.bits, &value, sizeof(value));
	entry->limits = cell_of(known.limits);
}

/* The occupancy of an activity. Rows with the same work on the same agent share it. */
static const struct table_occupancy *find_occupancy(struct table_reader *reader,
						    const struct trace_activity *activity)
{
	static const struct table_occupancy unknown;
	uint32_t place = (activity->work + 61 * activity->agent) % TABLE_OCCUPANCIES;
	struct table_occupancy *entry = &reader->occupancies[place];

	if (!trace_work_of(reader->trace, activity)->registers)
		return &unknown;
	if (entry->work == activity->work && entry->agent == activity->agent)
		return entry;
	entry->work = activity->work;
	entry->agent = activity->agent;
	reckon_occupancy(reader->trace, entry);
	return entry;
}

TABLE_READ(occupancy)
{
	return find_occupancy(reader, row)->occupancy;
}

TABLE_READ(occupancy_limit)
{
	return find_occupancy(reader, row)->limits;
}

static TABLE_TEXT_OF(text_limit)
{
	return occupancy_limits_text((uint32_t)number, reader->text);
}

static TABLE_TEXT_OF(text_kind)
{
	return words_kind((enum trace_activity_kind)number);
}

static TABLE_TEXT_OF(text_confidence)
{
	return words_confidence((enum trace_confidence)number);
}

static TABLE_TEXT_OF(text_untimed)
{
	return words_untimed((enum record_untimed)number);
}

static const struct table_column columns[] = {
	COLUMN("process", NULL, UINT32, cell_pid, FIELD(process)),
	NAME_COLUMN("device", cell_device, FIELD(agent), text_device),
	COLUMN("queue", NULL, UINT32, cell_queue, FIELD(queue)),
	COLUMN("stream", NULL, UINT32, cell_stream, FIELD(stream)),
	COLUMN("thread", NULL, UINT32, cell_tid, FIELD(thread)),
	NAME_COLUMN("kind", work_word, WORK(kind), text_kind),
	NAME_COLUMN("name", work_string, WORK(name), text_string),
	COLUMN("start_ns", "ns", INT64, time_ns, FIELD(start_ns)),
	COLUMN("end_ns", "ns", INT64, time_ns, FIELD(end_ns)),
	COLUMN("duration_ns", "ns", INT64, duration_ns, 0),
	COLUMN("submit_ns", "ns", INT64, cell_u64_known, FIELD(submit_ns)),
	COLUMN("start_tick", "ticks", UINT64, tick, offsetof(struct trace_ticks, start)),
	COLUMN("end_tick", "ticks", UINT64, tick, offsetof(struct trace_ticks, end)),
	COLUMN("grid_x", "grid_unit", UINT64, grid, 0),
	COLUMN("grid_y", "grid_unit", UINT64, grid, 1),
	COLUMN("grid_z", "grid_unit", UINT64, grid, 2),
	COLUMN("workgroup_x", "work-items", UINT32, work_u32, WORK(workgroup[0])),
	COLUMN("workgroup_y", "work-items", UINT32, work_u32, WORK(workgroup[1])),
	COLUMN("workgroup_z", "work-items", UINT32, work_u32, WORK(workgroup[2])),
	COLUMN("bytes", "bytes", UINT64, work_u64, WORK(bytes)),
	NAME_COLUMN("direction", work_word, WORK(direction), text_direction),
	COLUMN("blit", NULL, BOOL, work_bool, WORK(blit)),
	COLUMN("cid", NULL, UINT64, cell_cid, FIELD(call)),
	NAME_COLUMN("api", cell_api, FIELD(call), text_string),
	COLUMN("ordinal", NULL, UINT32, cell_u32, FIELD(ordinal)),
	SCOPE_COLUMN("scope", scope, 0, text_scope),
	COLUMN("scope_id", NULL, UINT64, scope_id, 0),
	COLUMN("graph", NULL, UINT64, graph, 0),
	COLUMN("exec", NULL, UINT64, cell_exec, FIELD(launch)),
	COLUMN("replay", NULL, UINT64, cell_replay, FIELD(launch)),
	COLUMN("node", NULL, UINT32, cell_node, FIELD(node)),
	NAME_COLUMN("confidence", confidence, 0, text_confidence),
	NAME_COLUMN("untimed", untimed, 0, text_untimed),
	COLUMN("registers", "registers", UINT32, work_u32, WORK(registers)),
	COLUMN("group_bytes", "bytes", UINT32, work_u32, WORK(group_bytes)),
	COLUMN("private_bytes", "bytes", UINT32, work_u32, WORK(private_bytes)),
	COLUMN("stream_handle", NULL, UINT64, cell_stream_handle, FIELD(stream)),
	NAME_COLUMN("grid_unit", grid_unit, 0, text_grid_unit),
	SCOPE_COLUMN("launch_scope", cell_scope, FIELD(scope), text_launch_scope),
	COLUMN("launch_scope_id", NULL, UINT64, cell_scope_id, FIELD(scope)),
	COLUMN("scalar_registers", "registers", UINT32, work_u32, WORK(scalar_registers)),
	{.name = "occupancy",
	 .unit = "fraction",
	 .type = TABLE_DOUBLE,
	 .read = occupancy_rows,
	 .decimals = 4},
	NAME_COLUMN("occupancy_limit", occupancy_limit, 0, text_limit),
};

TABLE_OF_ARRAY(activities, columns, activities);
