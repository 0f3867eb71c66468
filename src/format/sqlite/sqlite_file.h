/* The way into SQLite that writers share: where the database is made, and how its rows get in.
 *
 * A database is made in the output file itself, which has a temporary name until it is complete. If
 * the output is a pipe or is compressed, SQLite cannot seek in it; the database is then made in a
 * file of TMPDIR, which has no name any more, and is copied.
 *
 * Threading: a struct sqlite_file belongs to one thread. */
#ifndef DAGTAP_FORMAT_SQLITE_FILE_H
#define DAGTAP_FORMAT_SQLITE_FILE_H

#include <sqlite3.h>
#include <stdio.h>

#include "format/tables/tables.h"

struct sqlite_file {
	sqlite3 *sqlite;
	const char *name; /* of the format, for messages */
	struct table_buffer clean;
	struct dagtap_error *error;
};

/* Writes a database to OUT: FILL(file, CONTEXT) makes its tables, within one transaction, and
 * returns 0 or negative errno with a line in file->error. NAME is the format's. Returns 0, or
 * negative errno with one line in ERROR. */
int sqlite_file_write(FILE *out, const char *name,
		      int (*fill)(struct sqlite_file *file, void *context), void *context,
		      struct dagtap_error *error);

/* SQLite's last message as an error: returns a negative errno. */
int sqlite_file_fail(struct sqlite_file *file);

/* Runs STATEMENTS, one after the other. Returns 0 or a negative errno. */
int sqlite_file_run(struct sqlite_file *file, const char *statements);

/* Binds TEXT as UTF-8 to the parameter at PLACE, from 1; "" is null. TEXT is copied.
 * Returns SQLite's result. */
int sqlite_file_bind_text(struct sqlite_file *file, sqlite3_stmt *statement, int place,
			  const char *text);

/* Inserts a row of which all parameters are bound; STATEMENT may be used again. RESULT is the
 * result of binding. Returns 0 or a negative errno. */
int sqlite_file_insert(struct sqlite_file *file, sqlite3_stmt *statement, int result);

#endif
