/* Where an exporter writes: a file that is there complete or not at all, or standard output. What has a
 * name that ends in .gz is compressed. */
#ifndef DAGTAP_FORMAT_OUTPUT_H
#define DAGTAP_FORMAT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/replace.h"

struct output {
	FILE *file;	  /* write here */
	FILE *inner;	  /* where FILE's compressed bytes go; NULL = they are not */
	const char *path; /* the caller's */
	struct replacement replacement;
};

/* PATH "-" is standard output. Without FORCE an existing PATH is an error (-EEXIST). */
int output_open(struct output *output, const char *path, bool force, struct dagtap_error *error);

/* Puts the file in its place. 0, or negative errno: then nothing was changed. */
int output_commit(struct output *output, struct dagtap_error *error);

/* Leaves nothing behind. Needed only where output_commit was not called. */
void output_abandon(struct output *output);

#endif
