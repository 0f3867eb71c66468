/* Cells that several tables have. */
#include "format/tables/table_cells.h"

#include <inttypes.h>
#include <stdio.h>

TABLE_READ(cell_u32)
{
	return cell_of(cell_field_u32(row, field));
}

TABLE_READ(cell_u64)
{
	return cell_of(cell_field_u64(row, field));
}

TABLE_READ(cell_i32)
{
	return cell_of((uint64_t)(int64_t)(int32_t)cell_field_u32(row, field));
}

TABLE_READ(cell_bool)
{
	return cell_of(*(const bool *)((const char *)row + field));
}

TABLE_READ(cell_u32_known)
{
	return cell_of_known(cell_field_u32(row, field));
}

TABLE_READ(cell_u64_known)
{
	return cell_of_known(cell_field_u64(row, field));
}

TABLE_READ(cell_u32_counted)
{
	uint32_t count = cell_field_u32(row, field);

	return count == TRACE_NONE ? CELL_UNKNOWN : cell_of(count);
}

TABLE_READ(cell_word)
{
	uint32_t value = cell_field_u32(row, field);

	return cell_of(value < 255 ? value : 255);
}

TABLE_READ(cell_string)
{
	return cell_of(cell_field_u32(row, field));
}

TABLE_TEXT_OF(text_string)
{
	return trace_text(reader->trace, (trace_string)number);
}

/* Reads MEMBER of the row of ARRAY whose index the field is. */
#define CELL_OF_INDEX(name, array, member)                                                         \
	TABLE_READ(name)                                                                           \
	{                                                                                          \
		uint32_t index = cell_field_u32(row, field);                                       \
                                                                                                   \
		return index == TRACE_NONE ? CELL_UNKNOWN                                          \
					   : cell_of(reader->trace->array[index].member);          \
	}

CELL_OF_INDEX(cell_pid, processes, pid)
CELL_OF_INDEX(cell_tid, threads, tid)
CELL_OF_INDEX(cell_queue, queues, id)
CELL_OF_INDEX(cell_stream, streams, ordinal)
CELL_OF_INDEX(cell_stream_handle, streams, handle)
CELL_OF_INDEX(cell_scope_id, scopes, id)
CELL_OF_INDEX(cell_graph, graphs, id)
CELL_OF_INDEX(cell_node, nodes, index)
CELL_OF_INDEX(cell_replay, launches, replay)
CELL_OF_INDEX(cell_cid, calls, cid)

TABLE_READ(cell_exec)
{
	uint32_t launch = cell_field_u32(row, field);

	if (launch == TRACE_NONE)
		return CELL_UNKNOWN;
	return cell_of(reader->trace->execs[reader->trace->launches[launch].exec].id);
}

TABLE_READ(cell_api)
{
	uint32_t call = cell_field_u32(row, field);

	if (call == TRACE_NONE)
		return CELL_UNKNOWN;
	return cell_of(reader->trace->apis[reader->trace->calls[call].api].name);
}

TABLE_READ(cell_device)
{
	return cell_u32_counted(reader, row, field);
}

TABLE_TEXT_OF(text_device)
{
	const struct trace_agent *agent = &reader->trace->agents[number];

	if (!agent->is_gpu)
		return "cpu";
	snprintf(reader->text, sizeof(reader->text), "%" PRIu32, agent->gpu_ordinal);
	return reader->text;
}

TABLE_READ(cell_scope)
{
	return cell_u32_counted(reader, row, field);
}

TABLE_TEXT_OF(text_scope)
{
	return words_path_get(&reader->path, reader->trace, (uint32_t)number);
}

TABLE_TEXT_OF(text_launch_scope)
{
	return words_path_get(&reader->launch_path, reader->trace, (uint32_t)number);
}

TABLE_TEXT_OF(text_direction)
{
	return words_direction((enum trace_copy_direction)number);
}

TABLE_TEXT_OF(text_grid_unit)
{
	return number ? "blocks" : "work_items";
}
