/* Opens any trace file that a command is given: a recording of dagtap or another tool's trace. The
 * readers for other tools' formats are one table, from which the CLI prints its help.
 *
 * Threading: any thread; each call is independent of all others. */
#ifndef DAGTAP_FORMAT_READ_H
#define DAGTAP_FORMAT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/load.h"

/* A whole file in memory. */
struct read_file {
	const char *name; /* its path: for messages, and for its extension */
	const void *bytes;
	size_t size;
};

struct read_format {
	const char *name;
	const char *extension; /* with the dot: ".json" */
	const char *help;

	/* Guesses the format from the first bytes of a file that is not empty. */
	bool (*is_likely)(const struct read_file *file);

	/* Reads the file into a new trace, which the caller closes with trace_close. The file's
	 * bytes must stay valid until this call returns; the trace does not refer to them. OPTIONS
	 * may be NULL. Returns 0, or negative errno with one line in ERROR that names file, offset
	 * and cause. */
	int (*open)(const struct read_file *file, const struct trace_options *options,
		    struct trace **ret_trace, struct dagtap_error *error);
};

/* The reader at INDEX, from 0, in the order in which read_open tries them; NULL after the last.
 * dagtap's own formats are not in this table. */
const struct read_format *read_format_at(size_t index);

/* Maps the file. `bytes` is NULL if it cannot be opened or mapped, or is empty. The caller releases
 * it with read_unmap. PATH must outlive the result. */
struct read_file read_map(const char *path);
void read_unmap(const struct read_file *file);

/* Like trace_open, for all formats. A file is given to the first reader whose extension it has or
 * whose is_likely accepts it, and to trace_open if there is none. The file is mapped, not
 * copied. */
int read_open(const char *path, const struct trace_options *options, struct trace **ret_trace,
	      struct dagtap_error *error);

#endif
