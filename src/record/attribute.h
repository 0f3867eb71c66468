/* The attributes of a SCOPE record, one after the other:
 *
 *	const struct record_attribute *attribute = NULL;
 *
 *	while ((attribute = record_attribute_next(scope, attribute)))
 *		...
 */
#ifndef DAGTAP_RECORD_ATTRIBUTE_H
#define DAGTAP_RECORD_ATTRIBUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "record/record.h"

/* Of all attributes of one scope; a record must fit into a chunk. */
#define RECORD_ATTRIBUTES_BYTES_MOST 32768

static inline size_t record_padded(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

static inline size_t record_attribute_bytes(const struct record_attribute *attribute)
{
	return sizeof(*attribute) +
	       record_padded((size_t)attribute->key_bytes + attribute->text_bytes);
}

/* The one behind LAST (NULL: the first); NULL when there is none that ends within the record. */
const struct record_attribute *record_attribute_next(const struct record_scope *scope,
						     const struct record_attribute *last);

/* Whether the attributes end where the record does. The text's length must have been checked. */
bool record_attributes_fit(const struct record_scope *scope);

#endif
