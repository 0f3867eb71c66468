/* Where an exporter writes when one file may not be enough: OUT, then more beside it, all of them
 * put in their places at the end or none. */
#ifndef DAGTAP_FORMAT_PARTS_H
#define DAGTAP_FORMAT_PARTS_H

#include <stddef.h>

#include "format/output.h"

struct parts {
	const char *path;      /* OUT */
	const char *extension; /* the format's */
	bool force;
	struct part *rows;
	size_t count;
	struct dagtap_error error; /* why the last one could not be opened */
};

/* Makes the next part: the first is OUT. "run.xplane.pb" goes on in "run.2.xplane.pb". 0, or
 * negative errno with a line in parts->error. */
int parts_open(struct parts *parts, FILE **ret_file);

/* 0, or negative errno: then some parts may be in their places already, and ERROR says which is
 * not. Ends. */
int parts_commit(struct parts *parts, struct dagtap_error *error);

/* Leaves nothing behind. Ends. */
void parts_abandon(struct parts *parts);

#endif
