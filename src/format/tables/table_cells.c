/* Cells that several tables have. */
#include "format/tables/table_cells.h"

#include <inttypes.h>
#include <stdio.h>

TABLE_READ_ROWS(cell_u32)
TABLE_READ_ROWS(cell_u64)
TABLE_READ_ROWS(cell_i32)
TABLE_READ_ROWS(cell_bool)
TABLE_READ_ROWS(cell_u32_known)
TABLE_READ_ROWS(cell_u64_known)
TABLE_READ_ROWS(cell_u32_counted)
TABLE_READ_ROWS(cell_word)
TABLE_READ_ROWS(cell_string)
TABLE_READ_ROWS(cell_pid)
TABLE_READ_ROWS(cell_tid)
TABLE_READ_ROWS(cell_queue)
TABLE_READ_ROWS(cell_stream)
TABLE_READ_ROWS(cell_stream_handle)
TABLE_READ_ROWS(cell_scope_id)
TABLE_READ_ROWS(cell_graph)
TABLE_READ_ROWS(cell_node)
TABLE_READ_ROWS(cell_replay)
TABLE_READ_ROWS(cell_cid)
TABLE_READ_ROWS(cell_device)
TABLE_READ_ROWS(cell_scope)
TABLE_READ_ROWS(cell_exec)
TABLE_READ_ROWS(cell_api)

TABLE_TEXT_OF(text_string)
{
	return trace_text(reader->trace, (trace_string)number);
}

TABLE_TEXT_OF(text_device)
{
	const struct trace_agent *agent = &reader->trace->agents[number];

	if (!agent->is_gpu)
		return "cpu";
	snprintf(reader->text, sizeof(reader->text), "%" PRIu32, agent->gpu_ordinal);
	return reader->text;
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
