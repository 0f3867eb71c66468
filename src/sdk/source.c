/* The thread that follows the recording of this process: see source.h. */
#include "sdk/source.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/workers.h"
#include "live/live.h"
#include "sdk/buffers.h"
#include "sdk/calls.h"
#include "sdk/delivery.h"
#include "sdk/externals.h"
#include "sdk/injected.h"
#include "sdk/internal_threads.h"
#include "sdk/mark_ranges.h"
#include "sdk/observed.h"
#include "sdk/pushed.h"
#include "sdk/sdk_contexts.h"

#define POLL_NS	      20000000ull
#define WAIT_NS	      1000000ull /* between looks for what runs while a flush waits */
#define NS_PER_SECOND 1000000000ull

/* Protected by the lock, but for what is the thread's: from `live` on. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t asked, served;
	pid_t pid;	  /* of the process that the thread runs in; 0: there is none */
	bool is_starting; /* the thread is being made, or was */
	pthread_t thread;
	uint64_t flushes_asked, flushes_served;
	struct timer_limit flush_limit; /* of the last flush that was asked for */
	int flush_err;			/* of the last one that was served */
	uint32_t destroyed;		/* buffers that are to be freed: bits, by number - 1 */
	struct live *live;
	char path[PATH_MAX]; /* of the spool that is followed, or was last */
	uint64_t opened;     /* spools so far */
} source = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.asked = PTHREAD_COND_INITIALIZER,
	.served = PTHREAD_COND_INITIALIZER,
};

/* ---- following ---- */

static void open_live(const char *path)
{
	const struct live_options options = {.takes_any_time = true, .load.is_brief = true};

	if (live_open(path, &options, &source.live, NULL) < 0)
		return;
	injected_opened(path);
	snprintf(source.path, sizeof(source.path), "%s", path);
	source.opened++;
}

static void close_live(void)
{
	externals_end_recording();
	live_close(source.live);
	source.live = NULL;
}

/* Delivers a window. Returns 0 or a negative errno. */
static int take_window(struct trace *window)
{
	int err;

	/* What happened inside of the window's calls comes before they are retired. */
	observed_deliver();
	err = window ? delivery_put(window) : 0;
	trace_close(window);
	return err;
}

/* Reads everything that is there, and gives out what is finished. Without IS_LAST it ends reading
 * after what is before the mark: the program may record faster than this thread reads. Returns as
 * live_poll. */
static int poll_up_to_mark(bool is_last)
{
	struct trace *window;
	int more = live_poll(source.live, &window);

	for (;;) {
		if (take_window(more < 0 ? NULL : window) < 0)
			more = -ENOMEM;
		if (more <= 0)
			return more;
		more = is_last || !live_has_read(source.live) ? live_poll(source.live, &window)
							      : live_give(source.live, &window);
	}
}

/* Polls. IS_OVER: this is the last time. It is also the last time if the recording is closed. After
 * an error the recording is no longer followed. */
static void poll_all(bool is_over)
{
	bool is_last = is_over || live_is_closed(source.live);
	int more = poll_up_to_mark(is_last);
	struct trace *window;

	if (more >= 0 && !is_last)
		return;
	while (more >= 0 && (more = live_finish(source.live, &window)) >= 0) {
		take_window(window);
		if (more == 0)
			break;
	}
	close_live();
}

/* Whether the process has a recording that is not, and was not, the one that is followed. */
static bool find_other(char ret_path[PATH_MAX])
{
	size_t bytes = injected_find()->path(ret_path, PATH_MAX);

	return bytes && bytes < PATH_MAX && strcmp(ret_path, source.path) != 0;
}

/* A recording that was stopped while a thread was writing a record is never closed. It is over when
 * the process has begun another one. */
static void follow(void)
{
	char path[PATH_MAX];
	bool is_other = find_other(path);

	observed_deliver();
	if (source.live)
		poll_all(is_other);
	if (source.live || !is_other)
		return;
	open_live(path);
	if (source.live)
		poll_all(false);
}

static void pause_briefly(void)
{
	const struct timespec wait = {.tv_nsec = WAIT_NS};

	nanosleep(&wait, NULL);
}

static void deliver_all(void)
{
	for (uint64_t number = 1; number <= SDK_BUFFERS; number++) {
		struct sdk_buffer *buffer = sdk_buffer_find(number);

		if (buffer)
			sdk_buffer_deliver(buffer);
	}
}

/* Whether everything before the mark has been given out of recording number OPENED. */
static bool is_given_out(uint64_t opened)
{
	return !source.live || source.opened != opened || live_is_past(source.live);
}

/* Marks what the process has recorded until now, and reads up to there. Returns the number of the
 * recording. */
static uint64_t follow_until_now(void)
{
	char path[PATH_MAX];

	if (find_other(path))
		follow();
	if (source.live)
		live_mark(source.live);
	follow();
	return source.opened;
}

/* Waits until all activities that the recording has now have ended, and delivers them. At the limit
 * it delivers those that have ended and returns -ETIMEDOUT; else 0. */
static int flush(struct timer_limit limit)
{
	uint64_t opened = follow_until_now();
	bool is_over = false, is_past;

	while (!(is_past = is_given_out(opened)) && !is_over) {
		pause_briefly();
		follow();
		is_over = timer_is_over(limit);
	}
	deliver_all();
	return is_past ? 0 : -ETIMEDOUT;
}

/* ---- the thread ---- */

/* Whether this library has begun a recording of which no context wants records any more. */
static bool has_to_end(void)
{
	return injected_is_on() && !sdk_contexts_want_records();
}

static bool is_running(void)
{
	struct live_counts counts;

	if (!source.live)
		return false;
	live_count(source.live, &counts);
	return counts.running > 0;
}

/* A call has a record when it has returned; the record is written after the observer was told of
 * the return, so a call that returns just now may lose it. A call that waits for the device may
 * take long, so the limit is short. */
static void await_calls(void)
{
	struct timer_limit limit = timer_start(TIMER_SDK_EXIT);

	while (sdk_calls_are_under_way() && has_to_end() && !timer_is_over(limit))
		pause_briefly();
}

/* Ends such a recording, once the device has done what was submitted before, and gives out what
 * belongs to a context: the program may record more than this thread reads meanwhile. */
static void end_recording(void)
{
	struct timer_limit limit = timer_start(TIMER_SDK_FLUSH);
	uint64_t starts = sdk_contexts_starts(), opened;
	bool is_all;

	/* A context may have been started before the number was read. */
	if (!has_to_end())
		return;
	await_calls();
	opened = follow_until_now();
	/* Once in any case, for the record of a call that has just returned. */
	do {
		pause_briefly();
		follow();
	} while (is_running() && !is_given_out(opened) && has_to_end() && !timer_is_over(limit));
	is_all = source.live && is_given_out(opened);
	injected_end(sdk_contexts_want_records);
	/* What was recorded after the mark belongs to no context, unless one was started. */
	if (is_all && !injected_is_on() && sdk_contexts_starts() == starts)
		close_live();
	else
		follow();
}

static bool any_is_started(void)
{
	for (uint32_t i = 0; i < SDK_CONTEXTS && sdk_contexts[i].is_used; i++)
		if (atomic_load(&sdk_contexts[i].is_started))
			return true;
	return false;
}

/* Waits until something is asked or it is time to poll. Called with the lock. */
static void wait_for_work(void)
{
	struct timespec until;

	if (source.flushes_asked != source.flushes_served || source.destroyed || has_to_end())
		return;
	if (!any_is_started()) {
		pthread_cond_wait(&source.asked, &source.lock);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += POLL_NS;
	until.tv_sec += until.tv_nsec / (long)NS_PER_SECOND;
	until.tv_nsec %= (long)NS_PER_SECOND;
	pthread_cond_timedwait(&source.asked, &source.lock, &until);
}

_Static_assert(SDK_BUFFERS <= 32, "a bit for each buffer");

static void free_buffers(uint32_t bits)
{
	for (uint64_t number = 1; number <= SDK_BUFFERS; number++)
		if (bits >> (number - 1) & 1)
			sdk_buffer_free(sdk_buffer_find(number));
}

static void *run(void *unused)
{
	prctl(PR_SET_NAME, "dagtap-sdk");
	pthread_mutex_lock(&source.lock);
	for (;;) {
		uint32_t destroyed;
		uint64_t asked;
		struct timer_limit limit;
		int err = 0;

		wait_for_work();
		asked = source.flushes_asked;
		limit = source.flush_limit;
		destroyed = source.destroyed;
		source.destroyed = 0;
		pthread_mutex_unlock(&source.lock);
		if (has_to_end())
			end_recording();
		if (asked != source.flushes_served)
			err = flush(limit);
		else
			follow_until_now();
		free_buffers(destroyed);
		pthread_mutex_lock(&source.lock);
		if (asked != source.flushes_served)
			source.flush_err = err;
		source.flushes_served = asked;
		pthread_cond_broadcast(&source.served);
	}
	return unused;
}

static int start_thread(void)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	internal_threads_before();
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_mutex_lock(&source.lock);
	err = pthread_create(&source.thread, NULL, run, NULL);
	if (err == 0)
		source.pid = getpid();
	else
		source.is_starting = false;
	pthread_mutex_unlock(&source.lock);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	internal_threads_after();
	return -err;
}

/* In a child of fork: the parent's other threads do not exist, and may have held the locks. Nothing
 * is observed in the child, so what the locks protect is not used. */
static void leave_parent(void)
{
	sdk_calls_forget();
	externals_reset_lock();
	pushed_reset_lock();
	observed_reset_lock();
	mark_ranges_forget_parent();
	injected_forget_parent();
	sdk_contexts_reset_lock();
	pthread_mutex_init(&source.lock, NULL);
	pthread_cond_init(&source.asked, NULL);
	pthread_cond_init(&source.served, NULL);
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, leave_parent);
}

int sdk_source_start(void)
{
	static pthread_once_t watched = PTHREAD_ONCE_INIT;
	bool is_first;

	if (source.pid && source.pid != getpid())
		return 0;
	pthread_once(&watched, watch_forks);
	/* Windows are small, and a thread for each CPU would be started for each. */
	workers_limit(1);
	sdk_calls_observe();
	pthread_mutex_lock(&source.lock);
	is_first = !source.is_starting;
	source.is_starting = true;
	pthread_cond_signal(&source.asked);
	pthread_mutex_unlock(&source.lock);
	return is_first ? start_thread() : 0;
}

void sdk_source_wake(void)
{
	if (source.pid != getpid())
		return;
	pthread_mutex_lock(&source.lock);
	pthread_cond_signal(&source.asked);
	pthread_mutex_unlock(&source.lock);
}

/* Waits until flush number ASKED is served or the limit has passed. Called with the lock. */
static void await_until(uint64_t asked, struct timer_limit limit)
{
	while (source.flushes_served < asked && timer_wait_for(&source.served, &source.lock, limit))
		;
}

/* Asks for a flush, and waits until it is served. Called with the lock. Returns 0 or
 * -ETIMEDOUT. */
static int ask_and_await(struct timer_limit limit)
{
	uint64_t asked = ++source.flushes_asked;

	source.flush_limit = limit;
	pthread_cond_signal(&source.asked);
	await_until(asked, limit);
	/* The thread has reached its limit, too, and delivers what there is. */
	await_until(asked, timer_start(TIMER_SDK_DELIVERY));
	return source.flushes_served < asked ? -ETIMEDOUT : source.flush_err;
}

/* Whether the thread cannot be waited for: there is none in this process, or it is the caller, or
 * the caller is inside a call whose records are not complete before it returns. */
static int check_thread(void)
{
	if (source.pid != getpid())
		return -ESRCH;
	return pthread_equal(source.thread, pthread_self()) || sdk_calls_in_callback() ? -EBUSY : 0;
}

int sdk_source_flush(struct timer_limit limit)
{
	int err = check_thread();

	if (err)
		return err == -ESRCH ? 0 : err;
	pthread_mutex_lock(&source.lock);
	err = ask_and_await(limit);
	pthread_mutex_unlock(&source.lock);
	return err;
}

int sdk_source_destroy(uint64_t number)
{
	int err = check_thread();

	if (err == -ESRCH)
		sdk_buffer_free(sdk_buffer_find(number));
	if (err)
		return err == -ESRCH ? 0 : err;
	pthread_mutex_lock(&source.lock);
	if (sdk_buffer_find(number))
		source.destroyed |= 1u << (number - 1);
	/* The buffer is freed although some work may not have ended at the limit. */
	ask_and_await(timer_start(TIMER_SDK_FLUSH));
	err = sdk_buffer_find(number) ? -ETIMEDOUT : 0;
	pthread_mutex_unlock(&source.lock);
	return err;
}
