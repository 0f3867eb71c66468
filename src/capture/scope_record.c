/* Writes the records of scopes; see scope_record.h. */
#include "capture/scope_record.h"

#include <dagtap/annotate.h>
#include <string.h>

#include "base/clock.h"
#include "capture/scope_attributes.h"
#include "capture/texts.h"
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

/* Reserves a record of TYPE, SCOPE or SCOPE_BODY, and fills all but its header. Sets SCOPE's
 * text_bytes and *RET_BYTES. NULL: the record was dropped. */
static void *fill_record(struct writer *w, enum record_type type, struct record_scope *scope,
			 const char *text, const struct dagtap_attribute *attributes, size_t count,
			 size_t *ret_bytes)
{
	size_t text_bytes = writer_text_bytes(strlen(text)), body_bytes = text_bytes;
	size_t attribute_bytes = attributes_bytes(attributes, count);
	char *record;

	if (attribute_bytes)
		body_bytes = record_padded((uint32_t)text_bytes) + attribute_bytes;
	*ret_bytes = sizeof(*scope) + body_bytes;
	record = writer_reserve(w, type, *ret_bytes);
	if (!record)
		return NULL;
	scope->text_bytes = text_bytes;
	memcpy(record + sizeof(scope->header), (char *)scope + sizeof(scope->header),
	       sizeof(*scope) - sizeof(scope->header));
	memcpy(record + sizeof(*scope), text, text_bytes);
	if (attribute_bytes)
		attributes_write(attributes, count, record + *ret_bytes - attribute_bytes);
	return record;
}

void scope_record_put_loose(struct writer *w, struct record_scope *scope, const char *text,
			    const struct dagtap_attribute *attributes, size_t count)
{
	size_t bytes;
	void *record = fill_record(w, RECORD_SCOPE, scope, text, attributes, count, &bytes);

	if (record)
		writer_commit(w, record, RECORD_SCOPE, bytes, scope->header.tag);
}

static void put_body(struct writer *w, struct text *text)
{
	struct dagtap_attribute domain;
	struct record_scope body = {0};
	size_t bytes;
	void *record;

	if (text->group)
		domain = dagtap_attribute_text(RECORD_NVTX_DOMAIN_KEY, text->group->text);
	record = fill_record(w, RECORD_SCOPE_BODY, &body, text->text, &domain, text->group ? 1 : 0,
			     &bytes);
	if (!record)
		return;
	writer_commit(w, record, RECORD_SCOPE_BODY, bytes, text->number);
	atomic_store_explicit(&text->spool, w->spool_id, memory_order_release);
}

void scope_record_put_shared(struct writer *w, enum record_scope_kind kind,
			     const struct record_scope *fixed, struct text *text)
{
	const struct record_attribute body = {
		.kind = RECORD_ATTRIBUTE_BODY,
		.value = text->number,
	};

	if (w && atomic_load_explicit(&text->spool, memory_order_acquire) != w->spool_id)
		put_body(w, text);
	scope_record_put(w, kind, fixed, (const char *)&body, sizeof(body));
}

void scope_record_put_end(struct writer *w, uint64_t id)
{
	struct record_scope_end record = {.id = id, .ns = clock_now_ns()};

	writer_put(w, RECORD_SCOPE_END, 0, &record, sizeof(record));
}
