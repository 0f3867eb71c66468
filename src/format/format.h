/* The formats that a trace can be exported to. Each format is one constant struct format; formats.c
 * holds the table of all, and format.c the lookups in one format's tables, which writers use too.
 * The CLI prints its help from the table.
 *
 * Threading: the tables are constant. A writer runs on the calling thread; it only reads the
 * trace, so several writers may run on one trace at the same time. */
#ifndef DAGTAP_FORMAT_FORMAT_H
#define DAGTAP_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error_text.h"
#include "base/replace.h"
#include "trace/trace_model.h"

/* The number by which a reader knows a thread. */
struct format_thread {
	uint32_t tid;
	uint64_t id;
};

struct read_file;

struct format_options {
	const char *table; /* which of the format's tables to write; NULL = the first */
	/* which of the format's compats, the consumer to write for; NULL = any consumer */
	const char *compat;
	/* of xspace for "pjrt": the ids of threads' lines, where they are not the tids */
	const struct format_thread *threads;
	size_t threads_count;
	/* for a format with has_with: a profile that XLA's profiler wrote of the same program, to
	 * be joined with the trace (format/read.h); or NULL */
	const struct read_file *with;
	/* for a format with has_rank: the distributed rank of the recorded program */
	uint32_t rank;

	/* Opens the file for part NUMBER (2, 3, ...) of an output that is too large for one file.
	 * NULL: the caller can take only one file, OUT. The file stays the caller's. Returns 0 or
	 * negative errno. CONTEXT is passed back unchanged. */
	int (*open_part)(void *context, uint32_t number, FILE **ret_out);
	void *context;
};

struct format_table {
	const char *name;
	const char *help;
};

struct format {
	const char *name;
	const char *extension; /* with the dot: ".csv" */
	enum replace_way way;  /* whether the writer needs a file with a name */
	const char *help;
	/* ends with an entry whose name is NULL; NULL = the format has only one table */
	const struct format_table *tables;

	/* consumers that need a variant of the format; same layout as tables */
	const struct format_table *compats;
	bool has_rank; /* options.rank is used */
	bool has_with; /* options.with is used */

	/* The format writes neither call arguments nor raw ticks, so the loader may skip them
	 * (trace_options.is_brief). */
	bool is_brief;
	bool without_waits; /* nor events and waits (trace_options.without_waits) */

	/* Writes all of TRACE to OUT. OUT stays the caller's and is not flushed. The same trace
	 * and options always give the same bytes. OPTIONS may be NULL: all defaults. Returns 0, or
	 * negative errno with one line in ERROR. */
	int (*write)(const struct trace *trace, FILE *out, const struct format_options *options,
		     struct dagtap_error *error);

	/* Of a format whose output is a folder, instead of `write`: writes all of TRACE into the
	 * empty folder PATH. folder_write (format/folder.h) calls it. */
	int (*write_folder)(const struct trace *trace, const char *path,
			    const struct format_options *options, struct dagtap_error *error);
	const char *folder_mark; /* a file that each such folder has */
};

/* The format at INDEX, from 0, in the order of the help; NULL after the last. */
const struct format *format_at(size_t index);

/* The format called NAME; NULL if there is none. */
const struct format *format_find(const char *name);

/* The entry called NAME in a format's tables or compats. TABLES may be NULL. NULL if there is
 * none. */
const struct format_table *format_find_row(const struct format_table *tables, const char *name);

/* The entry called NAME among FORMAT's tables; NULL if there is none. */
const struct format_table *format_find_table(const struct format *format, const char *name);

extern const struct format format_perfetto;
extern const struct format format_perfetto_events;
extern const struct format format_csv;
extern const struct format format_arrow;
extern const struct format format_sqlite;
extern const struct format format_otf2;
extern const struct format format_parquet; /* write refuses: cli/parquet_filter.h */
extern const struct format format_rocpd;
extern const struct format format_xspace;
extern const struct format format_kineto;

#endif
