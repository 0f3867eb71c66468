/* Reads rocpd, the SQLite format of AMD's ROCm tools, versions 3.0.0 to 3.0.x: recordings of
 * rocprofv3, rocprofiler-systems and of dagtap's own export (docs/format/rocpd.md).
 *
 * Threading: any thread; each call is independent of all others. */
#ifndef DAGTAP_FORMAT_ROCPD_READER_H
#define DAGTAP_FORMAT_ROCPD_READER_H

#include "format/read.h"

/* Whether the file is a SQLite database (read_format.is_likely). */
bool rocpd_is_likely(const struct read_file *file);

/* Reads the file as read_format.open says: -EBADMSG with the message if it is no rocpd, of another
 * version or damaged, -ENOMEM without memory. */
int rocpd_open(const struct read_file *file, const struct trace_options *options,
	       struct trace **ret_trace, struct dagtap_error *error);

#endif
