/* Writes the counters of the process when it ends; see preload_stats.h. */
#include "preload/preload_stats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { NOTE_PART = 16 }; /* one of so many notes is measured */

struct preload_stats preload_stats;
_Bool preload_is_counting, preload_is_timing;

uint64_t preload_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t preload_time_begin(void)
{
	return preload_is_timing ? preload_now_ns() : 0;
}

/* Each call is as likely to be measured as any other one, however the calls come in periods. */
uint64_t preload_note_begin(void)
{
	static __thread uint32_t turn __attribute__((tls_model("initial-exec")));

	if (!preload_is_timing)
		return 0;
	turn = turn * 1664525u + 1013904223u;
	return turn >> 16 < 65536 / NOTE_PART ? preload_now_ns() : 0;
}

void preload_time_end(uint64_t begin, struct preload_time *time)
{
	if (begin == 0)
		return;
	atomic_fetch_add_explicit(&time->count, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&time->ns, preload_now_ns() - begin, memory_order_relaxed);
}

uint64_t preload_set_begin(void)
{
	return preload_is_counting ? preload_now_ns() : 0;
}

void preload_set_end(uint64_t begin)
{
	if (preload_is_counting)
		PRELOAD_COUNT(sets);
	preload_time_end(begin, &preload_stats.times.set);
}

static const struct {
	const char *name, *text;
	_Atomic uint64_t *counter;
} counters[] = {
#define PRELOAD_COUNTER_ROW(name, text) {#name, text, &preload_stats.name},
	PRELOAD_COUNTERS(PRELOAD_COUNTER_ROW)
#undef PRELOAD_COUNTER_ROW
};

enum { COUNTERS = sizeof(counters) / sizeof(*counters) };

static const struct {
	const char *name, *text;
	const struct preload_time *time;
} times[] = {
#define PRELOAD_TIME_ROW(name, text) {#name, text, &preload_stats.times.name},
	PRELOAD_TIMES(PRELOAD_TIME_ROW)
#undef PRELOAD_TIME_ROW
};

enum { TIMES = sizeof(times) / sizeof(*times) };

/* One write, so that lines of several processes do not mix. A process that made no executable
 * virtual and counted nothing writes nothing. */
__attribute__((destructor)) static void write_stats(void)
{
	const char *path = getenv("DAGPATCH_PRELOAD_STATS");
	char text[8192];
	size_t used;
	int file;

	if (!path || !*path || (!preload_stats.executables && !preload_stats.sets))
		return;
	used = (size_t)snprintf(text, sizeof(text), "{\"pid\": %d", (int)getpid());
	for (size_t i = 0; i < COUNTERS; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, ", \"%s\": %llu",
					 counters[i].name,
					 (unsigned long long)*counters[i].counter);
	for (size_t i = 0; i < TIMES; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 ", \"%s_count\": %llu, \"%s_ns\": %llu", times[i].name,
					 (unsigned long long)times[i].time->count, times[i].name,
					 (unsigned long long)times[i].time->ns);
	used += (size_t)snprintf(text + used, sizeof(text) - used, ", \"passed_by\": \"%s\"}\n",
				 preload_stats.passed_by ? preload_stats.passed_by : "");
	file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (file < 0)
		return;
	while (write(file, text, used) < 0 && errno == EINTR)
		;
	close(file);
}
