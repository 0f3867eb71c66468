/* Indexes and views of a SQLite file (docs/format/sqlite.md). */
#ifndef DAGTAP_FORMAT_SQLITE_SCHEMA_H
#define DAGTAP_FORMAT_SQLITE_SCHEMA_H

/* Statements, one after the other, to run when the rows are in their tables. */
extern const char sqlite_indexes[];
extern const char sqlite_views[];

#endif
