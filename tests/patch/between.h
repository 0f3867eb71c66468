/* The interface between a test and the library between dagpatch and its driver (between.c), which
 * can make single calls of the driver fail. The test reads and writes the struct; one thread makes
 * all calls. */
#ifndef TESTS_PATCH_BETWEEN_H
#define TESTS_PATCH_BETWEEN_H

#include <stdint.h>

enum { BETWEEN_FAILURE = 999 }; /* hipErrorUnknown, CUDA_ERROR_UNKNOWN */

/* Kinds of objects that calls make and destroy. */
enum between_kind {
	BETWEEN_MEMORY,
	BETWEEN_HOST_MEMORY,
	BETWEEN_STREAMS,
	BETWEEN_EVENTS,
	BETWEEN_MODULES,
	BETWEEN_GRAPHS,
	BETWEEN_EXECS,
	BETWEEN_CONTEXTS,
	BETWEEN_KINDS
};

struct between {
	/* handle of the driver's library; NULL: the program is linked with it */
	void *next;
	uint64_t calls; /* made so far */
	/* number of the call to fail instead of being made, counted from 1; 0: none */
	uint64_t fails;
	const char *failed; /* name of the function that was made to fail */
	const char *lies;   /* calls of this name return success without being made; NULL: none */
	/* Objects that were made and not destroyed. A call that makes one is taken to succeed if it
	 * is passed on. A call that destroys one counts also if it is made to fail. */
	int64_t live[BETWEEN_KINDS];
};
extern struct between between;

#endif
