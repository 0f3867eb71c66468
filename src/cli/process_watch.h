/* Notices that a recorded process has ended, also when it was killed and did not close its spool.
 *
 * The pid in a spool is that of the process's own namespace, and may be another process's in ours.
 * So a process is watched only if it has the spool mapped. Threading: any thread. */
#ifndef DAGTAP_CLI_PROCESS_WATCH_H
#define DAGTAP_CLI_PROCESS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Returns a descriptor of process PID, which the caller closes; -1: no process with this PID has
 * the spool NAME mapped, as far as we may know, or the system is out of descriptors. Cost: reads
 * the list of the process's mappings. */
int process_watch_open(uint32_t pid, const char *name);

/* Whether the process of FD has ended; false for -1. Cost: a system call. */
bool process_watch_has_ended(int fd);

#endif
