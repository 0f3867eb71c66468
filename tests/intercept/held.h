/* Moments at which a thread can be held. The injected library finds this program's prctl and
 * nanosleep first:
 *
 * - A thread asks for its own name (prctl) when the library is about to write the thread's first
 *   record of a recording.
 * - The library's monitor sleeps (nanosleep) between two looks at what is outstanding. */
#ifndef TESTS_INTERCEPT_HELD_H
#define TESTS_INTERCEPT_HELD_H

/* The calling thread is held when it comes there. */
void held_arm(void);
/* It is not held then, but gets this signal. */
void held_interrupt(int number);
/* By another thread: waits until it is, or until it sleeps inside the library, where it is not
 * held. */
void held_await(void);
void held_let_go(void);

/* Holds the monitor, and returns when it is held; something must be outstanding. */
void held_monitor(void);
/* Also by a signal handler. */
void held_monitor_let_go(void);

#endif
