/* The Kineto reader's entry points: open the file, and run the stages of kineto_reader_load.h. */
#include "format/kineto/kineto_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/kineto/kineto_input.h"
#include "format/kineto/kineto_reader_load.h"
#include "wire/json_reader.h"

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
	int result = kread_read_tokens(load, &stop);

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
