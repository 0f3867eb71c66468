/* Reading an XSpace (.xplane.pb), XLA's or ours, into the model: docs/format/xspace.md, "Reading". */
#ifndef DAGTAP_FORMAT_XSPACE_READER_H
#define DAGTAP_FORMAT_XSPACE_READER_H

#include "format/read.h"

/* XSpace has no magic: do the first fields look like one, down to a plane's? */
bool xspace_is_likely(const struct read_file *file);

/* As read_format's. */
int xspace_open(const struct read_file *file, const struct trace_options *options,
		struct trace **ret_trace, struct dagtap_error *error);

#endif
