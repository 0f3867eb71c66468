/* Reads a trace of PyTorch's profiler (Kineto's JSON), plain or gzipped, into the model.
 * docs/format/kineto.md, "Reading", describes the mapping. Both functions are entries of the table
 * in format/read.c. */
#ifndef DAGTAP_FORMAT_KINETO_READER_H
#define DAGTAP_FORMAT_KINETO_READER_H

#include "format/read.h"

/* True if the file, inflated if it is gzipped, begins with "{" or "[". Reads only the first
 * piece. */
bool kineto_is_likely(const struct read_file *file);

/* As open in struct read_format (format/read.h). */
int kineto_open(const struct read_file *file, const struct trace_options *options,
		struct trace **ret_trace, struct dagtap_error *error);

#endif
