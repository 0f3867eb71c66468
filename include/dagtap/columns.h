/* The tables of a trace (dagtap/trace.h) as columns, through Arrow's C data interface: pandas,
 * polars, pyarrow and DuckDB take them without a file and without a further copy.
 *
 * struct ArrowArrayStream stream;
 * struct dagtap_error error;
 *
 * if (dagtap_columns_open(trace, "activities", NULL, &stream, &error) < 0)
 * 	...error.message...
 * ...hand the stream to a reader, or call get_schema and get_next...
 * stream.release(&stream);
 *
 * docs/tables.md describes the tables and columns. dagtap_columns_get_table and
 * dagtap_columns_get_column list them.
 *
 * Shapes: a stream has one struct array (format "+s") per batch of at most DAGTAP_COLUMNS_BATCH
 * rows, with a child per column. Formats: "b" truth values, "i" int32, "I" uint32, "l" int64, "L"
 * uint64, "g" double, "u" UTF-8. A column of names is dictionary-encoded: format "i", whose
 * dictionary is "u". Each batch has its own dictionaries, which hold the texts of that batch once
 * each. Every column may hold nulls: a value that is not known or does not apply. Bytes of a text
 * that are not UTF-8 become U+FFFD.
 *
 * Units: the metadata of a column has the key "unit" if the column has a unit. The metadata of the
 * schema has "dagtap.table", the name of the table, and "dagtap.tables_version",
 * DAGTAP_COLUMNS_VERSION. Times are int64 ns of CLOCK_MONOTONIC of the recording machine.
 *
 * Ownership: the caller releases the stream, each schema and each batch. A stream keeps the trace:
 * dagtap_trace_close may be called before the stream is released, and the memory is freed with the
 * last of them. Schemas and batches own their memory: they need neither the stream nor the trace,
 * and a child may be moved out of its batch.
 *
 * Threading: a stream belongs to one thread at a time; several streams may read one trace at the
 * same time. get_next shares the columns of a large batch among threads, which end before it
 * returns; the values do not depend on their number. Cost: about 10 ns of CPU time a value
 * (docs/tables.md). A stream's memory is that of one batch, four bytes for each different name of
 * the trace and column of names, and 20 KiB for each thread; it does not grow with the number of
 * rows.
 *
 * Errors: get_schema and get_next return 0 or a positive errno, as Arrow defines (ENOMEM);
 * get_last_error then returns a line that is valid until the next call. After a failed get_next the
 * stream can only be released. */
#ifndef DAGTAP_COLUMNS_H
#define DAGTAP_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include <dagtap/error.h>
#include <dagtap/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Arrow's structs, as https://arrow.apache.org/docs/format/CDataInterface.html and
 * CStreamInterface.html define them, with the guards that they give. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE	      2
#define ARROW_FLAG_MAP_KEYS_SORTED    4

/* The type of an array. */
struct ArrowSchema {
	const char *format;
	const char *name;
	const char *metadata;
	int64_t flags;
	int64_t n_children;
	struct ArrowSchema **children;
	struct ArrowSchema *dictionary;
	void (*release)(struct ArrowSchema *);
	void *private_data;
};

/* The values of an array. */
struct ArrowArray {
	int64_t length;
	int64_t null_count;
	int64_t offset;
	int64_t n_buffers;
	int64_t n_children;
	const void **buffers;
	struct ArrowArray **children;
	struct ArrowArray *dictionary;
	void (*release)(struct ArrowArray *);
	void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/* Arrays of one type, one after the other. */
struct ArrowArrayStream {
	int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
	int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
	const char *(*get_last_error)(struct ArrowArrayStream *);
	void (*release)(struct ArrowArrayStream *);
	void *private_data;
};
#endif

/* Changes when a column is removed or gets another type or meaning. New tables, and new columns at
 * the end of a table, do not change it. */
#define DAGTAP_COLUMNS_VERSION 1

/* The largest number of rows of a batch. */
#define DAGTAP_COLUMNS_BATCH 65536

/* A table. The texts are static. */
struct dagtap_columns_table {
	const char *name; /* what dagtap_columns_open takes as TABLE */
	const char *help; /* what its rows are, a few words */
};

/* A column. The texts are static. */
struct dagtap_columns_column {
	const char *name;
	const char *unit;   /* "ns", "bytes" ...; "" = none */
	const char *format; /* Arrow's; "u" of a column of names, which is dictionary-encoded */
	int is_dictionary;
};

/* Gives table number INDEX, from 0 on. Returns 0, or -ERANGE if there is no such table; then
 * *RET_TABLE is untouched. */
int dagtap_columns_get_table(size_t index, struct dagtap_columns_table *ret_table);

/* Gives column number INDEX, from 0 on, of the table called TABLE. Returns 0; -ERANGE if the table
 * has no such column, -EINVAL if there is no such table; then *RET_COLUMN is untouched. */
int dagtap_columns_get_column(const char *table, size_t index,
			      struct dagtap_columns_column *ret_column);

/* Opens a stream of the rows of a table. TABLE: its name; NULL is "activities". COLUMNS: names of
 * columns, in the order wanted, ended by NULL; NULL alone gives all columns. The names are copied.
 * Returns 0; or -EINVAL (no such table or column) or -ENOMEM with a line in ERROR, which may be
 * NULL; then *RET_STREAM is untouched. */
int dagtap_columns_open(const struct dagtap_trace *trace, const char *table,
			const char *const *columns, struct ArrowArrayStream *ret_stream,
			struct dagtap_error *error);

#ifdef __cplusplus
}
#endif

#endif
