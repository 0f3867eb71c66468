/* Opens a rocpd file and reads its sets of tables (see rocpd_reader.h). */
#include "format/rocpd/rocpd_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "format/rocpd/rocpd_reader_load.h"

#define MAGIC	      "SQLite format 3"
#define HEADER_BYTES  100
#define WRITE_VERSION 18 /* offset in the header; the read version follows */
#define ROLLBACK      1	 /* the version of a file without a write-ahead log */
#define SUFFIX_CHARS  128

bool rocpd_is_likely(const struct read_file *file)
{
	return file->size >= HEADER_BYTES && memcmp(file->bytes, MAGIC, sizeof(MAGIC)) == 0;
}

/* Opens the bytes as a database. If the file was written with a write-ahead log, a copy without
 * that mark is opened; what is in the log alone is not read. */
static int open_bytes(struct rread_load *load, const struct read_file *file)
{
	const unsigned char *bytes = file->bytes;
	unsigned flags = SQLITE_DESERIALIZE_READONLY;
	unsigned char *opened = (unsigned char *)bytes;

	if (!rocpd_is_likely(file))
		return dagtap_error_set(load->error, -EBADMSG, "%s: no SQLite database",
					load->name);
	if (sqlite3_open_v2(":memory:", &load->sqlite, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		return rread_fail(load);
	if (bytes[WRITE_VERSION] != ROLLBACK) {
		opened = sqlite3_malloc64(file->size);
		if (!opened)
			return -ENOMEM;
		memcpy(opened, bytes, file->size);
		opened[WRITE_VERSION] = opened[WRITE_VERSION + 1] = ROLLBACK;
		flags |= SQLITE_DESERIALIZE_FREEONCLOSE;
	}
	/* The schema is the file's, so nothing in it may be run. */
	sqlite3_db_config(load->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(load->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (sqlite3_deserialize(load->sqlite, "main", opened, (sqlite3_int64)file->size,
				(sqlite3_int64)file->size, flags) != SQLITE_OK)
		return rread_fail(load);
	return 0;
}

/* The value of TAG in the metadata of the set. TEXT stays "" if there is none. */
static int read_tag(struct rread_load *load, const char *tag, char text[SUFFIX_CHARS])
{
	static const char *const columns[] = {"tag", "value", NULL};
	struct rread_query query;
	int err = rread_query_open(&query, load, "rocpd_metadata", columns);

	text[0] = '\0';
	while (err == 0 && (err = rread_query_next(&query)) > 0) {
		if (strcmp(rread_text(&query, 0), tag) == 0)
			snprintf(text, SUFFIX_CHARS, "%s", rread_text(&query, 1));
		err = 0;
	}
	return err;
}

/* Refuses the versions whose tables are others. */
static int check_version(struct rread_load *load)
{
	char version[SUFFIX_CHARS] = "", ours[SUFFIX_CHARS] = "";
	int err = read_tag(load, "schema_version", version);

	if (err == 0)
		err = read_tag(load, "dagtap", ours);
	if (err < 0)
		return err;
	load->is_ours = ours[0] != '\0';
	if (version[0] == '3' && (version[1] == '.' || version[1] == '\0'))
		return 0;
	return dagtap_error_set(load->error, -EBADMSG,
				version[0] ? "%s: rocpd of version %s; 3 can be read"
					   : "%s: rocpd without a version",
				load->name, version);
}

static void release_ids(struct rread_load *load)
{
	struct rread_ids *ids[] = {&load->strings, &load->hosts,  &load->processes, &load->threads,
				   &load->agents,  &load->queues, &load->streams,   &load->symbols};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		rread_ids_release(ids[i]);
}

static int read_set(struct rread_load *load, const char *suffix)
{
	int err;

	load->suffix = suffix;
	err = check_version(load);
	if (err == 0)
		err = rread_places(load);
	if (err == 0)
		err = rread_rows(load);
	release_ids(load);
	return err;
}

/* Reads each set of tables. A set has a table of processes. */
static int read_sets(struct rread_load *load)
{
	static const char sql[] =
		"SELECT substr(name, length('rocpd_info_process') + 1) FROM sqlite_master"
		" WHERE type = 'table' AND name LIKE 'rocpd\\_info\\_process%' ESCAPE '\\'"
		" ORDER BY name";
	struct rread_query query = {.load = load};
	char suffix[SUFFIX_CHARS];
	uint32_t sets = 0;
	int err = 0;

	if (sqlite3_prepare_v2(load->sqlite, sql, -1, &query.statement, NULL) != SQLITE_OK)
		return rread_fail(load);
	while (err == 0 && (err = rread_query_next(&query)) > 0) {
		sets++;
		snprintf(suffix, sizeof(suffix), "%s", rread_text(&query, 0));
		err = read_set(load, suffix);
	}
	rread_query_close(&query);
	if (err == 0 && sets == 0)
		err = dagtap_error_set(load->error, -EBADMSG,
				       "%s: a SQLite database, but not of rocpd", load->name);
	return err;
}

static const char *const left_out_texts[] = {
#define X(name, text) [RREAD_LEFT_OUT_##name] = (text),
	RREAD_LEFT_OUT(X)
#undef X
};

static int conclude(struct rread_load *load)
{
	int err;

	import_process_times(&load->import);
	err = import_sources(&load->import, "rocpd",
			     "the file has no count of what should be in it: nothing says whether "
			     "rows are missing");
	return err ? err
		   : import_tell_left_out(&load->import, load->left_out, left_out_texts,
					  RREAD_LEFT_OUT_COUNT);
}

static int fill(struct rread_load *load, const struct read_file *file)
{
	int err = open_bytes(load, file);

	if (err == 0)
		err = read_sets(load);
	/* with a lost text, no text of the model can be trusted */
	if (err == 0 && load->import.strings->failed)
		err = -ENOMEM;
	if (err == 0)
		err = rread_join(load);
	return err == 0 ? conclude(load) : err;
}

int rocpd_open(const struct read_file *file, const struct trace_options *options,
	       struct trace **ret_trace, struct dagtap_error *error)
{
	struct rread_load load = {.name = file->name, .error = error};
	int err = import_begin(&load.import);

	if (err == 0)
		err = fill(&load, file);
	sqlite3_close(load.sqlite);
	release_ids(&load);
	free(load.symbol_rows);
	free(load.stream_counts);
	free(load.launches);
	return import_end(&load.import, err, file->name, ret_trace, error);
}
