/* Texts of wide characters as UTF-8, for NVTX. */
#ifndef DAGTAP_CAPTURE_WIDE_H
#define DAGTAP_CAPTURE_WIDE_H

#include <stddef.h>
#include <wchar.h>

/* Converts TEXT into RET_TEXT, of BYTES bytes: as many whole characters as fit, and a
 * terminating 0. NULL is converted to "". An invalid character becomes U+FFFD. Any thread; no
 * allocation. */
void wide_to_utf8(const wchar_t *text, char *ret_text, size_t bytes);

#endif
