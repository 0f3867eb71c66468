/* Filling a dagtap_error (dagtap/error.h): cold calls take an optional one beside their error code. */
#ifndef DAGTAP_BASE_ERROR_H
#define DAGTAP_BASE_ERROR_H

#include <stdint.h>

#include <dagtap/error.h>

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
