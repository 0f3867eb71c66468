/* The SQLite writer: all tables of a trace (format/tables/tables.h) in one database
 * (docs/format/sqlite.md). Memory does not grow with the trace. */
#include <errno.h>
#include <string.h>

#include "format/format.h"
#include "format/sqlite/sqlite_file.h"
#include "format/sqlite/sqlite_schema.h"
#include "format/tables/tables.h"

#define SQL_CHARS 8192

struct database {
	struct sqlite_file *file;
	struct table_reader reader;
	const struct trace *trace;
};

static const char *type_of(const struct table_column *column)
{
	if (table_is_text(column))
		return "TEXT";
	return column->type == TABLE_DOUBLE ? "REAL" : "INTEGER";
}

/* Writes "create table" for TABLE to SQL. */
static void put_create(const struct table *table, char sql[SQL_CHARS])
{
	size_t used = (size_t)snprintf(sql, SQL_CHARS, "CREATE TABLE %s (", table->name);

	for (uint32_t i = 0; i < table->columns_count; i++)
		used += (size_t)snprintf(sql + used, SQL_CHARS - used, "%s\"%s\" %s", i ? ", " : "",
					 table->columns[i].name, type_of(&table->columns[i]));
	snprintf(sql + used, SQL_CHARS - used, ")");
}

/* Writes "insert" with a parameter for each column of TABLE to SQL. */
static void put_insert(const struct table *table, char sql[SQL_CHARS])
{
	size_t used = (size_t)snprintf(sql, SQL_CHARS, "INSERT INTO %s VALUES (", table->name);

	for (uint32_t i = 0; i < table->columns_count; i++)
		used += (size_t)snprintf(sql + used, SQL_CHARS - used, i ? ", ?" : "?");
	snprintf(sql + used, SQL_CHARS - used, ")");
}

static int bind_cell(struct database *database, sqlite3_stmt *insert, int place,
		     const struct table_column *column, const void *row)
{
	struct table_cell cell = table_read_cell(&database->reader, column, row);
	double value;

	if (!cell.is_known)
		return sqlite3_bind_null(insert, place);
	if (table_is_text(column))
		return sqlite_file_bind_text(database->file, insert, place,
					     column->text(&database->reader, cell.bits));
	if (column->type != TABLE_DOUBLE)
		return sqlite3_bind_int64(insert, place, (sqlite3_int64)cell.bits);
	memcpy(&value, &cell.bits, sizeof(value));
	return sqlite3_bind_double(insert, place, value);
}

static int insert_row(struct database *database, sqlite3_stmt *insert, const struct table *table,
		      const void *row)
{
	int result = SQLITE_OK;

	for (uint32_t i = 0; i < table->columns_count && result == SQLITE_OK; i++)
		result = bind_cell(database, insert, (int)i + 1, &table->columns[i], row);
	return sqlite_file_insert(database->file, insert, result);
}

static int insert_rows(struct database *database, const struct table *table)
{
	uint64_t count = table->count(database->trace);
	char sql[SQL_CHARS];
	sqlite3_stmt *insert;
	int err = 0;

	put_insert(table, sql);
	if (sqlite3_prepare_v2(database->file->sqlite, sql, -1, &insert, NULL) != SQLITE_OK)
		return sqlite_file_fail(database->file);
	for (uint64_t row = 0; row < count && err == 0; row++)
		err = insert_row(database, insert, table, table->row(&database->reader, row));
	sqlite3_finalize(insert);
	return err;
}

/* The tables dagtap and columns: versions, and the unit of each column. */
static int describe(struct database *database)
{
	const struct table *table;
	char sql[SQL_CHARS];
	int err;

	snprintf(sql, sizeof(sql),
		 "CREATE TABLE dagtap (key TEXT PRIMARY KEY, value TEXT);"
		 "INSERT INTO dagtap VALUES ('dagtap', '%s'), ('tables_version', '%d');"
		 "CREATE TABLE columns (table_name TEXT, column_name TEXT, unit TEXT)",
		 DAGTAP_VERSION, TABLES_VERSION);
	err = sqlite_file_run(database->file, sql);
	for (size_t t = 0; err == 0 && (table = table_at(t)); t++) {
		for (uint32_t i = 0; err == 0 && i < table->columns_count; i++) {
			const char *unit = table->columns[i].unit;

			snprintf(sql, sizeof(sql),
				 "INSERT INTO columns VALUES ('%s', '%s', nullif('%s', ''))",
				 table->name, table->columns[i].name, unit ? unit : "");
			err = sqlite_file_run(database->file, sql);
		}
	}
	return err;
}

static int fill(struct sqlite_file *file, void *context)
{
	struct database *database = context;
	const struct table *table;
	char sql[SQL_CHARS];
	int err;

	database->file = file;
	err = describe(database);
	for (size_t i = 0; err == 0 && (table = table_at(i)); i++) {
		put_create(table, sql);
		err = sqlite_file_run(file, sql);
		if (err == 0)
			err = insert_rows(database, table);
	}
	if (err == 0)
		err = sqlite_file_run(file, sqlite_indexes);
	return err == 0 ? sqlite_file_run(file, sqlite_views) : err;
}

static int write_sqlite(const struct trace *trace, FILE *out, const struct format_options *options,
			struct dagtap_error *error)
{
	struct database database = {.trace = trace};

	table_reader_init(&database.reader, trace);
	return sqlite_file_write(out, "sqlite", fill, &database, error);
}

const struct format format_sqlite = {
	.name = "sqlite",
	.extension = ".sqlite",
	.way = REPLACE_NAMED,
	.help = "a SQLite database of all tables, with views (docs/format/sqlite.md)",
	.write = write_sqlite,
};
