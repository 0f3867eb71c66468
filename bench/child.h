/* The end of a process that a benchmark started. */
#ifndef DAGTAP_BENCH_CHILD_H
#define DAGTAP_BENCH_CHILD_H

#include <sys/types.h>

/* Waits for CHILD, which fork returned, after a failure too. 0 when it exits with 0. Otherwise a
 * negative errno, with COMMAND and its signal or exit code for bench_fail. */
int child_wait(pid_t child, const char *command);

#endif
