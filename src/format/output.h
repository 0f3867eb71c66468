/* The output of an exporter: standard output, or a file that appears under its name only when it
 * is complete (base/replace.h). A file whose name ends in .gz is compressed.
 *
 * Threading: one thread at a time. */
#ifndef DAGTAP_FORMAT_OUTPUT_H
#define DAGTAP_FORMAT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/replace.h"

struct output {
	FILE *file;	  /* the exporter writes here; owned by this struct, unless it is stdout */
	FILE *inner;	  /* the stream that gets FILE's compressed bytes; NULL = not compressed */
	const char *path; /* borrowed from the caller until commit or abandon */
	struct replacement replacement;
};

/* Opens PATH for writing; "-" is standard output. Without FORCE an existing PATH is an error
 * (-EEXIST). Returns 0, or negative errno with one line in ERROR; then nothing is left to
 * abandon. */
int output_open(struct output *output, const char *path, bool force, enum replace_way way,
		struct dagtap_error *error);

/* Flushes and closes the file and gives it its name. Returns 0, or negative errno with one line in
 * ERROR; then no file appears and an existing one is unchanged. Ends OUTPUT in both cases. */
int output_commit(struct output *output, struct dagtap_error *error);

/* Closes and removes the unfinished file. Call it only instead of output_commit. */
void output_abandon(struct output *output);

#endif
