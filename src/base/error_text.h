/* Fills a struct dagtap_error (dagtap/error.h), which functions off the hot path take,
 * optionally, to explain their error code. */
#ifndef DAGTAP_BASE_ERROR_TEXT_H
#define DAGTAP_BASE_ERROR_TEXT_H

#include <stdint.h>

#include <dagtap/error.h>

/* Both store CODE and the formatted message in ERROR, unless ERROR is NULL, and return CODE, so
 * that a function can return their result. A message that is too long is cut. dagtap_error_at
 * also stores OFFSET, and puts FILE and OFFSET before the message. */
int dagtap_error_set(struct dagtap_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int dagtap_error_at(struct dagtap_error *error, int code, const char *file, uint64_t offset,
		    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Tells the analyzer, which does not see error_text.c, that they return < 0. */
#ifdef __clang_analyzer__
#define dagtap_error_set(error, ...) (dagtap_error_set(error, __VA_ARGS__), -1)
#define dagtap_error_at(error, ...)  (dagtap_error_at(error, __VA_ARGS__), -1)
#endif

#endif
