/* Writes a file that exists either complete or not at all. It has no name until it is committed
 * (O_TMPFILE), so a process that is killed leaves nothing. Where the file system has no such files,
 * it is written under a temporary name in the same folder and renamed at the end. Not for the
 * traced process. Threading: one thread at a time per replacement. */
#ifndef DAGTAP_BASE_REPLACE_H
#define DAGTAP_BASE_REPLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error_text.h"

struct replacement {
	char *path;	 /* owned; NULL once committed or abandoned */
	char *temporary; /* the name that the file has meanwhile, owned; NULL: none */
	int fd;		 /* of a file without a name, owned; else -1 */
	bool force;	 /* replaces an existing file */
};

enum replace_way {
	REPLACE_NAMELESS, /* the usual one */
	REPLACE_NAMED,	  /* the file has a temporary name, because somebody opens it by that */
};

/* Creates the file without its name. The caller writes to *RET_FD and closes it. MODE is as for
 * open. Returns 0, or a negative errno with ERROR filled: -EEXIST if PATH exists and
 * FORCE is false; -EINVAL if PATH exists and is no regular file, also with FORCE. After a failure
 * the caller need not call replace_abandon. */
int replace_begin(struct replacement *replacement, const char *path, bool force,
		  enum replace_way way, mode_t mode, int *ret_fd, struct dagtap_error *error);

/* Gives the file its name and releases REPLACEMENT. Without FORCE fails with -EEXIST if the name
 * was taken meanwhile. On failure the file is gone, and a negative errno is returned. */
int replace_commit(struct replacement *replacement, struct dagtap_error *error);

/* Removes the file and releases REPLACEMENT. Does nothing after replace_commit. */
void replace_abandon(struct replacement *replacement);

#endif
