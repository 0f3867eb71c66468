/* The one thread that waits for the device: looks at what is outstanding on all queues and for all
 * copies, 0.1 to 1 ms apart, and sleeps without limit when there is nothing. */
#ifndef CAPTURE_HSA_MONITOR_H
#define CAPTURE_HSA_MONITOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/timer.h"

extern _Atomic uint32_t hsa_monitor_parked;

void hsa_monitor_unpark(void);

/* After something became outstanding. Cost: one load while the monitor is awake. */
static inline void hsa_monitor_wake(void)
{
	if (atomic_load(&hsa_monitor_parked))
		hsa_monitor_unpark();
}

/* How often it has looked at everything; wraps around. Two more than before: a whole look has begun
 * and ended since. */
uint32_t hsa_monitor_looks(void);
/* Waits, until LIMIT, until such a whole look has been made; not for a monitor that is to stop. */
void hsa_monitor_await_look(struct timer_limit limit);
/* Whether the calling thread is the monitor. */
bool hsa_monitor_is_mine(void);

/* 0 or a negative errno. Running already: 0. */
int hsa_monitor_start(void);
/* Bounded: a monitor that is stuck in the runtime is left behind. */
void hsa_monitor_stop(void);
/* In a fork child, which has no such thread. */
void hsa_monitor_forget(void);

#endif
