/* A library between libdagpatch-preload.so and the driver, preloaded after it: counts the calls
 * that reach the driver, and swallows those of one function (between_calls.c). One thread. */
#ifndef TESTS_PRELOAD_BETWEEN_CALLS_H
#define TESTS_PRELOAD_BETWEEN_CALLS_H

#include <stdint.h>

/* What the preload library does with a call. */
enum call_class {
	VIRTUAL,   /* noted, or served by one of several executables */
	PASSED_ON, /* to the first executable, after it was given what is wanted */
	PASSES,	   /* the executable passes through from then on */
	NOTED,	   /* passed on; graphs' versions, streams or functions are noted */
	DRIVERS,   /* not wrapped */
};

struct between {
	const char *swallowed; /* returns 0 and is not made; NULL: none */
	const void *first;     /* only with this first argument; NULL: any */
	uint64_t (*count)(const char *name);
	void *(*next)(const char *name); /* the driver's function; NULL: it has none */
};

/* The library's, found by dlsym. */
#define BETWEEN_SYMBOL "between_calls"

#endif
