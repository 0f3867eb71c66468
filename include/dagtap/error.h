/* One line about what went wrong, for a person: which file, where in it, and why. The caller owns it;
 * it holds no allocation; not shared between threads. C99 and C++11. */
#ifndef DAGTAP_ERROR_H
#define DAGTAP_ERROR_H

#include <stdint.h>

#define DAGTAP_ERROR_NO_OFFSET UINT64_MAX

struct dagtap_error {
	int code;	   /* negative errno, as the call returned it */
	uint64_t offset;   /* in the file, or DAGTAP_ERROR_NO_OFFSET */
	char message[512]; /* "FILE: offset N: cause", no newline */
};

#endif
