/* The monitor: the one thread that waits for the device. It looks at what is outstanding on all
 * queues and for all copies, 0.1 to 1.6 ms apart (20 us while the program waits for it), and sleeps
 * without limit ("parks") when there is nothing to do. It also makes signals ahead of their use
 * (completion_slots.h) and looks after gates that make no progress (gate_resort.h). */
#ifndef CAPTURE_HSA_MONITOR_H
#define CAPTURE_HSA_MONITOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/timer.h"

/* 1 while the monitor is parked, or is about to park. Also the futex on which it sleeps. */
extern _Atomic uint32_t hsa_monitor_parked;

/* Wakes the parked monitor: one system call. Use hsa_monitor_wake. */
void hsa_monitor_unpark(void);

/* Call after something became outstanding. Any thread. Costs one load while the monitor is awake.
 * Sequentially consistent: the caller has stored what is outstanding before it loads this; the
 * monitor stores hsa_monitor_parked before it looks for work (park in hsa_monitor.c). */
static inline void hsa_monitor_wake(void)
{
	if (atomic_load(&hsa_monitor_parked))
		hsa_monitor_unpark();
}

/* How many looks at everything have ended; wraps around. When the number is two higher than before,
 * a whole look has begun and ended since. Any thread. */
uint32_t hsa_monitor_looks(void);

/* Waits until such a whole look is done, at most until LIMIT. Returns at once when the monitor is
 * to stop. Not by the monitor. */
void hsa_monitor_await_look(struct timer_limit limit);

/* Whether the calling thread is the monitor. */
bool hsa_monitor_is_mine(void);

/* Starts the monitor; 0 also when it is running. Returns a negative errno when it cannot be started
 * or the last one has not ended. One thread at a time, as for the two below. */
int hsa_monitor_start(void);

/* Stops the monitor and waits for its end, with a limit: a monitor that is stuck in the runtime is
 * left behind. */
void hsa_monitor_stop(void);

/* Called in a fork child, which has no such thread. */
void hsa_monitor_forget(void);

#endif
