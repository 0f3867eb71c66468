/* A moment at which a thread can be held: it asks for its own name (prctl) when the injected library is about to
 * write the thread's first record of a recording. That library finds this program's prctl first. */
#ifndef TESTS_INTERCEPT_HELD_H
#define TESTS_INTERCEPT_HELD_H

/* The calling thread is held when it comes there. */
void held_arm(void);
/* It is not held then, but gets this signal. */
void held_interrupt(int number);
/* By another thread: waits until it is. */
void held_await(void);
void held_let_go(void);

#endif
