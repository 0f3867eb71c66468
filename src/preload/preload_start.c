/* Reads the settings when the library is loaded, and switches it off in forked children. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/amount.h"
#include "preload/virtual.h"

/* The number in the variable NAME, or USUAL if there is none from LEAST to MOST. */
static uint64_t number(const char *name, uint64_t least, uint64_t usual, uint64_t most)
{
	const char *text = getenv(name);
	uint64_t value;
	const char *end = text && *text ? amount_bytes(text, &value) : NULL;

	return end && !*end && value >= least && value <= most ? value : usual;
}

/* DAGPATCH_PRELOAD_COSTS=MAKING,NOTE,SWITCH. If it is not set: what was measured on an H100, until
 * it is measured where the program runs. */
static void read_costs(struct virtual_limits *limits)
{
	const char *text = getenv("DAGPATCH_PRELOAD_COSTS");
	unsigned int making, note, other;

	limits->making_calls = 250;
	limits->note_percent = 75;
	limits->switch_calls = 3;
	limits->are_measured = true;
	if (!text || sscanf(text, "%u,%u,%u", &making, &note, &other) != 3)
		return;
	limits->making_calls = making;
	limits->note_percent = note;
	limits->switch_calls = other;
	limits->are_measured = false;
}

static struct virtual_limits read_limits(void)
{
	struct virtual_limits limits = {
		.reals = (uint32_t)number("DAGPATCH_PRELOAD_EXECS", 1, 128, 65536),
		.bytes = number("DAGPATCH_PRELOAD_MEMORY", 0, 256 << 20, UINT64_MAX),
	};

	read_costs(&limits);
	return limits;
}

/* A GPU's runtime does not survive a fork, and other threads may hold our locks. The counters stay
 * the parent's. */
static void pass_in_child(void)
{
	virtual_configure(&virtual_limits, false);
	memset(&preload_stats, 0, sizeof(preload_stats));
}

/* Runs before the constructors of the program's libraries that are linked later; calls before it
 * pass through. */
__attribute__((constructor)) static void start(void)
{
	const char *text = getenv("DAGPATCH_PRELOAD");
	const char *stats = getenv("DAGPATCH_PRELOAD_STATS");
	bool is_on, is_advising;

	preload_is_timing = stats && *stats;
	preload_is_counting = text && strcmp(text, "count") == 0;
	is_on = !preload_is_counting && (!text || strcmp(text, "0") != 0);
	is_advising = text && strcmp(text, "advise") == 0;

	if (is_on && pthread_atfork(NULL, NULL, pass_in_child) == 0) {
		struct virtual_limits limits = read_limits();

		limits.is_advising = is_advising;
		if (is_advising)
			limits.reals = 1;
		virtual_configure(&limits, true);
	}
}
