/* An export whose output is a folder: it is written under a temporary name beside its place and
 * renamed at the end, so that it appears complete or not at all.
 *
 * Threading: one thread at a time. */
#ifndef DAGTAP_FORMAT_FOLDER_H
#define DAGTAP_FORMAT_FOLDER_H

#include <stdbool.h>

#include "format/format.h"

/* Writes TRACE in FORMAT, which has a write_folder, to the folder PATH. -EEXIST: PATH exists, and
 * FORCE is false. With FORCE a folder that holds the file format->folder_mark is replaced and
 * removed with its content; anything else at PATH is -EINVAL, and stays. OPTIONS may be NULL.
 * Returns 0, or negative errno with one line in ERROR; then no folder appears. */
int folder_write(const struct format *format, const struct trace *trace, const char *path,
		 bool force, const struct format_options *options, struct dagtap_error *error);

#endif
