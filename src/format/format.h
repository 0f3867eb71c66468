/* The formats that a trace can be written in: one table, from which the help is printed too. */
#ifndef DAGTAP_FORMAT_FORMAT_H
#define DAGTAP_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "trace/model.h"

struct format_options {
	const char *table;  /* of a format that has several; NULL = its first */
	const char *compat; /* of a format that has such: the reader it is for; NULL = any */
	uint32_t rank;	    /* of a format that has_rank: the recorded program's among others */

	/* Where what does not fit into one file goes on: gives the file of part NUMBER, from 2. NULL
	 * = there is only OUT. 0 or negative errno. */
	int (*open_part)(void *context, uint32_t number, FILE **ret_out);
	void *context;
};

struct format_table {
	const char *name;
	const char *help;
};

struct format {
	const char *name;
	const char *extension; /* with the dot */
	const char *help;
	const struct format_table
		*tables; /* up to one without a name; NULL = the format has none */

	const struct format_table *compats; /* the same: readers that want it otherwise */
	bool has_rank;

	bool is_brief; /* writes neither arguments of calls nor raw ticks: none need be loaded */
	bool without_waits; /* nor events and waits */

	/* Writes all of TRACE to OUT, which stays the caller's and is not flushed. The same trace
	 * gives the same bytes. 0, or negative errno with a line in ERROR. */
	int (*write)(const struct trace *trace, FILE *out, const struct format_options *options,
		     struct dagtap_error *error);
};

/* In the order of the help; NULL behind the last. */
const struct format *format_at(size_t index);

/* NULL if there is none. */
const struct format *format_find(const char *name);

/* A row of TABLES, which may be NULL: a format's tables or compats. NULL if there is none. */
const struct format_table *format_find_row(const struct format_table *tables, const char *name);

/* NULL if FORMAT has no such table. */
const struct format_table *format_find_table(const struct format *format, const char *name);

extern const struct format format_perfetto;
extern const struct format format_perfetto_events;
extern const struct format format_csv;
extern const struct format format_xspace;
extern const struct format format_kineto;

#endif
