/* Iterates over the attributes of a SCOPE record, and gives their sizes to the code that writes
 * them:
 *
 *	const struct record_attribute *attribute = NULL;
 *
 *	while ((attribute = record_attribute_next(scope, attribute)))
  *		...
 *
 * Threading: all functions only read the record; any thread may call them.
 */
#ifndef DAGTAP_RECORD_ATTRIBUTE_H
#define DAGTAP_RECORD_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "record/record.h"

/* Most bytes of all attributes of one scope. The limit keeps the record smaller than a chunk. */
#define RECORD_ATTRIBUTES_BYTES_MOST 32768

/* BYTES rounded up to a multiple of 8, as text and attributes are padded. */
static inline size_t record_padded(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

/* Size of an attribute in its record, with its key, text and padding. */
static inline size_t record_attribute_bytes(const struct record_attribute *attribute)
{
	return sizeof(*attribute) +
	       record_padded((size_t)attribute->key_bytes + attribute->text_bytes);
}

/* Returns the attribute after LAST, or the first if LAST is NULL. Returns NULL if no further
 * attribute ends within the record. The result points into the record. */
const struct record_attribute *record_attribute_next(const struct record_scope *scope,
						     const struct record_attribute *last);

/* Returns the number of the SCOPE_BODY that has the text and the attributes of SCOPE; 0: the record
 * has them itself. */
uint32_t record_scope_body(const struct record_scope *scope);

/* Whether the last attribute ends exactly at the end of the record. The caller must have checked
 * that text_bytes lies within the record. */
bool record_attributes_fit(const struct record_scope *scope);

#endif
