/* The monitor: the one thread that waits for the device. It looks at what is outstanding on all
 * queues and for all copies, 0.1 to 1.6 ms apart (20 us while the program waits for it), and sleeps
 * without limit ("parks") when there is nothing to do. It also makes signals ahead of their use
 * (completion_slots.h) and looks after gates that make no progress (gate_resort.h). What other
 * threads see of it is in monitor_state.h. */
#ifndef CAPTURE_HSA_MONITOR_H
#define CAPTURE_HSA_MONITOR_H

#include "base/timer.h"

/* Waits until a whole look at everything has begun and ended, at most until LIMIT. Returns at once
 * when the monitor is to stop. Not by the monitor. */
void hsa_monitor_await_look(struct timer_limit limit);

/* Starts the monitor; 0 also when it is running. Returns a negative errno when it cannot be started
 * or the last one has not ended. One thread at a time, as for the two below. */
int hsa_monitor_start(void);

/* Stops the monitor and waits for its end, with a limit: a monitor that is stuck in the runtime is
 * left behind. */
void hsa_monitor_stop(void);

/* Called in a fork child, which has no such thread. */
void hsa_monitor_forget(void);

#endif
