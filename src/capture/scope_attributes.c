/* Encodes the attributes of a scope; see scope_attributes.h. */
#include "capture/scope_attributes.h"

#include <dagtap/annotate.h>
#include <string.h>

#include "record/attribute.h"
#include "record/writer.h"

_Static_assert((int)DAGTAP_ATTRIBUTE_INT64 == RECORD_ATTRIBUTE_INT64 &&
		       (int)DAGTAP_ATTRIBUTE_UINT64 == RECORD_ATTRIBUTE_UINT64 &&
		       (int)DAGTAP_ATTRIBUTE_DOUBLE == RECORD_ATTRIBUTE_DOUBLE &&
		       (int)DAGTAP_ATTRIBUTE_TEXT == RECORD_ATTRIBUTE_TEXT,
	       "kinds are recorded as they come");

/* Sets all of RET_HEAD. Returns false when ATTRIBUTE is left out. */
static bool describe(const struct dagtap_attribute *attribute, struct record_attribute *ret_head)
{
	struct record_attribute head = {.kind = (uint16_t)attribute->kind};

	if (!attribute->key)
		return false;
	head.key_bytes = (uint16_t)writer_text_bytes(strlen(attribute->key));
	switch (attribute->kind) {
	case DAGTAP_ATTRIBUTE_INT64:
	case DAGTAP_ATTRIBUTE_UINT64:
	case DAGTAP_ATTRIBUTE_DOUBLE:
		memcpy(&head.value, &attribute->value, sizeof(head.value));
		break;
	case DAGTAP_ATTRIBUTE_TEXT:
		if (!attribute->value.text)
			return false;
		head.text_bytes = writer_text_bytes(strlen(attribute->value.text));
		break;
	default:
		return false;
	}
	*ret_head = head;
	return true;
}

size_t attributes_bytes(const struct dagtap_attribute *attributes, size_t count)
{
	struct record_attribute head;
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		if (!describe(&attributes[i], &head))
			continue;
		if (bytes + record_attribute_bytes(&head) > RECORD_ATTRIBUTES_BYTES_MOST)
			break;
		bytes += record_attribute_bytes(&head);
	}
	return bytes;
}

void attributes_write(const struct dagtap_attribute *attributes, size_t count, char *memory)
{
	struct record_attribute head;
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		char *at = memory + bytes;

		if (!describe(&attributes[i], &head))
			continue;
		bytes += record_attribute_bytes(&head);
		if (bytes > RECORD_ATTRIBUTES_BYTES_MOST)
			return;
		/* For the padding; the copies below overwrite the rest of these bytes. */
		memset(memory + bytes - 8, 0, 8);
		memcpy(at, &head, sizeof(head));
		memcpy(at + sizeof(head), attributes[i].key, head.key_bytes);
		if (head.text_bytes)
			memcpy(at + sizeof(head) + head.key_bytes, attributes[i].value.text,
			       head.text_bytes);
	}
}
