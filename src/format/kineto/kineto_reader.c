/* The Kineto reader's entry points and JSON handlers: collects the tokens of one row (an object of
 * traceEvents) or of one device in load->event. */
#include "format/kineto/kineto_reader.h"

#include <errno.h>
#include <stdlib.h>
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

static bool begins_json(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
		at++;
	return at < end && (*at == '{' || *at == '[');
}

bool kineto_is_likely(const struct read_file *file)
{
	struct kineto_input input;
	const uint8_t *piece;
	bool is_likely;
	int64_t bytes;

	if (kineto_input_open(&input, file) < 0)
		return false;
	bytes = kineto_input_next(&input, &piece, NULL);
	is_likely = bytes > 0 && begins_json((const char *)piece, (const char *)piece + bytes);
	kineto_input_close(&input);
	return is_likely;
}

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

/* ---- the file ---- */

static uint64_t count_lines(const char *bytes, size_t size)
{
	const char *end = bytes + size;
	uint64_t lines = 1;

	while ((bytes = memchr(bytes, '\n', (size_t)(end - bytes)))) {
		lines++;
		bytes++;
	}
	return lines;
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

static int fail_syntax(const struct kread_load *load, const struct json_stop *stop)
{
	const struct kineto_input *input = load->input;

	if (input->is_gzip)
		return dagtap_error_set(load->error, -EBADMSG,
					"%s: byte %llu of what it inflates to: no JSON: %s",
					load->name, (unsigned long long)stop->offset, stop->cause);
	return dagtap_error_at(
		load->error, -EBADMSG, load->name, stop->offset, "line %llu: no JSON: %s",
		(unsigned long long)count_lines(input->file->bytes, stop->offset), stop->cause);
}

static int fail_empty(const struct kread_load *load)
{
	return dagtap_error_set(load->error, -EBADMSG,
				load->is_cut_off
					? "%s: cut off at byte %llu, before any traceEvents"
					: "%s: no traceEvents in its %llu bytes of JSON: "
					  "not a trace of PyTorch's profiler",
				load->name, (unsigned long long)load->bytes);
}

/* Reads all tokens. If the file is cut off, the rows before the cut are kept and is_cut_off is
 * set. */
static int parse(struct kread_load *load)
{
	struct json_stop stop = {.cause = ""};
	int result = json_read(&handler, load, &stop);

	if (load->result < 0)
		return load->result;
	/* with a lost text, no word of the file can be trusted */
	if (load->import.strings->failed)
		return -ENOMEM;
	load->is_cut_off = result == -EBADMSG && stop.is_cut_off;
	load->bytes = load->input->used;
	if (result == -EBADMSG && !stop.is_cut_off)
		return fail_syntax(load, &stop);
	if (result < 0 && result != -EBADMSG)
		return result;
	return load->has_events ? 0 : fail_empty(load);
}

static int fill(struct kread_load *load, const struct read_file *file)
{
	struct kineto_input input;
	int result = kineto_input_open(&input, file);

	if (result < 0)
		return result;
	load->input = &input;
	load->is_gzip = input.is_gzip;
	result = parse(load);
	kineto_input_close(&input);
	if (result == 0)
		result = kread_nest(load);
	if (result == 0)
		result = kread_join(load);
	if (result == 0)
		result = kread_join_waits(load);
	if (result == 0)
		result = import_order_gpu(&load->import);
	return result == 0 ? kread_conclude(load) : result;
}

static void release(struct kread_load *load)
{
	numbers_release(&load->properties);
	numbers_release(&load->externals);
	free(load->event.attributes);
	free(load->nested);
	free(load->raw);
	free(load->syncs);
	free(load->labels);
	free(load->agents);
	free(load->external_scopes);
	free(load->call_externals);
}

static int begin_load(struct kread_load *load)
{
	static const char *const words[] = {"",
#define X(name, text) text,
					    KREAD_WORDS(X)
#undef X
	};
	int err = import_begin(&load->import);

	for (uint32_t i = 0; i < KREAD_WORD_COUNT && err == 0; i++)
		strtab_intern_z(load->import.strings, words[i]);
	return err;
}

int kineto_open(const struct read_file *file, const struct trace_options *options,
		struct trace **ret_trace, struct dagtap_error *error)
{
	struct kread_load load = {
		.name = file->name,
		.error = error,
		.options = options,
	};
	int err = begin_load(&load);

	if (err == 0)
		err = fill(&load, file);
	release(&load);
	return import_end(&load.import, err, file->name, ret_trace, error);
}
