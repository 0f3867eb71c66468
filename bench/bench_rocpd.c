/*
 * Measures what writing the reference run as a rocpd database costs: CPU time of a process of its
 * own, with the trace loaded, file included. The floor is SQLite's own bulk insert of the same rows
 * into the same tables: prepared statements in one transaction without a journal, whose parameters
 * are the values of the rows that the export has written, held in memory by column.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "format/format.h"
#include "reference_floors.h"
#include "reference_input.h"
#include "reference_spool.h"
#include "trace/load.h"

#define RUNS	     3
#define PATH_MOST    512
#define SQL_MOST     4096
#define COLUMNS_MOST 32

static struct reference_input input = {.steps = REFERENCE_STEPS};

/* The tables that have nearly all rows. */
static const char *const tables[] = {"rocpd_event", "rocpd_region", "rocpd_kernel_dispatch",
				     "rocpd_memory_copy"};
#define TABLES (sizeof(tables) / sizeof(tables[0]))

struct report {
	int error;
	double rows, bytes, floor_rows;
	double seconds[RUNS], floor_seconds[RUNS];
};

struct work {
	const char *spool, *folder;
};

static double seconds_since(struct cpu_seconds begin)
{
	struct cpu_seconds seconds = cpu_since(begin);

	return cpu_sum(&seconds);
}

static int export_to(const struct trace *trace, const char *path, double *ret_bytes)
{
	struct dagtap_error error = {.message = ""};
	FILE *out = fopen(path, "w+");
	int code;

	if (!out)
		return -errno;
	code = format_rocpd.write(trace, out, NULL, &error);
	fseeko(out, 0, SEEK_END);
	*ret_bytes = (double)ftello(out);
	fclose(out);
	return code < 0 ? bench_fail(code, "%s", error.message) : 0;
}

/* A table's rows: its integers, row after row, without id and guid, which are not texts but for
 * extdata. */
struct floor_table {
	char insert[SQL_MOST];
	int columns;
	int64_t *values;
	uint64_t rows;
};

/* Makes the insert of a table and counts its integer columns. Texts are left to their defaults. */
static int describe(sqlite3 *from, const char *name, const char *suffix, struct floor_table *table,
		    char select[SQL_MOST])
{
	char sql[SQL_MOST], columns[SQL_MOST] = "id", marks[SQL_MOST] = "?";
	sqlite3_stmt *info;

	snprintf(sql, sizeof(sql), "pragma table_info(\"%s%s\")", name, suffix);
	if (sqlite3_prepare_v2(from, sql, -1, &info, NULL) != SQLITE_OK)
		return -EIO;
	table->columns = 1;
	while (sqlite3_step(info) == SQLITE_ROW) {
		const char *column = (const char *)sqlite3_column_text(info, 1);
		const char *type = (const char *)sqlite3_column_text(info, 2);

		if (!strcmp(column, "id") || !strcmp(type, "TEXT") || !strcmp(type, "JSONB"))
			continue;
		snprintf(columns + strlen(columns), SQL_MOST - strlen(columns), ", \"%s\"", column);
		snprintf(marks + strlen(marks), SQL_MOST - strlen(marks), ", ?");
		table->columns++;
	}
	sqlite3_finalize(info);
	snprintf(table->insert, SQL_MOST, "insert into \"%s%s\" (%.1500s) values (%.500s)", name,
		 suffix, columns, marks);
	snprintf(select, SQL_MOST, "select %.1500s from \"%s%s\"", columns, name, suffix);
	return 0;
}

/* Reads the rows of a table. */
static int read_rows(sqlite3 *from, const char *select, struct floor_table *table)
{
	size_t room = 0;
	sqlite3_stmt *rows;

	if (sqlite3_prepare_v2(from, select, -1, &rows, NULL) != SQLITE_OK)
		return -EIO;
	while (sqlite3_step(rows) == SQLITE_ROW) {
		size_t at = table->rows++ * (size_t)table->columns;

		if (at + COLUMNS_MOST > room) {
			room = 2 * (at + COLUMNS_MOST);
			table->values = realloc(table->values, room * sizeof(*table->values));
			if (!table->values)
				abort();
		}
		for (int i = 0; i < table->columns; i++)
			table->values[at + (size_t)i] = sqlite3_column_int64(rows, i);
	}
	return sqlite3_finalize(rows) == SQLITE_OK ? 0 : -EIO;
}

static int insert_rows(sqlite3 *to, const struct floor_table *table)
{
	sqlite3_stmt *insert;

	if (sqlite3_prepare_v2(to, table->insert, -1, &insert, NULL) != SQLITE_OK)
		return -EIO;
	for (uint64_t row = 0; row < table->rows; row++) {
		const int64_t *values = table->values + row * (size_t)table->columns;

		for (int i = 0; i < table->columns; i++)
			sqlite3_bind_int64(insert, i + 1, values[i]);
		sqlite3_step(insert);
		sqlite3_reset(insert);
	}
	return sqlite3_finalize(insert) == SQLITE_OK ? 0 : -EIO;
}

/* Makes the tables of FROM at PATH, and measures the inserts of their rows. */
static int measure_inserts(sqlite3 *from, const char *path, const struct floor_table *floors,
			   double *ret_seconds)
{
	sqlite3_stmt *schema;
	sqlite3 *to;
	struct cpu_seconds begin;
	int err = 0;

	unlink(path);
	if (sqlite3_open(path, &to) != SQLITE_OK ||
	    sqlite3_prepare_v2(from,
			       "select sql from sqlite_master where type = 'table' and "
			       "name like 'rocpd%'",
			       -1, &schema, NULL) != SQLITE_OK)
		return -EIO;
	begin = cpu_now();
	sqlite3_exec(to, "pragma journal_mode = off; pragma synchronous = off; begin", NULL, NULL,
		     NULL);
	while (sqlite3_step(schema) == SQLITE_ROW)
		sqlite3_exec(to, (const char *)sqlite3_column_text(schema, 0), NULL, NULL, NULL);
	sqlite3_finalize(schema);
	for (size_t i = 0; i < TABLES && !err; i++)
		err = insert_rows(to, &floors[i]);
	if (sqlite3_exec(to, "commit", NULL, NULL, NULL) != SQLITE_OK)
		err = -EIO;
	sqlite3_close(to);
	*ret_seconds = seconds_since(begin);
	unlink(path);
	return err;
}

static int measure_floor(const char *path, const char *other, struct report *report)
{
	struct floor_table floors[TABLES] = {{.rows = 0}};
	char suffix[64] = "", select[SQL_MOST];
	sqlite3_stmt *meta;
	sqlite3 *from;
	int err = 0;

	if (sqlite3_open_v2(path, &from, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(from, "select value from rocpd_metadata where tag = 'uuid'", -1,
			       &meta, NULL) != SQLITE_OK)
		return -EIO;
	if (sqlite3_step(meta) == SQLITE_ROW)
		snprintf(suffix, sizeof(suffix), "%s", sqlite3_column_text(meta, 0));
	sqlite3_finalize(meta);
	for (size_t i = 0; i < TABLES && !err; i++) {
		err = describe(from, tables[i], suffix, &floors[i], select);
		if (!err)
			err = read_rows(from, select, &floors[i]);
		report->floor_rows += (double)floors[i].rows;
	}
	for (int i = 0; i < RUNS && !err; i++)
		err = measure_inserts(from, other, floors, &report->floor_seconds[i]);
	sqlite3_close(from);
	for (size_t i = 0; i < TABLES; i++)
		free(floors[i].values);
	return err;
}

static void measure(const void *context, void *ret_report)
{
	const struct work *work = context;
	struct report *report = ret_report;
	struct trace_options brief = {.is_brief = true, .without_waits = true};
	char path[PATH_MOST], other[PATH_MOST];
	struct dagtap_error error;
	struct trace *trace;

	snprintf(path, sizeof(path), "%s/run.db", work->folder);
	snprintf(other, sizeof(other), "%s/floor.db", work->folder);
	report->error = trace_open(work->spool, &brief, &trace, &error);
	if (report->error < 0) {
		fprintf(stderr, "dagtap-bench: %s\n", error.message);
		return;
	}
	report->rows = (double)trace->activities_count + trace->calls_count + trace->scopes_count;
	for (int i = 0; i < RUNS && report->error >= 0; i++) {
		struct cpu_seconds begin = cpu_now();

		report->error = export_to(trace, path, &report->bytes);
		report->seconds[i] = seconds_since(begin);
	}
	trace_close(trace);
	if (report->error >= 0)
		report->error = measure_floor(path, other, report);
	unlink(path);
}

static int measure_spool(const char *spool, const char *folder, struct bench_result *result)
{
	struct work work = {spool, folder};
	struct report report = {0};
	int error = run_alone("load and write", measure, &work, &report, sizeof(report));
	double seconds, floor;

	if (error)
		return error;
	seconds = bench_median(report.seconds, RUNS);
	floor = bench_median(report.floor_seconds, RUNS);
	bench_add(result, "rows", "n", report.rows, "activities, calls and scopes");
	bench_add(result, "output", "MB", report.bytes / 1e6, "the database");
	bench_add(result, "write", "s", seconds, "CPU, the trace loaded");
	bench_add(result, "table_rows", "n", report.floor_rows, "each with an event of its own");
	bench_add(result, "rate", "rows/s", report.floor_rows / seconds,
		  "of these tables' rows; AMD's writer: 204,000 to 294,000");
	bench_add(result, "floor", "s", floor, "floor: SQLite's inserts of the same integers");
	bench_add(result, "of_floor", "", floor / seconds, "at least 0.7 is the goal");
	return 0;
}

static int run(struct bench_result *ret_result)
{
	return reference_input_use(&input, measure_spool, ret_result);
}

static int take(int argc, char **argv)
{
	return reference_input_take(&input, argc, argv);
}

const struct bench bench_rocpd = {
	.name = "rocpd",
	.help = "writing a run of 8.5 million events as a rocpd database",
	.options = REFERENCE_INPUT_HELP,
	.run = run,
	.take = take,
};
