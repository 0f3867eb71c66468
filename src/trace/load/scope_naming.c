/* Names and attributes of scopes; see scope_naming.h. */
#include "trace/load/scope_naming.h"

#include <errno.h>
#include <string.h>

#include "record/attribute.h"
#include "trace/load/scope_text.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

static int add_attribute(struct process_load *load, const struct trace_scope_attribute *attribute)
{
	struct trace_scope_attribute *row = trace_add(load->trace, scope_attributes);

	if (!row)
		return -ENOMEM;
	*row = *attribute;
	return 0;
}

int scope_naming_parse(struct process_load *load, trace_string text,
		       struct scope_naming *ret_naming)
{
	const char *bytes = load->strings->strings[text];
	struct trace_scope_attribute attribute;
	struct scope_text parts;

	scope_text_split(bytes, strlen(bytes), &parts);
	ret_naming->is_known = true;
	ret_naming->name = strtab_intern(load->strings, parts.name, parts.name_bytes);
	ret_naming->first = load->trace->scope_attributes_count;
	while (scope_text_next(&parts, load->strings, &attribute))
		if (add_attribute(load, &attribute) < 0)
			return -ENOMEM;
	ret_naming->count = load->trace->scope_attributes_count - ret_naming->first;
	return 0;
}

static bool decode_attribute(struct process_load *load, const struct record_attribute *record,
			     struct trace_scope_attribute *ret_row)
{
	*ret_row = (struct trace_scope_attribute){
		.key = strtab_intern(load->strings, record->bytes, record->key_bytes),
		.kind = record->kind,
	};
	if (record->kind == RECORD_ATTRIBUTE_TEXT)
		ret_row->value.text = strtab_intern(
			load->strings, record->bytes + record->key_bytes, record->text_bytes);
	else
		memcpy(&ret_row->value, &record->value, sizeof(record->value));
	return record->kind > RECORD_ATTRIBUTE_NONE && record->kind < RECORD_ATTRIBUTE_KIND_COUNT;
}

int scope_naming_own(struct process_load *load, const struct record_scope *record,
		     struct trace_scope *row)
{
	const struct record_attribute *next = record_attribute_next(record, NULL);
	uint32_t text_first = row->attribute_first, text_count = row->attribute_count;
	struct trace_scope_attribute attribute;

	if (!next)
		return 0;
	row->attribute_first = load->trace->scope_attributes_count;
	for (; next; next = record_attribute_next(record, next))
		if (decode_attribute(load, next, &attribute) && add_attribute(load, &attribute) < 0)
			return -ENOMEM;
	for (uint32_t i = 0; i < text_count; i++) {
		attribute = load->trace->scope_attributes[text_first + i];
		if (add_attribute(load, &attribute) < 0)
			return -ENOMEM;
	}
	row->attribute_count = load->trace->scope_attributes_count - row->attribute_first;
	return 0;
}

void scope_naming_use(const struct scope_naming *naming, struct trace_scope *row)
{
	row->name = naming->name;
	row->attribute_first = naming->first;
	row->attribute_count = naming->count;
}
