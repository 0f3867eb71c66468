/* The state of reading a rocpd file.
 *
 * A file has the tables of one recorded process, whose names end in a suffix. A merged file has
 * several such sets of tables, which are read one after the other. The ids of a set become rows of
 * the model through a struct rocpd_ids for each kind.
 *
 * Threading: a struct rread_load belongs to one thread. */
#ifndef DAGTAP_FORMAT_ROCPD_READER_LOAD_H
#define DAGTAP_FORMAT_ROCPD_READER_LOAD_H

#include <sqlite3.h>

#include "format/import/import.h"
#include "format/read.h"

/* X(name, text): why rows of the file are not in the model. */
#define RREAD_LEFT_OUT(X)                                                                          \
	X(PROCESS, "rows whose process is not in the file")                                        \
	X(KERNEL, "kernels whose symbol is not in the file: they have no name")

enum rread_left_out {
#define X(name, text) RREAD_LEFT_OUT_##name,
	RREAD_LEFT_OUT(X)
#undef X
		RREAD_LEFT_OUT_COUNT
};

/* Rows of the model by the ids of the file. Zero is empty. */
struct rread_ids {
	struct numbers numbers;
	uint32_t *rows; /* by number; owned */
	uint32_t count;
};

struct rread_symbol {
	trace_string name, symbol;
	uint32_t registers, scalar_registers;
};

/* What belongs to a call that is not known yet. */
struct rread_launch {
	uint32_t process, launch;
	uint64_t cid;
};

struct rread_load {
	struct import import;
	const char *name;
	struct dagtap_error *error; /* may be NULL */
	sqlite3 *sqlite;
	const char *suffix; /* of the set that is read */
	bool is_ours;	    /* dagtap wrote it */
	struct rread_ids strings, hosts, processes, threads, agents, queues, streams, symbols;
	struct rread_symbol *symbol_rows; /* owned */
	uint32_t symbol_rows_count;
	uint32_t *stream_counts; /* by process, its streams so far; owned */
	uint32_t stream_counts_count;
	struct rread_launch *launches; /* owned */
	uint32_t launches_count;
	uint64_t left_out[RREAD_LEFT_OUT_COUNT];
};

/* ---- queries (rocpd_query.c) ---- */

/* The rows of a table. */
struct rread_query {
	struct rread_load *load;
	sqlite3_stmt *statement; /* NULL: the file has no such table */
};

/* Asks for COLUMNS of TABLE, up to the NULL: "name", "E.name" of the row's event, "$.key" and
 * "E$.key" of the JSON in column extdata. A column that the file does not have is null. Returns 0,
 * or negative errno. */
int rread_query_open(struct rread_query *query, struct rread_load *load, const char *table,
		     const char *const *columns);

/* Goes to the next row. Returns 1, 0 after the last, or -EBADMSG with the message; then nothing is
 * left to close. */
int rread_query_next(struct rread_query *query);

/* Ends the query before its last row. */
void rread_query_close(struct rread_query *query);

/* Reads all rows of TABLE, with COLUMNS as above. READ takes one and returns 0 or negative
 * errno. */
int rread_table(struct rread_load *load, const char *table, const char *const *columns,
		int (*read)(struct rread_load *load, const struct rread_query *query));

/* The values of a row, by place in COLUMNS. Null is 0, and the empty text. */
int64_t rread_i64(const struct rread_query *query, int place);
uint32_t rread_u32(const struct rread_query *query, int place);
const char *rread_text(const struct rread_query *query, int place);
bool rread_is_null(const struct rread_query *query, int place);

/* The text interned in the trace's strings. */
trace_string rread_string(const struct rread_query *query, int place);

/* Puts SQLite's message into the error. Returns -EBADMSG, or -ENOMEM. */
int rread_fail(struct rread_load *load);

/* Notes that ID of the file is ROW. Returns 0 or -ENOMEM. */
int rread_ids_add(struct rread_ids *ids, int64_t id, uint32_t row);

/* The row of the id at PLACE; TRACE_NONE if it is null or unknown. */
uint32_t rread_find(const struct rread_query *query, int place, const struct rread_ids *ids);

/* Frees the memory; IDS is empty and usable again. */
void rread_ids_release(struct rread_ids *ids);

/* ---- parts ---- */

/* Reads what rows refer to, of one set of tables. */
int rread_places(struct rread_load *load);

/* Reads the rows of one set of tables. */
int rread_rows(struct rread_load *load);

/* Brings all rows into the order of the model and joins them. */
int rread_join(struct rread_load *load);

#endif
