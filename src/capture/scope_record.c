/* Writes the records of scopes; see scope_record.h. */
#include "capture/scope_record.h"

#include <string.h>

#include "base/clock.h"
#include "capture/scope_attributes.h"
#include "record/attribute.h"

void scope_record_put(struct writer *w, enum record_scope_kind kind,
		      const struct record_scope *fixed, const char *body, size_t body_bytes)
{
	const size_t header_bytes = sizeof(struct record_header);
	char *record = writer_reserve(w, RECORD_SCOPE, sizeof(*fixed) + body_bytes);

	if (!record)
		return;
	memcpy(record + header_bytes, (const char *)fixed + header_bytes,
	       sizeof(*fixed) - header_bytes);
	if (body_bytes)
		memcpy(record + sizeof(*fixed), body, body_bytes);
	writer_commit(w, record, RECORD_SCOPE, sizeof(*fixed) + body_bytes, kind);
}

void scope_record_put_loose(struct writer *w, struct record_scope *scope, const char *text,
			    const struct dagtap_attribute *attributes, size_t count)
{
	size_t text_bytes = writer_text_bytes(strlen(text)), body_bytes = text_bytes;
	size_t attribute_bytes = attributes_bytes(attributes, count);
	char *record;

	if (attribute_bytes)
		body_bytes = record_padded((uint32_t)text_bytes) + attribute_bytes;
	record = writer_reserve(w, RECORD_SCOPE, sizeof(*scope) + body_bytes);
	if (!record)
		return;
	scope->text_bytes = text_bytes;
	memcpy(record + sizeof(scope->header), (char *)scope + sizeof(scope->header),
	       sizeof(*scope) - sizeof(scope->header));
	memcpy(record + sizeof(*scope), text, text_bytes);
	if (attribute_bytes)
		attributes_write(attributes, count,
				 record + sizeof(*scope) + body_bytes - attribute_bytes);
	writer_commit(w, record, RECORD_SCOPE, sizeof(*scope) + body_bytes, scope->header.tag);
}

void scope_record_put_end(struct writer *w, uint64_t id)
{
	struct record_scope_end record = {.id = id, .ns = clock_now_ns()};

	writer_put(w, RECORD_SCOPE_END, 0, &record, sizeof(record));
}
