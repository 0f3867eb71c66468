/* The spools in a folder of spools: which files are spools, and which of their processes are alive.
 * spool_folder.c (before the program runs) and gather.c (after it) ask. Threading: any thread. */
#ifndef DAGTAP_CLI_SPOOL_LISTING_H
#define DAGTAP_CLI_SPOOL_LISTING_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether NAME ends with SUFFIX and is longer than it. */
bool listing_has_suffix(const char *name, const char *suffix);

/* Filters for scandirat. They check the file's name only. */
int listing_is_spool(const struct dirent *entry);
int listing_is_lost(const struct dirent *entry);

/* Opens a regular file of the folder. Follows no link, and does not wait for the other end of a
 * FIFO. Returns a descriptor, or -1 with errno set; ELOOP if it is no regular file. */
int listing_open(int folder_fd, const char *name);

/* Returns 1 if the spool's process is alive and still records, otherwise 0. */
uint32_t listing_is_live(int folder_fd, const char *name);

/* The number of a process that is alive and still records to a spool of the folder; 0: none. */
uint32_t listing_find_live(int folder_fd);

/* Number of spools whose process is alive. It may have stopped recording and be about to end. */
uint32_t listing_count_processes(int folder_fd);

#endif
