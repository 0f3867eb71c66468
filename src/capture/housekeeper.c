/* The housekeeper's thread: its loop, its ticks, its start and end; see housekeeper.h. */
#include "capture/housekeeper.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/timer.h"
#include "capture/guest_thread.h"
#include "capture/log.h"
#include "record/spooler.h"

/* The pause between two calls of spooler_service. */
#define PAUSE_LEAST_NS 1000000u
#define PAUSE_MOST_NS  16000000u

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stopping;		 /* under lock: the thread has to end */
	struct spooler *spooler; /* this and the rest: set before the thread starts */
	void (*tick)(void);
	struct timer_limit first_tick;
} keeper = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* Sleeps for NS. Returns true when the thread has to end. */
static bool pause_for(uint64_t ns)
{
	struct timespec deadline = clock_timespec(clock_read_ns(CLOCK_MONOTONIC) + ns);
	bool stopping;

	pthread_mutex_lock(&keeper.lock);
	if (!keeper.stopping)
		pthread_cond_clockwait(&keeper.wake, &keeper.lock, CLOCK_MONOTONIC, &deadline);
	stopping = keeper.stopping;
	pthread_mutex_unlock(&keeper.lock);
	return stopping;
}

static void log_change(int err, int *last_error)
{
	int error = err < 0 ? err : 0;

	if (error != *last_error)
		log_line("making chunks ready: %s", error ? "failed" : "works again");
	*last_error = error;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* CONSUMED is the result of spooler_service. Writers never wake the housekeeper, so it looks
 * often while chunks are used up, and less and less often otherwise. */
static uint64_t next_pause(int consumed, uint64_t pause_ns)
{
	if (consumed > 0)
		return PAUSE_LEAST_NS;
	return lesser(pause_ns * 2, PAUSE_MOST_NS);
}

static void keep_house(void)
{
	uint64_t tick_ns = timer_ns(TIMER_HOUSE_TICK_FIRST);
	struct timer_limit tick = keeper.first_tick;
	uint64_t pause_ns = PAUSE_LEAST_NS;
	int last_error = 0;

	do {
		int err = spooler_service(keeper.spooler);

		log_change(err, &last_error);
		if (timer_is_over(tick)) {
			/* The period counts from the begin of the tick: a test that waits for a
			 * tick and then advances the clock must not delay the next one. */
			tick_ns = lesser(tick_ns * 2, timer_ns(TIMER_HOUSE_TICK));
			tick = timer_start_ns(tick_ns);
			keeper.tick();
		}
		pause_ns = next_pause(err, pause_ns);
	} while (!pause_for(pause_ns));
}

static struct guest_thread house_thread = {.name = "dagtap-house", .body = keep_house};

int housekeeper_start(struct spooler *spooler, void (*tick)(void))
{
	/* The last session's housekeeper may have exceeded the limit when it was stopped. */
	if (!guest_thread_await_end(&house_thread, timer_start(TIMER_THREAD_END)))
		return -EBUSY;
	keeper.spooler = spooler;
	keeper.tick = tick;
	/* Early, so that the trace of a program that is killed soon has two samples of the
	 * clocks. */
	keeper.first_tick = timer_start(TIMER_HOUSE_TICK_FIRST);
	keeper.stopping = false;
	return guest_thread_start(&house_thread);
}

void housekeeper_stop(void)
{
	if (!guest_thread_exists(&house_thread))
		return;
	spooler_wind_down(keeper.spooler);
	pthread_mutex_lock(&keeper.lock);
	keeper.stopping = true;
	pthread_cond_signal(&keeper.wake);
	pthread_mutex_unlock(&keeper.lock);
	if (!guest_thread_await_end(&house_thread, timer_start(TIMER_THREAD_END)))
		log_line("the housekeeping thread does not end");
}

void housekeeper_see_off(void)
{
	if (!guest_thread_exists(&house_thread))
		guest_thread_see_off(&house_thread, timer_start(TIMER_THREAD_END));
}

void housekeeper_forget(void)
{
	guest_thread_forget(&house_thread);
	pthread_mutex_init(&keeper.lock, NULL);
	pthread_cond_init(&keeper.wake, NULL);
}
