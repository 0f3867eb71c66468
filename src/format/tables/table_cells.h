/* How cells are read: the functions that columns of several tables use, and the macros with which
 * a table is written down.
 *
 * The functions named cell_* are `read` of a struct table_column: FIELD is the offset of a field in
 * ROW's struct. Those named text_* are its `text`. Threading: as tables.h. */
#ifndef DAGTAP_FORMAT_TABLE_CELLS_H
#define DAGTAP_FORMAT_TABLE_CELLS_H

#include "format/tables/tables.h"

#define CELL_UNKNOWN ((struct table_cell){0})

static inline struct table_cell cell_of(uint64_t value)
{
	return (struct table_cell){.bits = value, .is_known = true};
}

/* 0 means unknown. */
static inline struct table_cell cell_of_known(uint64_t value)
{
	return (struct table_cell){.bits = value, .is_known = value != 0};
}

static inline uint32_t cell_field_u32(const void *row, size_t field)
{
	return *(const uint32_t *)((const char *)row + field);
}

static inline uint64_t cell_field_u64(const void *row, size_t field)
{
	return *(const uint64_t *)((const char *)row + field);
}

#define TABLE_READ(name)                                                                           \
	struct table_cell name(struct table_reader *reader, const void *row, size_t field)
#define TABLE_TEXT_OF(name) const char *name(struct table_reader *reader, uint64_t number)

/* The field itself. _known: 0 means unknown; _counted: TRACE_NONE means unknown. */
TABLE_READ(cell_u32);
TABLE_READ(cell_u64);
TABLE_READ(cell_i32);
TABLE_READ(cell_bool);
TABLE_READ(cell_u32_known);
TABLE_READ(cell_u64_known);
TABLE_READ(cell_u32_counted);

/* The field is an enum with less than 256 values; larger ones become 255, which has no text. */
TABLE_READ(cell_word);

/* The field is a trace_string, for text_string. */
TABLE_READ(cell_string);
TABLE_TEXT_OF(text_string);

/* The field is the index of a process, thread, agent, queue or stream, or TRACE_NONE. */
TABLE_READ(cell_pid);
TABLE_READ(cell_tid);
TABLE_READ(cell_device); /* for text_device */
TABLE_READ(cell_queue);
TABLE_READ(cell_stream);
TABLE_READ(cell_stream_handle);
TABLE_TEXT_OF(text_device); /* NUMBER is the index of an agent: its number, or "cpu" */

/* The field is the index of a scope, or TRACE_NONE; text_scope is the path. */
TABLE_READ(cell_scope);
TABLE_READ(cell_scope_id);
TABLE_TEXT_OF(text_scope);
TABLE_TEXT_OF(text_launch_scope); /* the same, for a second column with paths */

/* The field is the index of a graph, node, launch (its executable graph, its number) or call, or
 * TRACE_NONE. */
TABLE_READ(cell_graph);
TABLE_READ(cell_node);
TABLE_READ(cell_exec);
TABLE_READ(cell_replay);
TABLE_READ(cell_cid);
TABLE_READ(cell_api); /* for text_string */

TABLE_TEXT_OF(text_direction);
TABLE_TEXT_OF(text_grid_unit); /* 1: blocks, else work-items */

/* Columns. FIELD_ is the column's field, TEXT_ its `text`. */
#define COLUMN(NAME_, UNIT_, TYPE_, READ_, FIELD_)                                                 \
	{                                                                                          \
		.name = NAME_, .unit = UNIT_, .type = TABLE_##TYPE_, .read = READ_,                \
		.field = FIELD_                                                                    \
	}
#define NAME_COLUMN(NAME_, READ_, FIELD_, TEXT_)                                                   \
	{                                                                                          \
		.name = NAME_, .type = TABLE_NAME, .read = READ_, .field = FIELD_, .text = TEXT_   \
	}
#define TEXT_COLUMN(NAME_, READ_, FIELD_, TEXT_)                                                   \
	{                                                                                          \
		.name = NAME_, .type = TABLE_TEXT, .read = READ_, .field = FIELD_, .text = TEXT_   \
	}

/* The offset of a field ROW_TYPE, the struct of a row, which each file defines for its tables. */
#define FIELD(field) offsetof(struct ROW_TYPE, field)

/* Defines table_NAME with COLUMNS, whose rows are the array ROWS of the trace. */
#define TABLE_OF_ARRAY(NAME, COLUMNS, ROWS)                                                        \
	static uint64_t count_##NAME(const struct trace *trace)                                    \
	{                                                                                          \
		return trace->ROWS##_count;                                                        \
	}                                                                                          \
	static const void *row_##NAME(struct table_reader *reader, uint64_t number)                \
	{                                                                                          \
		return &reader->trace->ROWS[number];                                               \
	}                                                                                          \
	const struct table table_##NAME = {.name = #NAME,                                          \
					   .columns = COLUMNS,                                     \
					   .columns_count =                                        \
						   sizeof(COLUMNS) / sizeof((COLUMNS)[0]),         \
					   .count = count_##NAME,                                  \
					   .row_bytes = sizeof(struct ROW_TYPE),                   \
					   .row = row_##NAME}

#endif
