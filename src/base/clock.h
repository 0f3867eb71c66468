/* The host clock of all records: CLOCK_MONOTONIC in ns. */
#ifndef DAGTAP_BASE_CLOCK_H
#define DAGTAP_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/* CLOCK_REALTIME in so many ns, as the timed waits of pthread want it: those that take a clock are
 * unknown to thread sanitizers. */
static inline struct timespec clock_deadline_in(uint64_t ns)
{
	uint64_t deadline_ns = clock_read_ns(CLOCK_REALTIME) + ns;

	return (struct timespec){.tv_sec = (time_t)(deadline_ns / 1000000000u),
				 .tv_nsec = (long)(deadline_ns % 1000000000u)};
}

#endif
