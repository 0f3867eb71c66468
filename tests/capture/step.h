/*
 * Tests every place at which a thread can lose its CPU: the thread is stopped before each
 * instruction in turn while other threads run. Only instructions of the test program count, which
 * has the tool's libraries linked in; those of shared libraries do not. x86-64 only.
 */
#ifndef DAGTAP_TESTS_STEP_H
#define DAGTAP_TESTS_STEP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Runs CALL on a second thread, the same one each time, stops it before instruction N (from 1), and
 * runs MEANWHILE on this thread. If MEANWHILE closes a spool while the stopped thread is writing a
 * record to it, the stopped thread goes on as soon as the close waits for that record. Returns
 * false when CALL has fewer than N instructions.
 */
bool step_until(uint32_t n, void (*call)(void), void (*meanwhile)(void));

/*
 * Runs CALL on this thread and runs HANDLER before instruction N (from 1), as a signal handler.
 * Returns false when CALL has fewer than N instructions.
 */
bool interrupt_at(uint32_t n, void (*call)(void), void (*handler)(void));

/*
 * Within CALL: no instruction counts between the two, so that a thread can be created, which would
 * begin with the trap flag and without a handler. Pass what traps_pause returned.
 */
bool traps_pause(void);
void traps_resume(bool were_on);

#endif
