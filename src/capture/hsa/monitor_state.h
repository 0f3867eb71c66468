/* What other threads see of the monitor (hsa_monitor.h): whether it is parked, how far it has
 * looked, and which thread it is. */
#ifndef CAPTURE_HSA_MONITOR_STATE_H
#define CAPTURE_HSA_MONITOR_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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

/* Called by the monitor after it has stored 1 to hsa_monitor_parked: sleeps until another thread
 * has stored 0. */
void hsa_monitor_sleep(void);

/* How many looks at everything have ended; wraps around. When the number is two higher than before,
 * a whole look has begun and ended since. Any thread. */
uint32_t hsa_monitor_looks(void);

/* Counts a look that has ended. Called by the monitor. */
void hsa_monitor_look_ends(void);

/* Whether the calling thread is the monitor. */
bool hsa_monitor_is_mine(void);

/* Sets the monitor's thread id. 0: there is no monitor. */
void hsa_monitor_set_tid(uint32_t tid);

#endif
