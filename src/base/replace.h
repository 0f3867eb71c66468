/* A file that is there complete or not at all: written under another name in the same folder, then
 * given its own. Not for the traced process. One thread at a time. */
#ifndef DAGTAP_BASE_REPLACE_H
#define DAGTAP_BASE_REPLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct replacement {
	char *path;
	char *temporary; /* NULL once committed or abandoned */
	bool force;	 /* an existing file is replaced */
};

/* Makes the file under its temporary name, which nobody else has had before; the caller writes to
 * and closes RET_FD. MODE is open's. Without FORCE an existing PATH is an error (-EEXIST); with it
 * one that is no regular file still is (-EINVAL). On failure there is nothing to abandon. */
int replace_begin(struct replacement *replacement, const char *path, bool force, mode_t mode,
		  int *ret_fd, struct dagtap_error *error);

/* Gives it its name, unless (without FORCE) there is one of that name by now, and ends. */
int replace_commit(struct replacement *replacement, struct dagtap_error *error);

/* Removes what was written and ends; nothing after the end. */
void replace_abandon(struct replacement *replacement);

#endif
