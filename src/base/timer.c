/* The configured times, and waits that end at a limit. */
#include "base/timer.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static const struct {
	const char *name;
	bool is_limit;
} timers[TIMER_COUNT] = {
#define X(id, name, ns, is_limit, help) [TIMER_##id] = {name, is_limit},
	TIMERS(X)
#undef X
};

static uint64_t values[TIMER_COUNT] = {
#define X(id, name, ns, is_limit, help) [TIMER_##id] = ns##u,
	TIMERS(X)
#undef X
};

/* Whether NAME means this timer: its own name, or "limits". */
static bool is_named(enum timer timer, const char *name, size_t length)
{
	const char *own = timers[timer].name;

	if (timers[timer].is_limit && length == strlen("limits") && !memcmp(name, "limits", length))
		return true;
	return strlen(own) == length && !memcmp(name, own, length);
}

static bool read_value(const char *text, size_t length, uint64_t *ret_ns)
{
	char *end;

	if (length == strlen("never") && !memcmp(text, "never", length)) {
		*ret_ns = TIMER_NEVER;
		return true;
	}
	*ret_ns = strtoull(text, &end, 10);
	return length && end == text + length;
}

static void set_named(const char *name, size_t length, uint64_t ns)
{
	for (int timer = 0; timer < TIMER_COUNT; timer++)
		if (is_named(timer, name, length))
			values[timer] = ns;
}

void timer_configure(const char *text)
{
	while (*text) {
		size_t length = strcspn(text, ","), name = strcspn(text, "=,");
		uint64_t ns;

		if (name < length && read_value(text + name + 1, length - name - 1, &ns))
			set_named(text, name, ns);
		text += length + (text[length] == ',');
	}
}

uint64_t timer_ns(enum timer timer)
{
	return values[timer];
}

struct timer_limit timer_start_ns(uint64_t ns)
{
	uint64_t now_ns = clock_now_ns();

	return (struct timer_limit){ns < TIMER_NEVER - now_ns ? now_ns + ns : TIMER_NEVER};
}

struct timer_limit timer_start(enum timer timer)
{
	return timer_start_ns(values[timer]);
}

bool timer_is_over(struct timer_limit limit)
{
	return limit.end_ns != TIMER_NEVER && clock_now_ns() >= limit.end_ns;
}

/* The deadline for one wait of the C library: the limit, or the next check of a held clock. */
static struct timespec next_look(struct timer_limit limit)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC), wake_ns = clock_wake_ns(limit.end_ns);

	return clock_deadline_in(wake_ns > now_ns ? wake_ns - now_ns : 0);
}

bool timer_wait(sem_t *semaphore, struct timer_limit limit)
{
	int err;

	if (limit.end_ns == TIMER_NEVER) {
		while ((err = sem_wait(semaphore)) && errno == EINTR)
			;
		return !err;
	}
	do {
		struct timespec look = next_look(limit);

		err = sem_timedwait(semaphore, &look) ? errno : 0;
	} while (err == EINTR || (err == ETIMEDOUT && !timer_is_over(limit)));
	return !err;
}

bool timer_lock(pthread_mutex_t *lock, struct timer_limit limit)
{
	int err;

	if (limit.end_ns == TIMER_NEVER)
		return !pthread_mutex_lock(lock);
	do {
		struct timespec look = next_look(limit);

		err = pthread_mutex_timedlock(lock, &look);
	} while (err == ETIMEDOUT && !timer_is_over(limit));
	return !err;
}

bool timer_wait_for(pthread_cond_t *fact, pthread_mutex_t *lock, struct timer_limit limit)
{
	struct timespec look;

	if (limit.end_ns == TIMER_NEVER)
		return !pthread_cond_wait(fact, lock);
	look = next_look(limit);
	return !pthread_cond_timedwait(fact, lock, &look) || !timer_is_over(limit);
}
