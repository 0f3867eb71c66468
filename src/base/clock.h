/* The host clock of all records and of every wait: CLOCK_MONOTONIC in ns, or a clock that a test
 * controls.
 *
 * A test that controls the clock makes a file of sizeof(struct clock_page) zero bytes and names
 * it in DAGTAP_CLOCK. The injected library and the software GPU each map the file, so both read
 * the same time. Any process that maps the file may hold, step and release the clock.
 *
  * Threading: any thread may read. Cost of a read without a page: clock_gettime and one relaxed
 * load. */
#ifndef DAGTAP_BASE_CLOCK_H
#define DAGTAP_BASE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The state of a controlled clock, shared between processes. All zero: the clock is
 * CLOCK_MONOTONIC. */
struct clock_page {
	_Atomic uint64_t held_ns;  /* the time at which the clock is stopped; 0: it runs */
	_Atomic int64_t offset_ns; /* a running clock's difference from CLOCK_MONOTONIC */
};

/* The page that this library reads; NULL: CLOCK_MONOTONIC itself. clock_take_page sets it, before
 * the first read whose time is compared with another library's. It is never unset. */
extern struct clock_page *_Atomic clock_page;

/* Maps the page in the file PATH and makes this library use it. The file must have at least
 * sizeof(struct clock_page) bytes (-EINVAL). Returns 0 or a negative errno. */
int clock_take_page(const char *path);

/* For tests, one thread at a time. clock_hold stops the clock at its present time. clock_step
 * moves a held clock forward by NS; waits that are due by then end within a millisecond.
 * clock_release lets the clock run again, from the held time. */
void clock_hold(struct clock_page *page);
void clock_step(struct clock_page *page, uint64_t ns);
void clock_release(struct clock_page *page);

/* The present time of the clock that PAGE controls, in ns. */
uint64_t clock_page_ns(const struct clock_page *page);

/* Whether a test holds this library's clock. */
bool clock_is_held(void);

/* The CLOCK_MONOTONIC time in ns at which a thread that waits for NS of this clock should wake
 * up. If the clock is held, that is one millisecond from now: the thread must then check the
 * clock again. */
uint64_t clock_wake_ns(uint64_t ns);

/* The time of a system clock in ns. */
static inline uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The present time of the host clock in ns: of all records, and of every wait. */
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

/* The CLOCK_REALTIME time NS from now, as the timed waits of pthread take it. The variants that
 * take another clock (pthread_mutex_clocklock and so on) are not used, because thread sanitizers
 * do not know them. */
static inline struct timespec clock_deadline_in(uint64_t ns)
{
	return clock_timespec(clock_read_ns(CLOCK_REALTIME) + ns);
}

#endif
