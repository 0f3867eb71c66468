/* Opening whatever file a command is given: a recording, or another tool's trace. One table of
 * readers, from which the help is printed too. */
#ifndef DAGTAP_FORMAT_READ_H
#define DAGTAP_FORMAT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/load.h"

/* A file in memory. NAME is for messages alone. */
struct read_file {
	const char *name;
	const void *bytes;
	size_t size;
};

struct read_format {
	const char *name;
	const char *extension; /* with the dot */
	const char *help;

	/* By the first fields of a file that is not empty. */
	bool (*is_likely)(const struct read_file *file);

	/* The bytes must stay until this returns. OPTIONS may be NULL. 0, or -errno with one line in
	 * ERROR naming file, offset and cause. */
	int (*open)(const struct read_file *file, const struct trace_options *options,
		    struct trace **ret_trace, struct dagtap_error *error);
};

/* The formats besides our own, in the order in which they are tried; NULL behind the last. */
const struct read_format *read_format_at(size_t index);

/* trace_open, for all formats: a file with one's extension is taken for one. */
int read_open(const char *path, const struct trace_options *options, struct trace **ret_trace,
	      struct dagtap_error *error);

#endif
