/* What happens when a thread loses its CPU at one instruction or the next: it is stopped in front of each, while others
 * go on. Only instructions of the program itself count, that is of the tool's libraries as they are linked to a
 * test, not those of shared ones. x86-64. */
#ifndef DAGTAP_TESTS_STEP_H
#define DAGTAP_TESTS_STEP_H

#include <stdbool.h>
#include <stdint.h>

/* CALL, on a thread that is the same each time, held in front of instruction N, from 1, while MEANWHILE runs here. A
 * thread that is within a record is let go on after some ms: a spool that is closed waits for it. False when CALL has
 * come to its end before. */
bool step_until(uint32_t n, void (*call)(void), void (*meanwhile)(void));

#endif
