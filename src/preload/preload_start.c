/* Reads the settings when the library is loaded, and switches it off in forked children. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/virtual.h"

enum { DEFAULT_EXECS = 128, DEFAULT_MAKING = 150, LARGEST = 65536 };

/* The number in the variable NAME, or USUAL if there is none from LEAST to LARGEST. */
static uint32_t number(const char *name, uint32_t least, uint32_t usual)
{
	const char *text = getenv(name);
	char *end;
	unsigned long value;

	if (!text || !*text)
		return usual;
	errno = 0;
	value = strtoul(text, &end, 10);
	return errno || *end || value < least || value > LARGEST ? usual : (uint32_t)value;
}

/* A GPU's runtime does not survive a fork, and other threads may hold our locks. The counters stay
 * the parent's. */
static void pass_in_child(void)
{
	virtual_configure(1, 0, false);
	memset(&preload_stats, 0, sizeof(preload_stats));
}

/* Runs before the constructors of the program's libraries that are linked later; calls before it
 * pass through. */
__attribute__((constructor)) static void start(void)
{
	const char *text = getenv("DAGPATCH_PRELOAD");
	const char *stats = getenv("DAGPATCH_PRELOAD_STATS");
	bool is_on;

	preload_is_timing = stats && *stats;
	preload_is_counting = text && strcmp(text, "count") == 0;
	is_on = !preload_is_counting && (!text || strcmp(text, "0") != 0);

	if (is_on && pthread_atfork(NULL, NULL, pass_in_child) == 0)
		virtual_configure(number("DAGPATCH_PRELOAD_EXECS", 1, DEFAULT_EXECS),
				  number("DAGPATCH_PRELOAD_MAKING", 0, DEFAULT_MAKING), true);
}
