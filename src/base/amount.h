/* Parses amounts in the form that people write them: 64M, 30s. Any thread; no allocation. */
#ifndef DAGTAP_BASE_AMOUNT_H
#define DAGTAP_BASE_AMOUNT_H

#include <stdbool.h>
#include <stdint.h>

/* Parses a number of bytes at TEXT: decimal digits, then optionally K, M or G (powers of 1024, in
 * upper or lower case). A comma or the end of the text must follow. Returns the place of that
 * comma or end; NULL if there is no such number, or it does not fit in 64 bits. */
const char *amount_bytes(const char *text, uint64_t *ret_bytes);

/* Parses a size in bytes (64M), an age in seconds (30s), or both (64M,30s). Neither may be 0.
 * Sets the one that is absent to 0. Returns false, and sets nothing, if TEXT has another form. */
bool amount_size_and_age(const char *text, uint64_t *ret_bytes, uint64_t *ret_ns);

/* Parses a time in seconds: 5, 0.25 or 30s. Digits beyond the ninth after the point are ignored.
 * Returns false, and sets nothing, if TEXT has another form or the time does not fit. */
bool amount_seconds(const char *text, uint64_t *ret_ns);

#endif
