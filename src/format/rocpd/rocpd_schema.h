/* The schema of rocpd, version 3.0.2: tables, and the views by which AMD's tools and people read
 * them (docs/format/rocpd.md). */
#ifndef DAGTAP_FORMAT_ROCPD_SCHEMA_H
#define DAGTAP_FORMAT_ROCPD_SCHEMA_H

#include "format/sqlite/sqlite_file.h"

#define ROCPD_GUID_CHARS 40

/* What the file is called inside: GUID is a UUID's text, SUFFIX what the names of tables end in. */
struct rocpd_names {
	char guid[ROCPD_GUID_CHARS], suffix[ROCPD_GUID_CHARS + 1];
};

/* Makes the tables, empty but for the metadata. Returns 0, or a negative errno. */
int rocpd_create_tables(struct sqlite_file *file, const struct rocpd_names *names);

/* Makes the views. Returns 0, or a negative errno. */
int rocpd_create_views(struct sqlite_file *file);

/* Prepares "insert into TABLE (COLUMNS) values (VALUES)". VALUES NULL: a parameter for each column.
 * The caller finalizes RET_STATEMENT. Returns 0, or a negative errno. */
int rocpd_prepare_insert(struct sqlite_file *file, const struct rocpd_names *names,
			 const char *table, const char *columns, const char *values,
			 sqlite3_stmt **ret_statement);

#endif
