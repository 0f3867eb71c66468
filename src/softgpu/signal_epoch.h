/* The epoch: a counter that changes with every change of any signal in the process, and when there
 * is new work (schedule_bump_epoch). Packet processors and copy engines wait for dependencies with
 * it: they read the epoch, check the dependencies, and call signal_epoch_wait with the value they
 * read. Any thread. */
#ifndef SOFTGPU_SIGNAL_EPOCH_H
#define SOFTGPU_SIGNAL_EPOCH_H

#include <stdatomic.h>
#include <stdint.h>

#include "softgpu/futex.h"

/* For the functions below only. */
extern _Atomic uint32_t signal_epoch_word;     /* futex */
extern _Atomic uint32_t signal_epoch_sleepers; /* threads that sleep on it */

/* Returns the epoch. */
static inline uint32_t signal_epoch(void)
{
	return atomic_load(&signal_epoch_word);
}

/* Changes the epoch and wakes the threads in signal_epoch_wait. For schedule_bump_epoch, which
 * wakes the parties of a schedule too. */
static inline void signal_epoch_advance(void)
{
	/* Sequentially consistent: pairs with the increment in signal_epoch_wait. Either this
	 * thread sees the sleeper, or the sleeper sees the new epoch. */
	atomic_fetch_add(&signal_epoch_word, 1);
	if (atomic_load(&signal_epoch_sleepers))
		futex_wake_all(&signal_epoch_word);
}

/* Sleeps until the epoch is not SEEN or until UNTIL_NS of CLOCK_MONOTONIC. May also return
 * early. */
void signal_epoch_wait(uint32_t seen, uint64_t until_ns);

#endif
