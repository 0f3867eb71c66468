/* One line about what went wrong, for a person: which file, where in it, and why.
 *
 * Cold calls take an optional `struct dagtap_error *` beside their error code. The caller owns
 * it; it holds no allocation. Not shared between threads. */
#ifndef DAGTAP_BASE_ERROR_H
#define DAGTAP_BASE_ERROR_H

#include <stdint.h>

struct dagtap_error {
	int code;	   /* negative errno, as the call returned it */
	uint64_t offset;   /* in the file, or DAGTAP_ERROR_NO_OFFSET */
	char message[512]; /* "FILE: offset N: cause", no newline */
};

#define DAGTAP_ERROR_NO_OFFSET UINT64_MAX

/* Both fill ERROR when it is not NULL and return CODE, so that a function can end with them. */
int dagtap_error_set(struct dagtap_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int dagtap_error_at(struct dagtap_error *error, int code, const char *file, uint64_t offset,
		    const char *format, ...) __attribute__((format(printf, 5, 6)));

#ifdef __clang_analyzer__ /* it sees one file at a time, and not that they return a failure */
#define dagtap_error_set(error, ...) (dagtap_error_set(error, __VA_ARGS__), -1)
#define dagtap_error_at(error, ...)  (dagtap_error_at(error, __VA_ARGS__), -1)
#endif

#endif
