/* Texts of wide characters as UTF-8. */
#ifndef DAGTAP_CAPTURE_WIDE_H
#define DAGTAP_CAPTURE_WIDE_H

#include <stddef.h>
#include <wchar.h>

/* As many whole characters as fit, and a 0; NULL is "". What is no character becomes U+FFFD. */
void wide_to_utf8(const wchar_t *text, char *ret_text, size_t bytes);

#endif
