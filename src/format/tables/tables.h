/* The tables of a trace: for each its rows, and for each column its name, type, unit, and how a
 * cell is read. CSV, SQLite and the Arrow streams are written from this one description;
 * docs/tables.md is its text for users.
 *
 * A table is a constant struct table. What a column is not known for, or does not apply to, is
 * unknown: an empty field in CSV, null elsewhere. So is an empty text.
 *
 * Threading: the tables are constant. A struct table_reader belongs to one thread; several threads
 * may read one trace, each with its own. */
#ifndef DAGTAP_FORMAT_TABLES_H
#define DAGTAP_FORMAT_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/format.h"
#include "format/words.h"

/* The version of the tables, which dagtap/columns.h, SQLite files and Arrow schemas state. It
 * changes when a column is removed or gets another type or meaning. */
#define TABLES_VERSION 1

/* X(name, help): each is a struct table, table_NAME. The first is the default of CSV and Arrow. */
#define TABLES(X)                                                                                  \
	X(activities, "one row a kernel, copy or memset")                                          \
	X(calls, "one row an API call")                                                            \
	X(scopes, "one row a scope, range or mark")                                                \
	X(graph_nodes, "one row a node of each graph")                                             \
	X(events, "one row each time that an event was recorded")                                  \
	X(waits, "one row a wait of the host or a stream")                                         \
	X(memory, "one row an allocation of memory, or a release")                                 \
	X(scope_attributes, "one row an attribute of a scope")                                     \
	X(graphs, "one row a graph")                                                               \
	X(graph_edges, "one row a dependency between two nodes of a graph")                        \
	X(launches, "one row a replay of an executable graph")                                     \
	X(processes, "one row a recording of a process")                                           \
	X(threads, "one row a thread")                                                             \
	X(devices, "one row a GPU, or CPU that the runtime lists")                                 \
	X(streams, "one row a stream")                                                             \
	X(ledger, "one row a source of rows, with its counts")

enum table_type {
	TABLE_BOOL,
	TABLE_INT32,
	TABLE_INT64,
	TABLE_UINT32,
	TABLE_UINT64,
	TABLE_DOUBLE,
	TABLE_NAME, /* a text that many rows repeat */
	TABLE_TEXT, /* a text of this row */
};

/* A value, in the 64 bits of an int64_t, a uint64_t or a double. Of a text BITS is the number that
 * the column's `text` takes. */
struct table_cell {
	uint64_t bits;
	bool is_known;
};

/* COUNT rows, whose structs follow each other ROW_BYTES apart. */
struct table_rows {
	const void *first;
	size_t row_bytes;
	uint32_t count;
};

/* Characters of a text that is made for one cell, the terminating zero included. */
#define TABLE_TEXT_CHARS 2048

#define TABLE_OCCUPANCIES 256

/* Caches of one reading. Starts with table_reader_init; owns no memory. */
struct table_reader {
	const struct trace *trace;
	struct words_path path, launch_path;
	uint32_t graph_process; /* the last process, and whether its graphs count blocks */
	bool graph_in_blocks;
	/* The occupancy of works on agents, each at a place that follows from both. */
	struct table_occupancy {
		uint32_t work, agent; /* TRACE_NONE: none here yet */
		struct table_cell occupancy, limits;
	} occupancies[TABLE_OCCUPANCIES];
	/* The last row of scope_attributes: its scope, and the number of that scope's first row. */
	uint32_t attribute_scope;
	uint64_t attribute_first;
	struct table_attribute {
		uint32_t scope;
		const struct trace_scope_attribute *attribute;
	} attribute;
	char text[TABLE_TEXT_CHARS];
};

struct table_column {
	const char *name;
	const char *unit; /* "ns", "bytes", ...; NULL = a number without unit, an id, a text */
	enum table_type type;
	/* Reads the cells of ROWS: sets RET_BITS[i] of row i, and bit i % 64 of RET_KNOWN[i / 64]
	 * if it is known. FIELD is this column's. */
	void (*read)(struct table_reader *reader, const struct table_rows *rows, size_t field,
		     uint64_t *ret_bits, uint64_t *ret_known);
	size_t field; /* offset in the row's struct, or what `read` takes it for */
	/* The text with NUMBER (cell.bits, less than 2^32 for TABLE_NAME), which is valid until the
	 * next call for the same reader. The same number always has the same text. NULL unless the
	 * type is a text. */
	const char *(*text)(struct table_reader *reader, uint64_t number);
	bool is_scope; /* the number is the index of a scope, and the text its path */
	int decimals;  /* of a double in CSV; 0 = as many as the double needs */
};

struct table {
	const char *name;
	const struct table_column *columns;
	uint32_t columns_count;
	uint64_t (*count)(const struct trace *trace);
	size_t row_bytes; /* of the struct, if the rows are an array of them; else 0 */
	/* The struct of row NUMBER, below count(); valid until the next call for the reader. */
	const void *(*row)(struct table_reader *reader, uint64_t number);
};

/* Table INDEX, from 0, in the order of TABLES; NULL after the last. */
const struct table *table_at(size_t index);

/* The table called NAME; NULL if there is none. NULL as NAME gives the first. */
const struct table *table_find(const char *name);

/* The column of TABLE called NAME; NULL if there is none. */
const struct table_column *table_find_column(const struct table *table, const char *name);

/* Name and help of each table, for struct format: ends with an entry whose name is NULL. */
extern const struct format_table table_names[];

/* Begins to read TRACE, which must outlive READER. */
void table_reader_init(struct table_reader *reader, const struct trace *trace);

/* Room for a text that must be changed. Zeroed at first; the owner frees TEXT. */
struct table_buffer {
	char *text;
	size_t room;
};

/* TEXT as UTF-8: itself, or a copy in BUFFER with U+FFFD for each byte that is not part of a
 * character. NULL: out of memory. */
const char *table_utf8(const char *text, struct table_buffer *buffer);

/* The cell of COLUMN in ROW, which points to the table's struct. */
static inline struct table_cell table_read_cell(struct table_reader *reader,
						const struct table_column *column, const void *row)
{
	struct table_rows rows = {.first = row, .count = 1};
	uint64_t bits, known;

	column->read(reader, &rows, column->field, &bits, &known);
	return (struct table_cell){.bits = bits, .is_known = known};
}

/* True if the column's cells are texts. */
static inline bool table_is_text(const struct table_column *column)
{
	return column->type == TABLE_NAME || column->type == TABLE_TEXT;
}

#define X(name, help) extern const struct table table_##name;
TABLES(X)
#undef X

#endif
