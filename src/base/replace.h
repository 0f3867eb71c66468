/* Writes a file that exists either complete or not at all: under a temporary name in the same
 * folder, renamed at the end. Not for the traced process. Threading: one thread at a time per
 * replacement. */
#ifndef DAGTAP_BASE_REPLACE_H
#define DAGTAP_BASE_REPLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error_text.h"

struct replacement {
	char *path;	 /* owned */
	char *temporary; /* owned; NULL once committed or abandoned */
	bool force;	 /* replaces an existing file */
};

/* Creates the file under a new temporary name. The caller writes to *RET_FD and closes it. MODE
 * is as for open. Returns 0, or a negative errno with ERROR filled: -EEXIST if PATH exists and
 * FORCE is false; -EINVAL if PATH exists and is no regular file, also with FORCE. After a failure
 * the caller need not call replace_abandon. */
int replace_begin(struct replacement *replacement, const char *path, bool force, mode_t mode,
		  int *ret_fd, struct dagtap_error *error);

/* Renames the file to its name and releases REPLACEMENT. Without FORCE fails with -EEXIST if the
 * name was taken meanwhile. On failure removes the temporary file, and returns a negative errno. */
int replace_commit(struct replacement *replacement, struct dagtap_error *error);

/* Removes the temporary file and releases REPLACEMENT. Does nothing after replace_commit. */
void replace_abandon(struct replacement *replacement);

#endif
