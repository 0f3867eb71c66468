/* The interface between a test and libhip_between.so (hip_between.c), the library that can make
 * single HIP calls fail. The test reads and writes the struct; one thread makes all HIP calls. */
#ifndef TESTS_PATCH_HIP_BETWEEN_H
#define TESTS_PATCH_HIP_BETWEEN_H

#include <stdint.h>

enum { BETWEEN_FAILURE = 999 }; /* hipErrorUnknown */

struct between {
	uint64_t calls; /* HIP calls made so far */
	/* number of the call to fail instead of being made, counted from 1; 0: none */
	uint64_t fails;
	const char *failed; /* name of the function that was made to fail */
	const char *lies;   /* calls of this name return success without being made; NULL: none */
};
extern struct between between;

#endif
