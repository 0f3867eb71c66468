/* The args of the row that is being read: their values, and the attributes that the model keeps of
 * them (kineto_reader_load.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "format/kineto/kineto_reader_load.h"

struct trace_scope_attribute *kread_add_attribute(struct kread_load *load, trace_string key)
{
	struct kread_event *event = &load->event;
	struct trace_scope_attribute *row;

	if (table_reserve((void **)&event->attributes, &event->attributes_room,
			  (uint64_t)event->attribute_count + 1, sizeof(*row)) < 0) {
		load->result = -ENOMEM;
		return NULL;
	}
	/* grid and block are known args only when take_nested has decoded them */
	if (key >= KREAD_ARG_FIRST && key <= KREAD_ARG_LAST && key != KREAD_GRID &&
	    key != KREAD_BLOCK)
		kread_know_arg(event, key);
	row = &event->attributes[event->attribute_count++];
	row->key = key;
	row->value.uint64 = 0;
	return row;
}

static bool int_of_text(const char *text, int64_t *ret_value)
{
	char *end;
	bool is_hexadecimal = !strncmp(text, "0x", 2);

	errno = 0;
	*ret_value = is_hexadecimal ? (int64_t)strtoull(text, &end, 16) : strtoll(text, &end, 10);
	return errno == 0 && end != text && *end == '\0';
}

/* 2^53: doubles hold all integers up to here */
#define EXACT_MOST 9007199254740992.0

bool kread_int(const struct kread_load *load, const struct kread_event *event, enum kread_word word,
	       int64_t *ret_value)
{
	const struct trace_scope_attribute *row;
	double number;

	if (!kread_has(event, word))
		return false;
	row = kread_arg(event, word);
	switch (row->kind) {
	case RECORD_ATTRIBUTE_INT64:
	case RECORD_ATTRIBUTE_UINT64:
		*ret_value = row->value.int64;
		return true;
	case RECORD_ATTRIBUTE_DOUBLE:
		number = row->value.float64;
		if (!(number >= -EXACT_MOST && number <= EXACT_MOST))
			return false;
		*ret_value = (int64_t)number;
		return (double)*ret_value == number;
	default:
		return int_of_text(kread_string(load, row->value.text), ret_value);
	}
}

int64_t kread_int_or(const struct kread_load *load, const struct kread_event *event,
		     enum kread_word word, int64_t fallback)
{
	int64_t value;

	return kread_int(load, event, word, &value) ? value : fallback;
}

/* Removes the attributes in TAKEN, which the model's row states itself. */
static void drop_taken(struct kread_event *event, uint64_t taken)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < event->attribute_count; i++) {
		trace_string key = event->attributes[i].key;

		if (key < KREAD_ARG_FIRST || key > KREAD_ARG_LAST || !(taken & KREAD_ARG(key)))
			event->attributes[kept++] = event->attributes[i];
	}
	event->attribute_count = kept;
}

/* Adds decoded dimensions back as a text attribute, for a row that is no kernel. */
static int keep_dims(struct kread_load *load, enum kread_word word, const uint32_t dims[3])
{
	struct trace_scope_attribute *row = kread_add_attribute(load, word);

	if (!row)
		return -ENOMEM;
	row->kind = RECORD_ATTRIBUTE_TEXT;
	row->value.text =
		strtab_format(load->import.strings, "[%u, %u, %u]", dims[0], dims[1], dims[2]);
	return 0;
}

int kread_keep_dimensions(struct kread_load *load, uint64_t taken)
{
	uint64_t left = load->event.args & ~taken;

	if (left & KREAD_ARG(KREAD_GRID) && keep_dims(load, KREAD_GRID, load->event.grid) < 0)
		return -ENOMEM;
	if (left & KREAD_ARG(KREAD_BLOCK) && keep_dims(load, KREAD_BLOCK, load->event.block) < 0)
		return -ENOMEM;
	return 0;
}

int64_t kread_attribute_set(struct kread_load *load, uint64_t taken)
{
	struct kread_event *event = &load->event;

	drop_taken(event, taken);
	if (event->args & ~taken & KREAD_DIMENSION_ARGS && kread_keep_dimensions(load, taken) < 0)
		return -ENOMEM;
	return import_set(&load->import, event->attributes, event->attribute_count);
}
