/* The output files of an export that one file may not hold: the named file, then further parts
 * beside it. All parts get their names at the end (parts_commit). Zero the struct and set path,
 * inputs, extension, force and way before the first parts_open.
 *
 * Threading: one thread at a time. */
#ifndef DAGTAP_FORMAT_PARTS_H
#define DAGTAP_FORMAT_PARTS_H

#include <stdint.h>

#include "base/keep_input.h"
#include "format/output.h"

struct parts {
	const char *path; /* name of the first file; "-" for standard output; borrowed */
	const struct kept_input *inputs; /* what is read, which no part may replace; borrowed */
	uint32_t inputs_count;
	const char *extension; /* the format's, with the dot; further parts keep it at the end */
	bool force;	       /* an existing file is replaced */
	enum replace_way way;  /* the format's */
	struct part *rows;     /* owned */
	uint32_t count;
	struct dagtap_error error; /* why the last parts_open failed */
};

/* Opens the next part for writing. The first is PATH; "run.xplane.pb" continues in
 * "run.2.xplane.pb". RET_FILE stays owned by PARTS. Returns 0, or negative errno with one line in
 * parts->error, which is -EBUSY if the part would replace an input (base/keep_input.h); the parts
 * opened before stay valid. */
int parts_open(struct parts *parts, FILE **ret_file);

/* Gives all parts their names, in order. Returns 0, or the first negative errno with one line in
 * ERROR that names the part; parts before it have their names already, it and later ones are
 * removed. Ends PARTS in both cases. */
int parts_commit(struct parts *parts, struct dagtap_error *error);

/* Removes all parts and ends PARTS. */
void parts_abandon(struct parts *parts);

#endif
