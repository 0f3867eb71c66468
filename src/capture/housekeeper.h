/* The housekeeper: the thread that prepares chunks for the writers, seals full chunks, and calls
 * a tick. The first tick comes 10 ms after the start, and the period doubles from tick to tick
 * up to 250 ms (TIMER_HOUSE_TICK_FIRST, TIMER_HOUSE_TICK). A period runs from the begin of one
 * tick to the begin of the next; after a tick that took longer, the next one follows at once. It
 * is a guest_thread, as the monitor of capture/hsa is.
 *
 * Threading: only the thread that starts or stops the session calls these functions. */
#ifndef DAGTAP_CAPTURE_HOUSEKEEPER_H
#define DAGTAP_CAPTURE_HOUSEKEEPER_H

struct spooler;

/* Starts the housekeeper for SPOOLER; TICK is called on its thread. SPOOLER stays valid until
 * housekeeper_stop. Returns 0 or a negative errno; -EBUSY when the last session's housekeeper
 * does not end within TIMER_THREAD_END. */
int housekeeper_start(struct spooler *spooler, void (*tick)(void));
/* Stops the housekeeper and waits for its end, at most three seconds (TIMER_THREAD_END). Without
 * one: does nothing. */
void housekeeper_stop(void);
/* After housekeeper_stop, unless the process ends: waits until the kernel has released the
 * thread. */
void housekeeper_see_off(void);
/* In a fork child, which does not have the thread. */
void housekeeper_forget(void);

#endif
