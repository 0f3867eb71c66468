/* The list of capture sources, and the calls of their hooks. */
#include "capture/capture_sources.h"

#include <pthread.h>
#include <time.h>

#include "base/timer.h"
#include "capture/thinning.h"
#include "record/spooler.h"

#define SOURCES_MOST 8

/* The state of a capture source in a session. The thread that changes it from OFF to STARTING
 * runs the start hook. */
enum source_state { SOURCE_OFF, SOURCE_STARTING, SOURCE_ON };

static struct source_slot {
	const struct capture_source *source;
	_Atomic int state; /* enum source_state */
} sources[SOURCES_MOST];   /* append-only */
static _Atomic size_t source_count;
static pthread_mutex_t sources_lock = PTHREAD_MUTEX_INITIALIZER;

/* Held while a tick runs and while the stop hooks run: they must not run at the same time. */
static pthread_mutex_t hooks_lock = PTHREAD_MUTEX_INITIALIZER;

/* Returns whether the calling thread may run the start hook. */
static bool claim(struct source_slot *slot)
{
	int state = SOURCE_OFF;

	return atomic_compare_exchange_strong(&slot->state, &state, SOURCE_STARTING);
}

void capture_sources_start(enum session_state during)
{
	for (size_t i = 0; i < atomic_load(&source_count); i++) {
		struct source_slot *slot = &sources[i];

		while (atomic_load(&session_state) == (int)during && claim(slot)) {
			/* Sequentially consistent, with stop_source: either stop_source sees
			 * STARTING, or this thread sees that the session ends. In the latter
			 * case the next session may have passed over this source, so try again. */
			if (atomic_load(&session_state) != (int)during) {
				atomic_store(&slot->state, SOURCE_OFF);
				continue;
			}
			if (slot->source->start)
				slot->source->start();
			atomic_store(&slot->state, SOURCE_ON);
		}
	}
}

void session_add_source(const struct capture_source *source)
{
	size_t count;
	bool known = false;

	pthread_mutex_lock(&sources_lock);
	count = atomic_load(&source_count);
	for (size_t i = 0; i < count; i++)
		known |= sources[i].source == source;
	if (!known && count < SOURCES_MOST) {
		sources[count].source = source;
		atomic_store(&source_count, count + 1);
	}
	pthread_mutex_unlock(&sources_lock);
	/* Either this thread sees ON, or the thread that sets ON sees the new source. */
	capture_sources_start(SESSION_ON);
}

/* On the housekeeper: decides whether a ring keeps the periodic records of this tick
 * (thinning.h). */
static void thin_ticks(void)
{
	static struct thinning thinning;
	static uint64_t session_id;
	uint64_t now_ns = session_now_ns();
	struct writer *w = session_writer();

	if (!w || !w->keeper)
		return;
	if (session_id != spooler_session_id(w->spooler)) {
		session_id = spooler_session_id(w->spooler);
		thinning_begin(&thinning, now_ns);
	}
	w->rings_periodic = !thinning_keeps(&thinning, now_ns);
}

void capture_sources_tick(void)
{
	thin_ticks();
	pthread_mutex_lock(&hooks_lock);
	for (size_t i = 0; session_is_on() && i < atomic_load(&source_count); i++)
		if (atomic_load(&sources[i].state) == SOURCE_ON && sources[i].source->tick)
			sources[i].source->tick();
	pthread_mutex_unlock(&hooks_lock);
}

/* Waits for a start hook that is running, until LIMIT, then runs the stop hook. Returns false at
 * LIMIT. */
static bool stop_source(struct source_slot *slot, struct timer_limit limit)
{
	const struct timespec pause = {.tv_nsec = 100000};
	int state;

	while ((state = atomic_load(&slot->state)) == SOURCE_STARTING) {
		if (timer_is_over(limit))
			return false;
		nanosleep(&pause, NULL);
	}
	/* A source that is off may be claimed by another thread, which then finds that the
	 * session ends. */
	if (state == SOURCE_OFF)
		return true;
	if (slot->source->stop)
		slot->source->stop();
	atomic_store(&slot->state, SOURCE_OFF);
	return true;
}

bool capture_sources_stop(void)
{
	struct timer_limit limit = timer_start(TIMER_PART_HOOK);
	bool all = true;

	if (!timer_lock(&hooks_lock, limit))
		return false;
	for (size_t i = atomic_load(&source_count); i-- > 0;)
		all &= stop_source(&sources[i], limit);
	pthread_mutex_unlock(&hooks_lock);
	return all;
}

void capture_sources_forget_parent(void)
{
	sources_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	hooks_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	for (size_t i = 0; i < atomic_load(&source_count); i++) {
		atomic_store(&sources[i].state, SOURCE_OFF);
		if (sources[i].source->child)
			sources[i].source->child();
	}
}
