#include "capture/housekeeper.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "capture/log.h"
#include "record/spooler.h"

#define TICK_NS		  250000000u
/* A program that is killed soon has two clock samples all the same. */
#define TICK_FIRST_NS	  10000000u
#define PAUSE_LEAST_NS	  1000000u
#define PAUSE_MOST_NS	  16000000u
#define END_LIMIT_NS	  500000000u
#define STACK_BYTES_LEAST ((size_t)256 << 10)

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool running; /* the thread exists */
	bool begun;   /* and has come to its work */
	bool stopping;
	bool ended; /* has done its work; the thread may exist yet */
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

/* Of BEGUN and ENDED. */
static void say(bool *fact)
{
	pthread_mutex_lock(&keeper.lock);
	*fact = true;
	pthread_cond_signal(&keeper.wake);
	pthread_mutex_unlock(&keeper.lock);
}

/* A program that forks right after its first call must not do so while a thread is half made:
 * runtimes with locks of their own (sanitizers, allocators) would be copied with them held. */
static void wait_until_begun(void)
{
	pthread_mutex_lock(&keeper.lock);
	while (!keeper.begun)
		pthread_cond_wait(&keeper.wake, &keeper.lock);
	pthread_mutex_unlock(&keeper.lock);
}

static void *keep_house(void *unused)
{
	uint64_t tick_ns = TICK_FIRST_NS;
	uint64_t tick_at = clock_now_ns() + tick_ns;
	uint64_t pause_ns = PAUSE_LEAST_NS;
	int last_error = 0;

	prctl(PR_SET_NAME, "dagtap-house");
	say(&keeper.begun);
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
	say(&keeper.ended);
	return NULL;
}

/* Detached: joining takes a lock of the threads library, which the very thread may hold in which a
 * signal handler calls exit. */
static int create_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all;
	sigset_t before;
	size_t usual_bytes;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attributes);
	pthread_attr_getstacksize(&attributes, &usual_bytes);
	/* Not less than the program's own threads have: its thread-local memory is a part of each stack. */
	if (usual_bytes < STACK_BYTES_LEAST)
		pthread_attr_setstacksize(&attributes, STACK_BYTES_LEAST);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attributes, keep_house, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -err;
}

/* Of the last session's thread, which may be at its last step. */
static bool has_ended(void)
{
	bool ended;

	pthread_mutex_lock(&keeper.lock);
	ended = !keeper.running || keeper.ended;
	pthread_mutex_unlock(&keeper.lock);
	return ended;
}

int housekeeper_start(struct spooler *spooler, void (*tick)(void))
{
	int err;

	if (!has_ended())
		return -EBUSY;
	keeper.spooler = spooler;
	keeper.tick = tick;
	keeper.stopping = false;
	keeper.begun = false;
	keeper.ended = false;
	err = create_thread();
	keeper.running = !err;
	if (!err)
		wait_until_begun();
	return err;
}

static bool wait_until_ended(void)
{
	struct timespec deadline = clock_deadline_in(END_LIMIT_NS);
	int err = 0;

	while (!keeper.ended && !err)
		err = pthread_cond_timedwait(&keeper.wake, &keeper.lock, &deadline);
	return keeper.ended;
}

void housekeeper_stop(void)
{
	if (!keeper.running)
		return;
	spooler_wind_down(keeper.spooler);
	pthread_mutex_lock(&keeper.lock);
	keeper.stopping = true;
	pthread_cond_signal(&keeper.wake);
	keeper.running = !wait_until_ended();
	pthread_mutex_unlock(&keeper.lock);
	if (keeper.running)
		log_line("the housekeeping thread does not end");
}

void housekeeper_forget(void)
{
	keeper.running = false;
	pthread_mutex_init(&keeper.lock, NULL);
	pthread_cond_init(&keeper.wake, NULL);
}
