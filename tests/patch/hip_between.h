/* What a test tells libhip_between.so. */
#ifndef TESTS_PATCH_HIP_BETWEEN_H
#define TESTS_PATCH_HIP_BETWEEN_H

#include <stdint.h>

enum { BETWEEN_FAILURE = 999 }; /* hipErrorUnknown */

struct between {
	uint64_t calls;	    /* made so far */
	uint64_t fails;	    /* the call of this number fails, and is not made; 0: none */
	const char *failed; /* its name */
	const char *lies;   /* calls of this name succeed and are not made; NULL: none */
};
extern struct between between;

#endif
