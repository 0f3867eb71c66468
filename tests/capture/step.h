/* What happens when a thread loses its CPU at one instruction or the next: it is stopped in front of each, while others
 * go on. Only instructions of the program itself count, that is of the tool's libraries as they are linked to a
 * test, not those of shared ones. x86-64. */
#ifndef DAGTAP_TESTS_STEP_H
#define DAGTAP_TESTS_STEP_H

#include <stdbool.h>
#include <stdint.h>

/* CALL, on a thread that is the same each time, held in front of instruction N, from 1, while MEANWHILE runs here. If
 * MEANWHILE closes the spool of a record that the thread is in, the thread goes on when the close begins to wait for
 * that record, and not before. False when CALL has come to its end before. */
bool step_until(uint32_t n, void (*call)(void), void (*meanwhile)(void));

/* CALL, on this thread, interrupted in front of instruction N, from 1: HANDLER runs there, as a
 * signal's. False when CALL has come to its end before. */
bool interrupt_at(uint32_t n, void (*call)(void), void (*handler)(void));

#endif
