/* The file of a spool while it grows. Disk room is allocated before it is mapped, so that a full
 * disk is an error code here and never a SIGBUS in the program. The descriptor may be closed by
 * the program; it is then opened again by the file's name and checked by device and inode.
 *
 * Threading: one thread at a time, under the spooler's service lock. */
#ifndef DAGTAP_RECORD_SPOOL_MAP_H
#define DAGTAP_RECORD_SPOOL_MAP_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/spool.h"

struct spool_map {
	int fd;	      /* -1 = closed */
	dev_t device; /* of the file, to recognize it */
	ino_t inode;
	char path[PATH_MAX];	      /* the file's name once it is published */
	char path_at_first[PATH_MAX]; /* its name before, with the suffix ".new" */
};

/* Creates the file under its first name, with mode 0600, in FOLDER, which must exist. Fills MAP.
 * Returns 0 or a negative errno. */
int spool_map_create(struct spool_map *map, const char *folder);

enum spool_map_pages {
	SPOOL_MAP_TOUCHED, /* in memory: storing to them causes no fault */
	SPOOL_MAP_BARE,	   /* mapped in less than a hundredth of the time; faults later */
};

/* Allocates BYTES of the file at OFFSET, which are not in use, and maps them, shared. *RET_MEMORY
 * is zeroed, belongs to the caller, who unmaps it, and is not inherited by fork children. Returns
 * 0, or a negative errno: -ENOSPC, -EFBIG (RLIMIT_FSIZE), -EBADF (the file is gone), ... */
int spool_map_extend(struct spool_map *map, uint64_t offset, size_t bytes,
		     enum spool_map_pages pages, void **ret_memory);

/* Brings mapped pages into memory, where another thread may already store to them. Does nothing on
 * Linux before 5.14, where this is not possible without a store to each page. */
void spool_map_touch(void *memory, size_t bytes);

/* Gives the file its name. Returns 0 or a negative errno. */
int spool_map_publish(struct spool_map *map);

/* Removes a file that was not published. Does nothing if MAP has no file. */
void spool_map_discard(struct spool_map *map);

/* Cuts the file to LENGTH bytes. Best effort: a file that stays long ends in zeros, which is
 * valid. No mapping behind LENGTH may be touched afterwards. */
void spool_map_cut(struct spool_map *map, uint64_t length);

/* Closes the descriptor, unless the program has put another file under its number. Mappings
 * stay. */
void spool_map_close(struct spool_map *map);

#endif
