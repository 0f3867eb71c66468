/* Adds up the counters of processes, and prints them. */
#include "preload/run_summary.h"

#include <stdlib.h>
#include <string.h>

#include "preload/preload_stats.h"

static const struct {
	const char *name, *text;
} counters[] = {
#define COUNTER_ROW(name, text) {#name, text},
	PRELOAD_COUNTERS(COUNTER_ROW)};

static const struct {
	const char *name, *text;
} times[] = {PRELOAD_TIMES(COUNTER_ROW)};

enum {
	COUNTERS = sizeof(counters) / sizeof(*counters),
	TIMES = sizeof(times) / sizeof(*times),
	PASSED_BY_BYTES = 64,
};

struct sums {
	uint32_t processes;
	uint64_t counters[COUNTERS], time_counts[TIMES], time_ns[TIMES];
	char passed_by[PASSED_BY_BYTES];
};

/* The value of "NAME SUFFIX" in a line, or 0. */
static uint64_t value_of(const char *line, const char *name, const char *suffix)
{
	char key[PASSED_BY_BYTES];
	const char *found;

	snprintf(key, sizeof(key), "\"%s%s\": ", name, suffix);
	found = strstr(line, key);
	return found ? strtoull(found + strlen(key), NULL, 10) : 0;
}

static void add_line(struct sums *sums, const char *line)
{
	const char *passed_by = strstr(line, "\"passed_by\": \"");

	sums->processes++;
	for (int i = 0; i < COUNTERS; i++)
		sums->counters[i] += value_of(line, counters[i].name, "");
	for (int i = 0; i < TIMES; i++) {
		sums->time_counts[i] += value_of(line, times[i].name, "_count");
		sums->time_ns[i] += value_of(line, times[i].name, "_ns");
	}
	if (passed_by)
		sscanf(passed_by, "\"passed_by\": \"%63[^\"]", sums->passed_by);
}

static void print(const struct sums *sums, FILE *out)
{
	fprintf(out, "dagpatch: %u process%s used graphs\n", sums->processes,
		sums->processes == 1 ? "" : "es");
	for (int i = 0; i < COUNTERS; i++)
		if (sums->counters[i])
			fprintf(out, "%14llu  %s\n", (unsigned long long)sums->counters[i],
				counters[i].text);
	for (int i = 0; i < TIMES; i++)
		if (sums->time_counts[i])
			fprintf(out, "%11.2f us  %s, on average of %llu\n",
				(double)sums->time_ns[i] / (double)sums->time_counts[i] / 1000,
				times[i].text, (unsigned long long)sums->time_counts[i]);
	if (*sums->passed_by)
		fprintf(out, "the last one passed through because of %s\n", sums->passed_by);
}

void run_summary_print(FILE *file, FILE *out)
{
	struct sums sums = {0};
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, file) >= 0)
		add_line(&sums, line);
	free(line);
	print(&sums, out);
}
