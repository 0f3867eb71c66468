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

/* Defines `static struct table_cell name(reader, row, field)`, of which the body follows, and
 * name_rows, the `read` of columns that have such cells. */
#define TABLE_READ(name)                                                                           \
	static inline struct table_cell name(struct table_reader *reader, const void *row,         \
					     size_t field);                                        \
	static TABLE_READ_ROWS(name) static inline struct table_cell name(                         \
		struct table_reader *reader, const void *row, size_t field)

/* Defines name_rows, which reads the cells of several rows by `name`. */
#define TABLE_READ_ROWS(name)                                                                      \
	TABLE_ROWS_OF(name)                                                                        \
	{                                                                                          \
		cell_read_rows(name, reader, rows, field, ret_bits, ret_known);                    \
	}

/* The head of name_rows. */
#define TABLE_ROWS_OF(name)                                                                        \
	void name##_rows(struct table_reader *reader, const struct table_rows *rows, size_t field, \
			 uint64_t *ret_bits, uint64_t *ret_known)

#define TABLE_TEXT_OF(name) const char *name(struct table_reader *reader, uint64_t number)

/* Reads each cell by READ, which the compiler inlines. */
static inline __attribute__((always_inline)) void
cell_read_rows(struct table_cell (*read)(struct table_reader *, const void *, size_t),
	       struct table_reader *reader, const struct table_rows *rows, size_t field,
	       uint64_t *ret_bits, uint64_t *ret_known)
{
	const char *row = rows->first;

	for (uint32_t i = 0; i < rows->count;) {
		uint32_t left = rows->count - i, count = left < 64 ? left : 64;
		uint64_t known = 0;

		for (uint32_t bit = 0; bit < count; bit++, row += rows->row_bytes) {
			struct table_cell cell = read(reader, row, field);

			ret_bits[i++] = cell.bits;
			known |= (uint64_t)cell.is_known << bit;
		}
		*ret_known++ = known;
	}
}

/* A cell that several files use: declares name_rows, and defines the cell. */
#define CELL(name)                                                                                 \
	TABLE_ROWS_OF(name);                                                                       \
	static inline struct table_cell name(struct table_reader *reader, const void *row,         \
					     size_t field)

/* The field itself. _known: 0 means unknown; _counted: TRACE_NONE means unknown. */
CELL(cell_u32)
{
	return cell_of(cell_field_u32(row, field));
}

CELL(cell_u64)
{
	return cell_of(cell_field_u64(row, field));
}

CELL(cell_i32)
{
	return cell_of((uint64_t)(int64_t)(int32_t)cell_field_u32(row, field));
}

CELL(cell_bool)
{
	return cell_of(*(const bool *)((const char *)row + field));
}

CELL(cell_u32_known)
{
	return cell_of_known(cell_field_u32(row, field));
}

CELL(cell_u64_known)
{
	return cell_of_known(cell_field_u64(row, field));
}

CELL(cell_u32_counted)
{
	uint32_t count = cell_field_u32(row, field);

	return count == TRACE_NONE ? CELL_UNKNOWN : cell_of(count);
}

/* The field is an enum with less than 256 values; larger ones become 255, which has no text. */
CELL(cell_word)
{
	uint32_t value = cell_field_u32(row, field);

	return cell_of(value < 255 ? value : 255);
}

/* The field is a trace_string, for text_string. */
CELL(cell_string)
{
	return cell_of(cell_field_u32(row, field));
}

TABLE_TEXT_OF(text_string);

/* The field is an index of ARRAY, or TRACE_NONE; the cell is MEMBER of that row. */
#define CELL_OF_INDEX(name, array, member)                                                         \
	CELL(name)                                                                                 \
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

/* The field is the index of an agent or TRACE_NONE; the text is its number, or "cpu". */
CELL(cell_device)
{
	return cell_u32_counted(reader, row, field);
}

TABLE_TEXT_OF(text_device);

/* The field is the index of a scope, or TRACE_NONE; the text is the path. */
CELL(cell_scope)
{
	return cell_u32_counted(reader, row, field);
}

TABLE_TEXT_OF(text_scope);
TABLE_TEXT_OF(text_launch_scope); /* the same, for a second column with paths */

/* The field is the index of a launch, or TRACE_NONE: its executable graph. */
CELL(cell_exec)
{
	uint32_t launch = cell_field_u32(row, field);

	if (launch == TRACE_NONE)
		return CELL_UNKNOWN;
	return cell_of(reader->trace->execs[reader->trace->launches[launch].exec].id);
}

/* The field is the index of a call, or TRACE_NONE: its function, for text_string. */
CELL(cell_api)
{
	uint32_t call = cell_field_u32(row, field);

	if (call == TRACE_NONE)
		return CELL_UNKNOWN;
	return cell_of(reader->trace->apis[reader->trace->calls[call].api].name);
}
TABLE_TEXT_OF(text_direction);
TABLE_TEXT_OF(text_grid_unit); /* 1: blocks, else work-items */

/* Columns. FIELD_ is the column's field, TEXT_ its `text`. */
#define COLUMN(NAME_, UNIT_, TYPE_, READ_, FIELD_)                                                 \
	{                                                                                          \
		.name = NAME_, .unit = UNIT_, .type = TABLE_##TYPE_, .read = READ_##_rows,         \
		.field = FIELD_                                                                    \
	}
#define NAME_COLUMN(NAME_, READ_, FIELD_, TEXT_)                                                   \
	{                                                                                          \
		.name = NAME_, .type = TABLE_NAME, .read = READ_##_rows, .field = FIELD_,          \
		.text = TEXT_                                                                      \
	}
#define SCOPE_COLUMN(NAME_, READ_, FIELD_, TEXT_)                                                  \
	{                                                                                          \
		.name = NAME_, .type = TABLE_NAME, .read = READ_##_rows, .field = FIELD_,          \
		.text = TEXT_, .is_scope = true                                                    \
	}
#define TEXT_COLUMN(NAME_, READ_, FIELD_, TEXT_)                                                   \
	{                                                                                          \
		.name = NAME_, .type = TABLE_TEXT, .read = READ_##_rows, .field = FIELD_,          \
		.text = TEXT_                                                                      \
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
