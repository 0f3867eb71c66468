/* The SQLite writer: all tables of a trace (format/tables/tables.h) in one database
 * (docs/format/sqlite.md).
 *
 * SQLite writes to a file that it can seek in, and the output may be a pipe or be compressed. So
 * the database is made in a temporary file, which is then copied. Memory does not grow with the
 * trace. */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/format.h"
#include "format/sqlite/sqlite_schema.h"
#include "format/tables/tables.h"

#define PATH_CHARS 4096
#define SQL_CHARS  8192
#define COPY_BYTES (1 << 18)

struct database {
	sqlite3 *sqlite;
	struct table_reader reader;
	struct table_buffer clean;
	const struct trace *trace;
	struct dagtap_error *error;
};

/* SQLite's message and a negative errno. */
static int fail(struct database *database)
{
	int err = sqlite3_system_errno(database->sqlite);

	switch (sqlite3_errcode(database->sqlite)) {
	case SQLITE_NOMEM:
		err = ENOMEM;
		break;
	case SQLITE_FULL:
		err = ENOSPC;
		break;
	default:
		break;
	}
	return dagtap_error_set(database->error, err ? -err : -EIO, "sqlite: %s",
				sqlite3_errmsg(database->sqlite));
}

static int run(struct database *database, const char *statements)
{
	if (sqlite3_exec(database->sqlite, statements, NULL, NULL, NULL) != SQLITE_OK)
		return fail(database);
	return 0;
}

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

static int bind_text(struct database *database, sqlite3_stmt *insert, int place, const char *text)
{
	text = table_utf8(text, &database->clean);
	if (!text)
		return SQLITE_NOMEM;
	if (!*text)
		return sqlite3_bind_null(insert, place);
	return sqlite3_bind_text(insert, place, text, -1, SQLITE_TRANSIENT);
}

static int bind_cell(struct database *database, sqlite3_stmt *insert, int place,
		     const struct table_column *column, const void *row)
{
	struct table_cell cell = column->read(&database->reader, row, column->field);
	double value;

	if (!cell.is_known)
		return sqlite3_bind_null(insert, place);
	if (table_is_text(column))
		return bind_text(database, insert, place,
				 column->text(&database->reader, cell.bits));
	if (column->type != TABLE_DOUBLE)
		return sqlite3_bind_int64(insert, place, (sqlite3_int64)cell.bits);
	memcpy(&value, &cell.bits, sizeof(value));
	return sqlite3_bind_double(insert, place, value);
}

static int insert_row(struct database *database, sqlite3_stmt *insert, const struct table *table,
		      const void *row)
{
	for (uint32_t i = 0; i < table->columns_count; i++) {
		int result = bind_cell(database, insert, (int)i + 1, &table->columns[i], row);

		if (result == SQLITE_NOMEM)
			return dagtap_error_set(database->error, -ENOMEM, "sqlite: out of memory");
		if (result != SQLITE_OK)
			return fail(database);
	}
	sqlite3_step(insert);
	return sqlite3_reset(insert) == SQLITE_OK ? 0 : fail(database);
}

static int insert_rows(struct database *database, const struct table *table)
{
	uint64_t count = table->count(database->trace);
	char sql[SQL_CHARS];
	sqlite3_stmt *insert;
	int err = 0;

	put_insert(table, sql);
	if (sqlite3_prepare_v2(database->sqlite, sql, -1, &insert, NULL) != SQLITE_OK)
		return fail(database);
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
	err = run(database, sql);
	for (size_t t = 0; err == 0 && (table = table_at(t)); t++) {
		for (uint32_t i = 0; err == 0 && i < table->columns_count; i++) {
			const char *unit = table->columns[i].unit;

			snprintf(sql, sizeof(sql),
				 "INSERT INTO columns VALUES ('%s', '%s', nullif('%s', ''))",
				 table->name, table->columns[i].name, unit ? unit : "");
			err = run(database, sql);
		}
	}
	return err;
}

static int fill(struct database *database)
{
	const struct table *table;
	char sql[SQL_CHARS];
	/* The file is nobody else's and is thrown away on failure: no journal, no locks. */
	int err = run(database, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
				"PRAGMA locking_mode = EXCLUSIVE; BEGIN");

	if (err == 0)
		err = describe(database);
	for (size_t i = 0; err == 0 && (table = table_at(i)); i++) {
		put_create(table, sql);
		err = run(database, sql);
		if (err == 0)
			err = insert_rows(database, table);
	}
	if (err == 0)
		err = run(database, sqlite_indexes);
	if (err == 0)
		err = run(database, sqlite_views);
	return err == 0 ? run(database, "COMMIT") : err;
}

/* Makes the database in the file PATH, which is there and empty. */
static int make_database(const struct trace *trace, const char *path, struct dagtap_error *error)
{
	struct database database = {.trace = trace, .error = error};
	int err;

	table_reader_init(&database.reader, trace);
	if (sqlite3_open_v2(path, &database.sqlite, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK)
		err = fill(&database);
	else
		err = fail(&database);
	free(database.clean.text);
	/* The file is complete only if this succeeds. */
	if (sqlite3_close(database.sqlite) != SQLITE_OK && err == 0)
		err = dagtap_error_set(error, -EIO, "sqlite: cannot close the database");
	return err;
}

static int copy_file(int fd, FILE *out, struct dagtap_error *error)
{
	char *buffer = malloc(COPY_BYTES);
	ssize_t bytes;

	if (!buffer)
		return dagtap_error_set(error, -ENOMEM, "sqlite: out of memory");
	errno = 0;
	while ((bytes = read(fd, buffer, COPY_BYTES)) > 0 && !ferror(out))
		fwrite(buffer, 1, (size_t)bytes, out);
	free(buffer);
	if (bytes < 0 || ferror(out))
		return dagtap_error_set(error, errno ? -errno : -EIO, "sqlite: %s",
					strerror(errno ? errno : EIO));
	return 0;
}

static int write_sqlite(const struct trace *trace, FILE *out, const struct format_options *options,
			struct dagtap_error *error)
{
	const char *folder = getenv("TMPDIR");
	char path[PATH_CHARS];
	int err, fd;

	snprintf(path, sizeof(path), "%s/dagtap-sqlite-XXXXXX",
		 folder && *folder ? folder : "/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return dagtap_error_set(error, -errno, "sqlite: %s: %s", path, strerror(errno));
	err = make_database(trace, path, error);
	unlink(path);
	if (err == 0)
		err = copy_file(fd, out, error);
	close(fd);
	return err;
}

const struct format format_sqlite = {
	.name = "sqlite",
	.extension = ".sqlite",
	.help = "a SQLite database of all tables, with views (docs/format/sqlite.md)",
	.write = write_sqlite,
};
