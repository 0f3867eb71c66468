/* The stage of scopes: each begin with its end and its attributes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/attribute.h"
#include "trace/load/scope_text.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

static uint64_t scope_id(const struct raw *row)
{
	return ((const struct record_scope *)row->record)->id;
}

static uint64_t scope_end_id(const struct raw *row)
{
	return ((const struct record_scope_end *)row->record)->id;
}

/* Sorts LIST by id; for equal ids, in the order in which they were written. Ids mostly occur once,
 * and then the order of chunks in the file does not matter. */
static int sort_by_id(struct raw_list *list, uint64_t (*id)(const struct raw *row))
{
	bool is_mixed = false;

	if (raw_sort(list, id) < 0)
		return -ENOMEM;
	for (uint32_t i = 1; i < list->count && !is_mixed; i++)
		is_mixed = id(&list->rows[i - 1]) == id(&list->rows[i]) &&
			   list->rows[i - 1].order > list->rows[i].order;
	if (!is_mixed)
		return 0;
	return raw_sort(list, raw_order) < 0 ? -ENOMEM : raw_sort(list, id);
}

static struct trace_scope scope_row(struct process_load *load, const struct raw *raw)
{
	const struct record_scope *record = raw->record;

	return (struct trace_scope){
		.process = load->process,
		.id = record->id,
		.parent = TRACE_NONE,
		.kind = record->header.tag,
		.text = strtab_intern(load->strings, record->text, record->text_bytes),
		.thread = load_find_thread(load, raw->tid),
		.begin_ns = (int64_t)record->ns,
		.end_ns = (int64_t)record->ns,
	};
}

static void close_scopes(struct process_load *load, struct trace_scope *rows, uint32_t count)
{
	const struct raw_list *ends = &load->raw.lists[RECORD_SCOPE_END];
	int64_t process_end = load->trace->processes[load->process].end_ns;
	uint32_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		while (at < ends->count && scope_end_id(&ends->rows[at]) < rows[i].id)
			at++;
		if (rows[i].kind == RECORD_SCOPE_MARK)
			continue;
		if (at < ends->count && scope_end_id(&ends->rows[at]) == rows[i].id) {
			const struct record_scope_end *end = ends->rows[at].record;

			rows[i].end_ns = (int64_t)end->ns;
		} else {
			rows[i].open = true;
			if (process_end > rows[i].begin_ns)
				rows[i].end_ns = process_end;
		}
	}
}

/* ---- attributes ---- */

/* The parts of a text. All scopes with this text share them. */
struct parsed_text {
	bool is_parsed;
	trace_string name;
	uint32_t first, count;
};

static int add_attribute(struct process_load *load, const struct trace_scope_attribute *attribute)
{
	struct trace_scope_attribute *row = trace_add(load->trace, scope_attributes);

	if (!row)
		return -ENOMEM;
	*row = *attribute;
	return 0;
}

static int parse_text(struct process_load *load, trace_string text, struct parsed_text *ret_parsed)
{
	const char *bytes = load->strings->strings[text];
	struct trace_scope_attribute attribute;
	struct scope_text parts;

	scope_text_split(bytes, strlen(bytes), &parts);
	ret_parsed->is_parsed = true;
	ret_parsed->name = strtab_intern(load->strings, parts.name, parts.name_bytes);
	ret_parsed->first = load->trace->scope_attributes_count;
	while (scope_text_next(&parts, load->strings, &attribute))
		if (add_attribute(load, &attribute) < 0)
			return -ENOMEM;
	ret_parsed->count = load->trace->scope_attributes_count - ret_parsed->first;
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

/* Gives a scope with attributes in its record rows of its own: these, then a copy of those in its
 * text. */
static int own_attributes(struct process_load *load, const struct record_scope *record,
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

static int load_attributes(struct process_load *load, struct trace_scope *rows, uint32_t count)
{
	/* Names that are interned below get numbers after those of all texts. */
	struct parsed_text *parsed = calloc(load->strings->count + 1, sizeof(*parsed));
	const struct raw_list *list = &load->raw.lists[RECORD_SCOPE];
	int err = parsed ? 0 : -ENOMEM;
	uint32_t at = 0;

	for (uint32_t i = 0; i < count && err == 0; i++) {
		struct parsed_text *text = &parsed[rows[i].text];

		while (scope_id(&list->rows[at]) != rows[i].id)
			at++;
		if (!text->is_parsed)
			err = parse_text(load, rows[i].text, text);
		rows[i].name = text->name;
		rows[i].attribute_first = text->first;
		rows[i].attribute_count = text->count;
		if (err == 0)
			err = own_attributes(load, list->rows[at].record, &rows[i]);
	}
	free(parsed);
	return err;
}

/* True for a repeated record: in a ring recording, kept scopes are written more than once. */
static bool is_said_again(const struct raw *first, const struct raw *again)
{
	const struct record_scope *a = first->record, *b = again->record;

	return a->header.tag == b->header.tag && a->ns == b->ns && a->text_bytes == b->text_bytes;
}

int scopes_load(struct process_load *load)
{
	struct raw_list *list = &load->raw.lists[RECORD_SCOPE];
	struct trace_scope *rows;
	uint32_t used = 0;
	int err;

	if (sort_by_id(list, scope_id) < 0 ||
	    sort_by_id(&load->raw.lists[RECORD_SCOPE_END], scope_end_id) < 0)
		return -ENOMEM;
	rows = trace_extend(load->trace, scopes, list->count);
	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		if (used && rows[used - 1].id == scope_id(&list->rows[i]))
			load->tally.duplicates +=
				!is_said_again(&list->rows[i - 1], &list->rows[i]);
		else
			rows[used++] = scope_row(load, &list->rows[i]);
	}
	load->trace->scopes_count -= list->count - used;
	/* The parent may be a scope of any thread, so it is looked up among all. */
	for (uint32_t i = 0, at = 0; i < list->count; i++) {
		const struct record_scope *record = list->rows[i].record;

		if (i && record->id == scope_id(&list->rows[i - 1]))
			continue;
		rows[at++].parent = load_find_scope(load, record->parent);
	}
	close_scopes(load, rows, used);
	err = load_attributes(load, rows, used);
	raw_release(list);
	raw_release(&load->raw.lists[RECORD_SCOPE_END]);
	return err;
}
