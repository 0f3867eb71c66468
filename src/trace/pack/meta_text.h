/* Lines of text in a .dagtap file: "KEY VALUE", where newline and backslash are escaped
 * (docs/format/dagtap.md, META). */
#ifndef DAGTAP_TRACE_META_TEXT_H
#define DAGTAP_TRACE_META_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Writes a line. */
void meta_text_put(FILE *out, const char *key, const char *value);

/* A copy of BYTES of TEXT with the escapes undone; the caller frees it. NULL: out of memory. */
char *meta_text_read(const char *text, size_t bytes);

#endif
