/* The futex calls with which the library's threads sleep and wake. Deadlines are in ns of
 * CLOCK_MONOTONIC. A caller that waits for a time of the device's clock converts that time with
 * clock_wake_ns (base/clock.h). Any thread; each call is one system call. */
#ifndef SOFTGPU_FUTEX_H
#define SOFTGPU_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define FUTEX_FOREVER UINT64_MAX /* a deadline that is never reached */

/* Sleeps on *WORD. Returns when woken, when *WORD is not EXPECTED, at the deadline, or spuriously.
 * DEADLINE_NS may be FUTEX_FOREVER. */
static inline void futex_wait(const void *word, uint32_t expected, uint64_t deadline_ns)
{
	struct timespec deadline = clock_timespec(deadline_ns);

	syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, expected,
		deadline_ns == FUTEX_FOREVER ? NULL : &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

/* Wakes all threads of this process that sleep on *WORD. */
static inline void futex_wake_all(const void *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#endif
