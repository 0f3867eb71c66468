/* Waits for a process that a benchmark started. */
#ifndef DAGTAP_BENCH_CHILD_H
#define DAGTAP_BENCH_CHILD_H

#include <sys/types.h>

/*
 * Waits for CHILD, a pid that fork returned or a negative failure of fork. Returns 0 when the child
 * exits with 0; otherwise a negative errno, and bench_fail gets COMMAND and the signal or exit
 * code.
 */
int child_wait(pid_t child, const char *command);

#endif
