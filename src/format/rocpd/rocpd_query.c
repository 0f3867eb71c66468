/* Queries of a rocpd file (see rocpd_reader_load.h). A file may be of an older version, so columns
 * are asked for by name; and it may be damaged, so nothing is expected to be there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "format/rocpd/rocpd_reader_load.h"

#define TABLE_CHARS 256

int rread_fail(struct rread_load *load)
{
	if (sqlite3_errcode(load->sqlite) == SQLITE_NOMEM)
		return -ENOMEM;
	return dagtap_error_set(load->error, -EBADMSG, "%s: SQLite: %s", load->name,
				sqlite3_errmsg(load->sqlite));
}

/* Whether TABLE is a table, no view, and has the column. */
static bool has_column(const struct rread_load *load, const char *table, const char *column)
{
	return sqlite3_table_column_metadata(load->sqlite, "main", table, column, NULL, NULL, NULL,
					     NULL, NULL) == SQLITE_OK;
}

/* Appends the expression for COLUMN, which is in TABLE or in its EVENTS. */
static void put_column(const struct rread_load *load, sqlite3_str *sql, const char *column,
		       const char *table, const char *events)
{
	bool is_event = column[0] == 'E' && (column[1] == '.' || column[1] == '$');
	const char *key = is_event ? column + 1 + (column[1] == '.') : column;
	const char *from = is_event ? "E" : "T";
	const char *holder = is_event ? events : table;
	bool is_json = key[0] == '$';

	if (!has_column(load, holder, is_json ? "extdata" : key))
		sqlite3_str_appendall(sql, "NULL");
	else if (is_json)
		sqlite3_str_appendf(sql,
				    "CASE WHEN json_valid(%s.extdata) THEN "
				    "json_extract(%s.extdata, '%s') END",
				    from, from, key);
	else
		sqlite3_str_appendf(sql, "%s.\"%w\"", from, key);
}

static char *make_sql(const struct rread_load *load, const char *table, const char *events,
		      const char *const *columns)
{
	sqlite3_str *sql = sqlite3_str_new(load->sqlite);
	bool has_events = has_column(load, events, "id") && has_column(load, table, "event_id");

	sqlite3_str_appendall(sql, "SELECT ");
	for (int i = 0; columns[i]; i++) {
		if (i)
			sqlite3_str_appendall(sql, ", ");
		put_column(load, sql, columns[i], table, has_events ? events : "");
	}
	sqlite3_str_appendf(sql, " FROM \"%w\" T", table);
	if (has_events)
		sqlite3_str_appendf(sql, " LEFT JOIN \"%w\" E ON E.id = T.event_id", events);
	return sqlite3_str_finish(sql);
}

int rread_query_open(struct rread_query *query, struct rread_load *load, const char *table,
		     const char *const *columns)
{
	char name[TABLE_CHARS], events[TABLE_CHARS];
	char *sql;
	int err = 0;

	*query = (struct rread_query){.load = load};
	snprintf(name, sizeof(name), "%s%s", table, load->suffix);
	snprintf(events, sizeof(events), "rocpd_event%s", load->suffix);
	if (!has_column(load, name, "id"))
		return 0;
	sql = make_sql(load, name, events, columns);
	if (!sql)
		return -ENOMEM;
	if (sqlite3_prepare_v2(load->sqlite, sql, -1, &query->statement, NULL) != SQLITE_OK)
		err = rread_fail(load);
	sqlite3_free(sql);
	return err;
}

void rread_query_close(struct rread_query *query)
{
	sqlite3_finalize(query->statement);
	query->statement = NULL;
}

int rread_query_next(struct rread_query *query)
{
	int err = 0;

	if (query->statement) {
		int result = sqlite3_step(query->statement);

		if (result == SQLITE_ROW)
			return 1;
		if (result != SQLITE_DONE)
			err = rread_fail(query->load);
	}
	rread_query_close(query);
	return err;
}

int64_t rread_i64(const struct rread_query *query, int place)
{
	return sqlite3_column_int64(query->statement, place);
}

uint32_t rread_u32(const struct rread_query *query, int place)
{
	return (uint32_t)rread_i64(query, place);
}

const char *rread_text(const struct rread_query *query, int place)
{
	const char *text = (const char *)sqlite3_column_text(query->statement, place);

	return text ? text : "";
}

bool rread_is_null(const struct rread_query *query, int place)
{
	return sqlite3_column_type(query->statement, place) == SQLITE_NULL;
}

trace_string rread_string(const struct rread_query *query, int place)
{
	return strtab_intern_z(query->load->import.strings, rread_text(query, place));
}

int rread_ids_add(struct rread_ids *ids, int64_t id, uint32_t row)
{
	uint32_t *added;
	int64_t number = numbers_row(&ids->numbers, 0, (uint64_t)id, (void **)&ids->rows,
				     &ids->count, sizeof(*ids->rows), (void **)&added);

	if (added)
		*added = row;
	return number < 0 ? -ENOMEM : 0;
}

uint32_t rread_find(const struct rread_query *query, int place, const struct rread_ids *ids)
{
	uint32_t number =
		rread_is_null(query, place)
			? NUMBERS_NONE
			: numbers_find(&ids->numbers, 0, (uint64_t)rread_i64(query, place));

	return number == NUMBERS_NONE ? TRACE_NONE : ids->rows[number];
}

void rread_ids_release(struct rread_ids *ids)
{
	numbers_release(&ids->numbers);
	free(ids->rows);
	*ids = (struct rread_ids){.count = 0};
}

int rread_table(struct rread_load *load, const char *table, const char *const *columns,
		int (*read)(struct rread_load *load, const struct rread_query *query))
{
	struct rread_query query;
	int err = rread_query_open(&query, load, table, columns);

	while (err == 0 && (err = rread_query_next(&query)) > 0)
		err = read(load, &query);
	rread_query_close(&query);
	return err;
}
