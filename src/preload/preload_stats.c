/* Writes the counters of the process when it ends; see preload_stats.h. */
#include "preload/preload_stats.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct preload_stats preload_stats;
_Bool preload_is_counting;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t preload_set_begin(void)
{
	return preload_is_counting ? now_ns() : 0;
}

void preload_set_end(uint64_t begin)
{
	if (!preload_is_counting)
		return;
	PRELOAD_COUNT(sets);
	atomic_fetch_add_explicit(&preload_stats.set_ns, now_ns() - begin, memory_order_relaxed);
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

/* One write, so that lines of several processes do not mix. A process that made no executable
 * virtual and counted nothing writes nothing. */
__attribute__((destructor)) static void write_stats(void)
{
	const char *path = getenv("DAGPATCH_PRELOAD_STATS");
	char text[4096];
	size_t used;
	int file;

	if (!path || !*path || (!preload_stats.executables && !preload_stats.sets))
		return;
	used = (size_t)snprintf(text, sizeof(text), "{\"pid\": %d", (int)getpid());
	for (size_t i = 0; i < COUNTERS; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, ", \"%s\": %llu",
					 counters[i].name,
					 (unsigned long long)*counters[i].counter);
	used += (size_t)snprintf(text + used, sizeof(text) - used, "}\n");
	file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (file < 0)
		return;
	while (write(file, text, used) < 0 && errno == EINTR)
		;
	close(file);
}
