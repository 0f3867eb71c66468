/* Bounds of the attributes in a SCOPE record. */
#include "record/attribute.h"

/* Sets *RET_NEXT to the place after LAST, and returns how many bytes the record has from there. */
static size_t bytes_left(const struct record_scope *scope, const struct record_attribute *last,
			 const struct record_attribute **ret_next)
{
	const char *end = (const char *)scope + scope->header.words * (size_t)8;
	const char *next = last ? (const char *)last + record_attribute_bytes(last)
				: scope->text + record_padded(scope->text_bytes);

	*ret_next = (const struct record_attribute *)next;
	return (size_t)(end - next);
}

const struct record_attribute *record_attribute_next(const struct record_scope *scope,
						     const struct record_attribute *last)
{
	const struct record_attribute *next;
	size_t left = bytes_left(scope, last, &next);

	return left >= sizeof(*next) && left >= record_attribute_bytes(next) ? next : NULL;
}

uint32_t record_scope_body(const struct record_scope *scope)
{
	const struct record_attribute *first = record_attribute_next(scope, NULL);

	return first && first->kind == RECORD_ATTRIBUTE_BODY ? (uint32_t)first->value : 0;
}

bool record_attributes_fit(const struct record_scope *scope)
{
	const struct record_attribute *last = NULL, *next;

	while ((next = record_attribute_next(scope, last)))
		last = next;
	return !bytes_left(scope, last, &next);
}
