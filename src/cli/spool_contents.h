/* The files of a folder of spools that dagtap made, and may remove. Threading: one thread at a
 * time. */
#ifndef DAGTAP_CLI_SPOOL_CONTENTS_H
#define DAGTAP_CLI_SPOOL_CONTENTS_H

/* Checks that the folder FD has no file but those of dagtap: spools, markers of processes that were
 * not recorded, and sockets of dagtap control, by name, contents and owner. PATH is for the
 * message. Returns CLI_OK, or CLI_FAILED after a message. */
int spool_contents_check(int fd, const char *path);

/* Removes the files of dagtap from the folder FD. */
void spool_contents_remove(int fd);

#endif
