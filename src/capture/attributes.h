/* A program's attributes as a SCOPE record holds them (docs/format/spool.md). */
#ifndef DAGTAP_CAPTURE_ATTRIBUTES_H
#define DAGTAP_CAPTURE_ATTRIBUTES_H

#include <stddef.h>

struct dagtap_attribute;

/* What attributes_write will write: a multiple of 8, at most RECORD_ATTRIBUTES_BYTES_MOST. */
size_t attributes_bytes(const struct dagtap_attribute *attributes, size_t count);

void attributes_write(const struct dagtap_attribute *attributes, size_t count, char *memory);

#endif
