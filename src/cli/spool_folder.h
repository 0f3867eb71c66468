/* OUT.spool, the folder to which the traced processes write their spools until they are packed
 * into OUT.dagtap.
 *
 * The folder is held open by a descriptor, and its files are opened relative to it only, so that
 * nobody can redirect them by exchanging a name. No link is followed except the one that `record`
 * itself makes to a ring in memory, and nothing is removed that is not a spool of dagtap.
 * Threading: one thread at a time. */
#ifndef DAGTAP_CLI_SPOOL_FOLDER_H
#define DAGTAP_CLI_SPOOL_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

struct spool_folder_options {
	bool force; /* removes what an earlier recording left there */
	/* Size of a ring; 0: no ring. The folder of a ring is made in memory, behind a link, if
	 * several rings of this size fit there. */
	uint64_t memory_bytes;
};

struct spool_folder {
	const char *output; /* of the recording, as it was given; borrowed */
	char *path;	 /* owned; absolute, because the program may change its working directory */
	char *real_path; /* owned; without links: the place of a ring in memory */
	const char *base; /* the last part of path */
	int parent_fd;
	int fd; /* locked (flock) against other recordings; -1: not made */
};

/* Names the folder for the recording OUTPUT, OUT.spool for OUT.dagtap and OUT.dagstats, and opens
 * the folder that it is to be in. Changes no file. Returns CLI_OK, or CLI_FAILED after a message;
 * then there is nothing to close. */
int spool_folder_open(const char *output, struct spool_folder *ret_folder);

/* Makes the folder: new, empty, with mode 0700, and locked until it is closed. Returns CLI_OK, or
 * CLI_FAILED after a message. */
int spool_folder_make(struct spool_folder *folder, const struct spool_folder_options *options);

/* Checks that no recording writes to a folder of that name, if there is one. Returns CLI_OK, or
 * CLI_FAILED after a message, which names the process if it records already. */
int spool_folder_check_unused(const struct spool_folder *folder);

/* Closes the descriptors, which releases the lock, and frees the names. Leaves the folder. */
void spool_folder_close(struct spool_folder *folder);

/* Returns false if the folder has been removed. */
bool spool_folder_is_there(const struct spool_folder *folder);

/* The folder's name for messages: path, or real_path if path no longer exists. */
const char *spool_folder_name(const struct spool_folder *folder);

/* Removes dagtap's spools in the folder, and then the folder if it is empty. */
void spool_folder_remove(const struct spool_folder *folder);

#endif
