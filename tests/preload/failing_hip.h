/* What random_hip.c and the library failing_hip.c share: the variable `failing` of that library. */
#ifndef TESTS_PRELOAD_FAILING_HIP_H
#define TESTS_PRELOAD_FAILING_HIP_H

#include <stdbool.h>
#include <stdint.h>

enum { FAILING_RESULT = 719 }; /* hipErrorLaunchFailure: what the failed call returns */

enum failing_kind { FAILING_GRAPHS, FAILING_EXECS, FAILING_EVENTS, FAILING_KINDS };

struct failing {
	bool is_armed;
	uint64_t calls; /* while armed */
	uint64_t at;	/* the number of the call that fails; 0: none */
	const char *failed;
	int was_destroy;	 /* the failed call destroys objects of this kind - 1 */
	uint32_t reported;	 /* failures that the program has seen */
	int live[FAILING_KINDS]; /* objects that were made and not destroyed while armed */
};

#endif
