/* Checks for well-formed UTF-8, which every text format needs for names from outside. Any
 * thread. */
#ifndef DAGTAP_WIRE_UTF8_H
#define DAGTAP_WIRE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* U+FFFD, written in place of each byte that is not part of a character. */
#define UTF8_REPLACEMENT       "\xef\xbf\xbd"
#define UTF8_REPLACEMENT_BYTES 3

/* Returns the length in bytes of the well-formed character (no surrogate, no overlong form, at most
 * U+10FFFF) at the beginning of TEXT; 0 if there is none. */
size_t utf8_character(const char *text, size_t bytes);

/* Whether all of TEXT is well-formed. */
bool utf8_valid(const char *text, size_t bytes);

#endif
