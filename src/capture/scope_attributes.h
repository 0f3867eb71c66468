/* Encodes a program's attributes (dagtap/annotate.h) as the attribute part of a SCOPE record
 * (docs/format/spool.md). scope.c calls both functions with the same arguments: first for the
 * size, then to fill the reserved memory. Any thread; no allocation.
 *
 * An attribute without a key, a text attribute without a text, and one of an unknown kind are
 * left out. Keys and texts are cut at RECORD_TEXT_MAX bytes. The first attribute that would
 * exceed RECORD_ATTRIBUTES_BYTES_MOST is left out, with all that follow. */
#ifndef DAGTAP_CAPTURE_SCOPE_ATTRIBUTES_H
#define DAGTAP_CAPTURE_SCOPE_ATTRIBUTES_H

#include <stddef.h>

struct dagtap_attribute;

/* Returns the number of bytes that attributes_write writes: a multiple of 8, at most
 * RECORD_ATTRIBUTES_BYTES_MOST; 0 when no attribute is left. */
size_t attributes_bytes(const struct dagtap_attribute *attributes, size_t count);

/* Writes the attributes, padded with zeros, to MEMORY, which is 8-byte aligned and has room for
 * attributes_bytes bytes. */
void attributes_write(const struct dagtap_attribute *attributes, size_t count, char *memory);

#endif
