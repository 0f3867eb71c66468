/* Reading a trace of PyTorch's profiler (Kineto's JSON), plain or gzipped, into the model:
 * docs/format/kineto.md, "Reading". */
#ifndef DAGTAP_FORMAT_KINETO_READER_H
#define DAGTAP_FORMAT_KINETO_READER_H

#include "format/read.h"

/* Is it JSON, gzipped or not? */
bool kineto_is_likely(const struct read_file *file);

/* As read_format's. */
int kineto_open(const struct read_file *file, const struct trace_options *options,
		struct trace **ret_trace, struct dagtap_error *error);

#endif
