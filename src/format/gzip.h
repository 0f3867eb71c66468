/* A stream that compresses what is written to it: gzip, the same bytes for the same input. */
#ifndef DAGTAP_FORMAT_GZIP_H
#define DAGTAP_FORMAT_GZIP_H

#include <stdbool.h>
#include <stdio.h>

/* Whether PATH's name ends in .gz. */
bool gzip_is_name(const char *path);

/* RET_FILE's fclose ends the compressed data; INNER, which gets it, stays the caller's and open. 0 or
 * negative errno. */
int gzip_open(FILE *inner, FILE **ret_file);

#endif
