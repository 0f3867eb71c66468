/* The host clock of all records and of every wait: CLOCK_MONOTONIC in ns, or a clock that a test
 * controls.
 *
 * A test that controls the clock makes a file of sizeof(struct clock_page) zero bytes and names
 * it in DAGTAP_CLOCK. The injected library and the software GPU each map the file, so both read
 * the same time. Any process that maps the file may hold, step and release the clock.
 *
 * Threading: reads from any thread. Cost of a read: the system's, plus one relaxed load without
 * a page. */
#ifndef DAGTAP_BASE_CLOCK_H
#define DAGTAP_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Shared between processes. All zero: the clock is CLOCK_MONOTONIC. */
struct clock_page {
	_Atomic uint64_t held_ns;  /* the time at which the clock stands still; 0: it runs */
	_Atomic int64_t offset_ns; /* a running clock's, against CLOCK_MONOTONIC */
};

/* NULL: the system's clock. Set before the first read whose time is compared with another
 * library's; never unset. */
extern struct clock_page *_Atomic clock_page;

/* Maps the page at PATH for this library's copy of the clock. 0 or a negative errno. */
int clock_take_page(const char *path);

/* Called by one thread at a time. Hold: stops the clock at its present time. Step: moves a held
 * clock forward; waits that are due by then end within a millisecond. Release: the clock runs
 * again, from the held time. */
void clock_hold(struct clock_page *page);
void clock_step(struct clock_page *page, uint64_t ns);
void clock_release(struct clock_page *page);

uint64_t clock_page_ns(const struct clock_page *page);
bool clock_is_held(void);

/* The time of CLOCK_MONOTONIC at which to wake for NS of this clock. While it is held: when to
 * look at it again. */
uint64_t clock_wake_ns(uint64_t ns);

static inline uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
	const struct clock_page *page = atomic_load_explicit(&clock_page, memory_order_relaxed);

	return page ? clock_page_ns(page) : clock_read_ns(CLOCK_MONOTONIC);
}

static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
				 .tv_nsec = (long)(ns % 1000000000u)};
}

/* CLOCK_REALTIME in so many ns, as the timed waits of pthread want it: those that take a clock are
 * unknown to thread sanitizers. */
static inline struct timespec clock_deadline_in(uint64_t ns)
{
	return clock_timespec(clock_read_ns(CLOCK_REALTIME) + ns);
}

#endif
