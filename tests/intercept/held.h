/* Stops a thread inside the injected library at a chosen moment. held.c defines prctl and
 * nanosleep, and the injected library resolves both names to the program's functions:
 *
 * - A thread asks for its own name with prctl when the library is about to write the thread's
 *   first record of a recording.
 * - The library's monitor calls nanosleep between two checks of outstanding work. */
#ifndef TESTS_INTERCEPT_HELD_H
#define TESTS_INTERCEPT_HELD_H

/* The calling thread stops at its next prctl call. A nanosleep before that only wakes
 * held_await. */
void held_arm(void);
/* From now on an armed thread raises signal NUMBER at its next prctl or nanosleep call, instead
 * of stopping. */
void held_interrupt(int number);
/* Called by another thread: waits until the armed thread has stopped in prctl, or until it
 * sleeps inside the library (it is not stopped there). */
void held_await(void);
/* Called by another thread: lets the stopped thread continue. */
void held_release(void);

/* Stops the monitor and returns when it is stopped. Some work must be outstanding, otherwise the
 * monitor does not call nanosleep. */
void held_monitor(void);
/* Lets the monitor continue. A signal handler may call this. */
void held_monitor_release(void);

#endif
