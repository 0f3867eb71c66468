/* The JSON handlers of the Kineto reader: collect the tokens of one row (an object of
 * traceEvents) or of one device in load->event. */
#include <errno.h>
#include <string.h>

#include "base/table.h"
#include "format/kineto/kineto_input.h"
#include "format/kineto/kineto_reader_load.h"
#include "wire/json_reader.h"

/* What the current token belongs to. A nested value inside args is kept as its JSON text (NESTED);
 * a nested value elsewhere is skipped. */
enum place {
	PLACE_FILE,
	PLACE_TOP,
	PLACE_EVENTS,
	PLACE_EVENT,
	PLACE_ARGS,
	PLACE_DEVICES,
	PLACE_DEVICE,
	PLACE_NESTED,
	PLACE_SKIPPED,
	PLACE_END
};

static bool add_text(struct kread_load *load, const char *text, size_t bytes)
{
	struct trace_scope_attribute *row = kread_add_attribute(load, load->key);

	if (!row)
		return false;
	row->kind = RECORD_ATTRIBUTE_TEXT;
	row->value.text = kread_intern(load, text, bytes);
	return true;
}

/* ---- nested values, as text ---- */

static bool append(struct kread_load *load, const char *text, size_t bytes)
{
	if (table_reserve((void **)&load->nested, &load->nested_room, load->nested_bytes + bytes,
			  1) < 0) {
		load->result = -ENOMEM;
		return false;
	}
	memcpy(load->nested + load->nested_bytes, text, bytes);
	load->nested_bytes += bytes;
	return true;
}

/* Adds the comma between two values if one is needed. */
static bool begin_value(struct kread_load *load)
{
	char last = '[';

	if (load->nested_bytes)
		last = load->nested[load->nested_bytes - 1];
	if (last == '[' || last == '{' || last == ':')
		return true;
	return append(load, ", ", 2);
}

static bool append_value(struct kread_load *load, const char *text, size_t bytes)
{
	return begin_value(load) && append(load, text, bytes);
}

static bool append_quoted(struct kread_load *load, const char *text, size_t bytes)
{
	bool is_done = begin_value(load) && append(load, "\"", 1);

	for (size_t i = 0; i < bytes && is_done; i++) {
		if (text[i] == '"' || text[i] == '\\')
			is_done = append(load, "\\", 1);
		is_done = is_done && append(load, &text[i], 1);
	}
	return is_done && append(load, "\"", 1);
}

/* ---- tokens ---- */

static void clear_event(struct kread_event *event)
{
	event->phase = '\0';
	event->has_time = event->is_absurd = false;
	event->category = event->name = 0;
	event->pid = event->tid = (struct import_id){0};
	event->begin_ns = event->duration_ns = 0;
	event->args = 0;
	event->attribute_count = 0;
}

/* Enters a nested or skipped value; end_inner returns to the current place at its end. */
static void enter_inner(struct kread_load *load, enum place place)
{
	load->outer_place = load->place;
	load->inner_depth = load->depth;
	load->place = place;
	load->nested_bytes = 0;
}

static enum place place_in_top(const struct kread_load *load, bool is_object)
{
	if (!is_object && load->key == KREAD_TRACE_EVENTS)
		return PLACE_EVENTS;
	return !is_object && load->key == KREAD_DEVICE_PROPERTIES ? PLACE_DEVICES : PLACE_SKIPPED;
}

/* The place inside an object or array that begins. A file may consist of the array of rows
 * alone. */
static enum place place_inside(const struct kread_load *load, bool is_object)
{
	switch (load->place) {
	case PLACE_FILE:
		return is_object ? PLACE_TOP : PLACE_EVENTS;
	case PLACE_TOP:
		return place_in_top(load, is_object);
	case PLACE_EVENTS:
		return is_object ? PLACE_EVENT : PLACE_SKIPPED;
	case PLACE_EVENT:
		return is_object && load->key == KREAD_ARGS ? PLACE_ARGS : PLACE_SKIPPED;
	case PLACE_DEVICES:
		return is_object ? PLACE_DEVICE : PLACE_SKIPPED;
	case PLACE_ARGS:
	case PLACE_DEVICE:
		return PLACE_NESTED;
	default:
		return (enum place)load->place;
	}
}

static bool on_begin(void *context, bool is_object)
{
	struct kread_load *load = context;
	enum place place = place_inside(load, is_object);

	load->depth++;
	if (place != (enum place)load->place && (place == PLACE_NESTED || place == PLACE_SKIPPED))
		enter_inner(load, place);
	load->place = place;
	if (place == PLACE_EVENT || place == PLACE_DEVICE)
		clear_event(&load->event);
	load->has_events |= place == PLACE_EVENTS;
	return place != PLACE_NESTED || append_value(load, is_object ? "{" : "[", 1);
}

/* Decodes "[8, 8, 4]": a zero-terminated text of three integers. */
static bool take_dims(const char *text, uint32_t ret_dims[3])
{
	for (int i = 0; i < 3; i++) {
		uint64_t value = 0;

		if (*text++ != (i ? ',' : '['))
			return false;
		text += *text == ' ';
		for (; *text >= '0' && *text <= '9' && value <= UINT32_MAX; text++)
			value = value * 10 + (uint64_t)(*text - '0');
		if (value > UINT32_MAX)
			return false;
		ret_dims[i] = (uint32_t)value;
	}
	return !strcmp(text, "]");
}

/* Adds the complete nested value: grid and block of a row decoded if possible, all others as
 * text. */
static bool take_nested(struct kread_load *load)
{
	struct kread_event *event = &load->event;

	if (load->place == PLACE_ARGS && (load->key == KREAD_GRID || load->key == KREAD_BLOCK)) {
		if (!append(load, "", 1))
			return false;
		load->nested_bytes--;
		if (take_dims(load->nested, load->key == KREAD_GRID ? event->grid : event->block)) {
			kread_know_arg(event, load->key);
			return true;
		}
	}
	return add_text(load, load->nested, load->nested_bytes);
}

static bool end_inner(struct kread_load *load, bool is_object)
{
	bool is_nested = load->place == PLACE_NESTED;

	if (is_nested && !append(load, is_object ? "}" : "]", 1))
		return false;
	if (load->depth >= load->inner_depth)
		return true;
	load->place = load->outer_place;
	return !is_nested || take_nested(load);
}

static bool on_end(void *context, bool is_object)
{
	struct kread_load *load = context;

	load->depth--;
	switch (load->place) {
	case PLACE_NESTED:
	case PLACE_SKIPPED:
		return end_inner(load, is_object);
	case PLACE_ARGS:
		load->place = PLACE_EVENT;
		return true;
	case PLACE_EVENT:
		load->place = PLACE_EVENTS;
		load->result = kread_take_event(load);
		return load->result == 0;
	case PLACE_DEVICE:
		load->place = PLACE_DEVICES;
		load->result = kread_take_device(load);
		return load->result == 0;
	default:
		load->place = load->depth ? PLACE_TOP : PLACE_END;
		return true;
	}
}

static bool on_key(void *context, const char *text, size_t bytes)
{
	struct kread_load *load = context;

	if (load->place == PLACE_NESTED)
		return append_quoted(load, text, bytes) && append(load, ":", 1);
	if (load->place != PLACE_SKIPPED)
		load->key = kread_intern(load, text, bytes);
	return true;
}

static struct import_id text_id(struct kread_load *load, const char *text, size_t bytes)
{
	return (struct import_id){kread_intern(load, text, bytes), true};
}

static void take_event_text(struct kread_load *load, const char *text, size_t bytes)
{
	struct kread_event *event = &load->event;

	switch (load->key) {
	case KREAD_PH:
		event->phase = '\0';
		if (bytes == 1)
			event->phase = *text;
		break;
	case KREAD_CAT:
		event->category = kread_intern(load, text, bytes);
		break;
	case KREAD_NAME:
		event->name = kread_intern(load, text, bytes);
		break;
	case KREAD_PID:
		event->pid = text_id(load, text, bytes);
		break;
	case KREAD_TID:
		event->tid = text_id(load, text, bytes);
		break;
	default:
		break;
	}
}

static bool on_text(void *context, const char *text, size_t bytes)
{
	struct kread_load *load = context;

	switch (load->place) {
	case PLACE_EVENT:
		take_event_text(load, text, bytes);
		return true;
	case PLACE_ARGS:
	case PLACE_DEVICE:
		return add_text(load, text, bytes);
	case PLACE_NESTED:
		return append_quoted(load, text, bytes);
	case PLACE_TOP:
		if (load->key == KREAD_HOST_NAME)
			load->host = strtab_intern(load->import.strings, text, bytes);
		return true;
	default:
		return true;
	}
}

static void take_event_number(struct kread_load *load, const char *text, size_t bytes)
{
	struct kread_event *event = &load->event;
	int64_t value = 0;

	switch (load->key) {
	case KREAD_TS:
		event->has_time = true;
		event->is_absurd |= !kread_decimal(text, bytes, 3, &event->begin_ns);
		break;
	case KREAD_DUR:
		event->is_absurd |= !kread_decimal(text, bytes, 3, &event->duration_ns);
		break;
	case KREAD_PID:
		kread_decimal(text, bytes, 0, &value);
		event->pid = (struct import_id){(uint64_t)value, false};
		break;
	case KREAD_TID:
		kread_decimal(text, bytes, 0, &value);
		event->tid = (struct import_id){(uint64_t)value, false};
		break;
	default:
		break;
	}
}

static bool on_number(void *context, const char *text, size_t bytes)
{
	struct kread_load *load = context;
	struct trace_scope_attribute *row;

	switch (load->place) {
	case PLACE_EVENT:
		take_event_number(load, text, bytes);
		return true;
	case PLACE_ARGS:
	case PLACE_DEVICE:
		row = kread_add_attribute(load, load->key);
		if (row)
			kread_number(load, text, bytes, row);
		return row != NULL;
	case PLACE_NESTED:
		return append_value(load, text, bytes);
	case PLACE_TOP:
		if (load->key == KREAD_BASE_TIME)
			load->has_base = kread_decimal(text, bytes, 0, &load->base_ns);
		return true;
	default:
		return true;
	}
}

static bool on_literal(void *context, const char *text)
{
	struct kread_load *load = context;

	if (load->place == PLACE_ARGS || load->place == PLACE_DEVICE)
		return add_text(load, text, strlen(text));
	return load->place != PLACE_NESTED || append_value(load, text, strlen(text));
}

static size_t on_next(void *context, const char **ret_piece)
{
	struct kread_load *load = context;
	struct kineto_input *input = load->input;
	int64_t bytes = kineto_input_next(input, (const uint8_t **)ret_piece, load->error);

	if (bytes < 0)
		load->result = (int)bytes;
	if (load->options && load->options->progress)
		load->options->progress(load->options->progress_context, kineto_input_done(input),
					input->file->size);
	return bytes > 0 ? (size_t)bytes : 0;
}

static const struct json_handler handler = {
	.begin = on_begin,
	.end = on_end,
	.key = on_key,
	.text = on_text,
	.number = on_number,
	.literal = on_literal,
	.next = on_next,
};

int kread_read_tokens(struct kread_load *load, struct json_stop *ret_stop)
{
	return json_read(&handler, load, ret_stop);
}
