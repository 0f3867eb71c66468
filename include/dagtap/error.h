/* The description of a failure, for a person: the file, the place in it, and the cause. The caller
 * owns the struct, which refers to no other memory. Only one thread may use it at a time. C99 and
 * C++11. */
#ifndef DAGTAP_ERROR_H
#define DAGTAP_ERROR_H

#include <stdint.h>

#define DAGTAP_ERROR_NO_OFFSET UINT64_MAX

struct dagtap_error {
	int code;	   /* negative errno, the same that the call returned */
	uint64_t offset;   /* byte offset in the file, or DAGTAP_ERROR_NO_OFFSET */
	char message[512]; /* "FILE: offset N: cause", no newline */
};

#endif
