/* The file under a spool while it grows: disk room is allocated before it is mapped, so that a full disk is an error
 * code here and never a SIGBUS in the program. */
#ifndef DAGTAP_RECORD_SPOOL_MAP_H
#define DAGTAP_RECORD_SPOOL_MAP_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/spool.h"

struct spool_map {
	int fd; /* -1 = closed */
	dev_t device;
	ino_t inode;
	char path[PATH_MAX];	      /* the file's name once published */
	char path_at_first[PATH_MAX]; /* before */
};

/* Makes the file under its first name, in FOLDER, which must exist. */
int spool_map_create(struct spool_map *map, const char *folder);

enum spool_map_pages {
	SPOOL_MAP_TOUCHED, /* all in memory: storing to them is no fault */
	SPOOL_MAP_BARE,	   /* a tenth of the time; the first store to each is a fault */
};

/* Allocates and maps BYTES at OFFSET, which nobody uses yet; not inherited by fork children. */
int spool_map_extend(struct spool_map *map, uint64_t offset, size_t bytes,
		     enum spool_map_pages pages, void **ret_memory);

/* Brings pages that are in use into memory, if the kernel can do that without storing to them. */
void spool_map_touch(void *memory, size_t bytes);

int spool_map_publish(struct spool_map *map);  /* gives the file its name */
void spool_map_discard(struct spool_map *map); /* removes a file that was not published */
void spool_map_cut(struct spool_map *map, uint64_t length);
void spool_map_close(struct spool_map *map);

#endif
