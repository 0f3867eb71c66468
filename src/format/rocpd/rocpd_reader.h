/* Reads rocpd, the SQLite format of AMD's ROCm tools, versions 3.0.0 to 3.0.x: recordings of
 * rocprofv3, rocprofiler-systems and of dagtap's own export (docs/format/rocpd.md). Both functions
 * are those of a struct read_format. */
#ifndef DAGTAP_FORMAT_ROCPD_READER_H
#define DAGTAP_FORMAT_ROCPD_READER_H

#include "format/read.h"

bool rocpd_is_likely(const struct read_file *file);

int rocpd_open(const struct read_file *file, const struct trace_options *options,
	       struct trace **ret_trace, struct dagtap_error *error);

#endif
