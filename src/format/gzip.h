/* An output stream that compresses with gzip. The same input always gives the same bytes.
 *
 * Threading: a stream belongs to one thread at a time. */
#ifndef DAGTAP_FORMAT_GZIP_H
#define DAGTAP_FORMAT_GZIP_H

#include <stdbool.h>
#include <stdio.h>

/* True if PATH ends in ".gz" and has a name before it. */
bool gzip_is_name(const char *path);

/* Makes RET_FILE, a stream whose bytes are compressed and written to INNER. The caller closes
 * RET_FILE first: fclose writes the end of the compressed data. INNER stays open and the caller's.
 * Returns 0 or -ENOMEM; write errors are reported by RET_FILE as for any stream. */
int gzip_open(FILE *inner, FILE **ret_file);

#endif
