/* Reads an XSpace (.xplane.pb), XLA's or dagtap's, into the model. docs/format/xspace.md,
 * "Reading", describes the mapping. Both functions are entries of the table in format/read.c. */
#ifndef DAGTAP_FORMAT_XSPACE_READER_H
#define DAGTAP_FORMAT_XSPACE_READER_H

#include "format/read.h"

/* XSpace has no magic number: true if the fields of the file, and the first field of each plane,
 * look like an XSpace. Reads only the heads of the fields. */
bool xspace_is_likely(const struct read_file *file);

/* As open in struct read_format (format/read.h). */
int xspace_open(const struct read_file *file, const struct trace_options *options,
		struct trace **ret_trace, struct dagtap_error *error);

#endif
