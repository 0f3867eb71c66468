/* The list of ranges that wait for the session; see early_range.h. */
#include "capture/early_range.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "capture/scope_record.h"

#define RANGES_MOST 64

static struct {
	pthread_mutex_t lock;
	struct early_range {
		uint64_t id;
		uint64_t ns;
		char *text;
	} ranges[RANGES_MOST];
	size_t count;
} early = {.lock = PTHREAD_MUTEX_INITIALIZER};

void early_range_keep(uint64_t id, const char *text)
{
	pthread_mutex_lock(&early.lock);
	if (early.count < RANGES_MOST)
		early.ranges[early.count++] =
			(struct early_range){id, clock_now_ns(), strdup(text)};
	pthread_mutex_unlock(&early.lock);
}

bool early_range_drop(uint64_t id)
{
	bool found = false;

	pthread_mutex_lock(&early.lock);
	for (size_t i = 0; i < early.count && !found; i++) {
		found = early.ranges[i].id == id;
		if (!found)
			continue;
		free(early.ranges[i].text);
		early.ranges[i] = early.ranges[--early.count];
	}
	pthread_mutex_unlock(&early.lock);
	return found;
}

void early_ranges_write(struct writer *w)
{
	pthread_mutex_lock(&early.lock);
	for (size_t i = 0; i < early.count; i++) {
		const struct early_range *range = &early.ranges[i];
		struct record_scope scope = {
			.header.tag = RECORD_SCOPE_RANGE, .id = range->id, .ns = range->ns};

		scope_record_put_loose(w, &scope, range->text ? range->text : "", NULL, 0);
		free(range->text);
	}
	early.count = 0;
	pthread_mutex_unlock(&early.lock);
}

void early_ranges_forget_parent(void)
{
	early.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
