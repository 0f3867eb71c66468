/* Recognizes a file of statistics (docs/stats.md). It is no recording, although a user may take it
 * for one, and its first line is JSON, as a trace of PyTorch's profiler is. Any thread. */
#ifndef DAGTAP_TRACE_STATISTICS_FILE_H
#define DAGTAP_TRACE_STATISTICS_FILE_H

#include <stddef.h>

#include "base/error_text.h"

/* BYTES are the first SIZE bytes of the file NAME. Returns 0, or -EINVAL with ERROR filled if they
 * begin a file of statistics: the message names the command that reads it. */
int statistics_file_refuse(const char *name, const void *bytes, size_t size,
			   struct dagtap_error *error);

#endif
