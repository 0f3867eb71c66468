#include "capture/housekeeper.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "capture/guest_thread.h"
#include "capture/log.h"
#include "record/spooler.h"

#define TICK_NS	       250000000u
/* A program that is killed soon has two clock samples all the same. */
#define TICK_FIRST_NS  10000000u
#define PAUSE_LEAST_NS 1000000u
#define PAUSE_MOST_NS  16000000u
#define END_LIMIT_NS   3000000000u

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stopping;
	struct spooler *spooler;
	void (*tick)(void);
} keeper = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static struct timespec timespec_at(uint64_t ns)
{
	return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
				 .tv_nsec = (long)(ns % 1000000000u)};
}

/* True when it is time to stop. */
static bool pause_until(uint64_t ns)
{
	struct timespec deadline = timespec_at(ns);
	bool stopping;

	pthread_mutex_lock(&keeper.lock);
	if (!keeper.stopping)
		pthread_cond_clockwait(&keeper.wake, &keeper.lock, CLOCK_MONOTONIC, &deadline);
	stopping = keeper.stopping;
	pthread_mutex_unlock(&keeper.lock);
	return stopping;
}

static void log_change(int result, int *last_error)
{
	int error = result < 0 ? result : 0;

	if (error != *last_error)
		log_line("making chunks ready: %s", error ? "failed" : "works again");
	*last_error = error;
}

/* Looks often while chunks are being used up: the writers never call. */
static uint64_t next_pause(int consumed, uint64_t pause_ns)
{
	if (consumed > 0)
		return PAUSE_LEAST_NS;
	return pause_ns * 2 < PAUSE_MOST_NS ? pause_ns * 2 : PAUSE_MOST_NS;
}

static void keep_house(void)
{
	uint64_t tick_ns = TICK_FIRST_NS;
	uint64_t tick_at = clock_now_ns() + tick_ns;
	uint64_t pause_ns = PAUSE_LEAST_NS;
	int last_error = 0;

	do {
		int result = spooler_service(keeper.spooler);

		log_change(result, &last_error);
		if (clock_now_ns() >= tick_at) {
			keeper.tick();
			tick_ns = tick_ns * 2 < TICK_NS ? tick_ns * 2 : TICK_NS;
			tick_at = clock_now_ns() + tick_ns;
		}
		pause_ns = next_pause(result, pause_ns);
	} while (!pause_until(clock_now_ns() + pause_ns));
}

static struct guest_thread house_thread = {.name = "dagtap-house", .body = keep_house};

int housekeeper_start(struct spooler *spooler, void (*tick)(void))
{
	/* The last session's, which had not ended when that had to. */
	if (!guest_thread_await_end(&house_thread, END_LIMIT_NS))
		return -EBUSY;
	keeper.spooler = spooler;
	keeper.tick = tick;
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
	if (!guest_thread_await_end(&house_thread, END_LIMIT_NS))
		log_line("the housekeeping thread does not end");
}

void housekeeper_see_off(void)
{
	if (!guest_thread_exists(&house_thread))
		guest_thread_see_off(&house_thread, END_LIMIT_NS);
}

void housekeeper_forget(void)
{
	guest_thread_forget(&house_thread);
	pthread_mutex_init(&keeper.lock, NULL);
	pthread_cond_init(&keeper.wake, NULL);
}
