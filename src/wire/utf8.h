/* Well-formed UTF-8: the one check that every text format needs for names that come from outside. */
#ifndef DAGTAP_WIRE_UTF8_H
#define DAGTAP_WIRE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* What stands for a byte that is not part of any character. */
#define UTF8_REPLACEMENT       "\xef\xbf\xbd"
#define UTF8_REPLACEMENT_BYTES 3

/* Length of the well-formed character (no surrogates, no overlong forms, at most U+10FFFF) that
 * TEXT begins with; 0 if there is none. */
size_t utf8_character(const char *text, size_t bytes);

bool utf8_valid(const char *text, size_t bytes);

#endif
