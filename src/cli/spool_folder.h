/* OUT.spool: where the traced processes record, until it becomes OUT.dagtap.
 *
 * The folder is held by a descriptor, and its files are reached from there alone: a name that
 * somebody exchanges meanwhile leads nowhere else. No link is followed, but for the one that
 * `record` makes itself to a ring in memory, and nothing is removed that is not a spool of ours.
 * One thread at a time. */
#ifndef DAGTAP_CLI_SPOOL_FOLDER_H
#define DAGTAP_CLI_SPOOL_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

struct spool_folder_options {
	bool force; /* what an earlier recording left there goes */
	uint64_t
		memory_bytes; /* not 0: in memory, behind a link, where there is room for several of that size */
};

struct spool_folder {
	char *path;	  /* absolute: the program may change its folder */
	char *real_path;  /* without links: where a ring in memory is */
	const char *base; /* the last part of PATH */
	int parent_fd;
	int fd; /* locked against other recordings */
};

/* The folder for the recording OUTPUT, OUT.dagtap -> OUT.spool: new and empty, for its owner alone,
 * locked for as long as it is open. Returns CLI_OK, or has said why not; then there is nothing to
 * close. */
int spool_folder_make(const char *output, const struct spool_folder_options *options,
		      struct spool_folder *ret_folder);

void spool_folder_close(struct spool_folder *folder);

/* False: somebody has removed it. */
bool spool_folder_is_there(const struct spool_folder *folder);

/* What a message calls it: PATH, or where it really is when that leads there no longer. */
const char *spool_folder_name(const struct spool_folder *folder);

/* Removes the spools of ours in it, and the folder when that leaves it empty. */
void spool_folder_remove(const struct spool_folder *folder);

/* Filters for scandirat, by a file's name alone. */
int spool_folder_is_spool(const struct dirent *entry);
int spool_folder_is_lost(const struct dirent *entry);

#endif
