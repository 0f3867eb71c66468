/* The futex calls that the library sleeps and wakes with. Deadlines are ns of CLOCK_MONOTONIC: who waits for the
 * device's time passes it through clock_wake_ns. */
#ifndef SOFTGPU_FUTEX_H
#define SOFTGPU_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define FUTEX_FOREVER UINT64_MAX

/* Returns when woken, when *WORD is not EXPECTED, at the deadline, or for no reason at all. */
static inline void futex_wait(const void *word, uint32_t expected, uint64_t deadline_ns)
{
	struct timespec deadline = clock_timespec(deadline_ns);

	syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected,
		deadline_ns == FUTEX_FOREVER ? NULL : &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

static inline void futex_wake_all(const void *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#endif
