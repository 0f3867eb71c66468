/* Streams: what each API does with them, and the rows that exist from the beginning. Which stream a
 * call works on is found later (join/call_streams.c). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/args.h"
#include "trace/load/call_streams.h"
#include "trace/row_table.h"

static const char *const stream_arguments[] = {"stream", "hStream", "streamId", "s"};

static bool ends_with(const char *text, const char *end)
{
	size_t chars = strlen(text), end_chars = strlen(end);

	return chars >= end_chars && !strcmp(text + chars - end_chars, end);
}

static struct stream_api classify(const struct process_load *load, const struct trace_api *api)
{
	const struct trace *trace = load->trace;
	const char *name = trace_text(trace, api->name);
	struct stream_api result = {
		.word = STREAM_WORD_NONE,
		.is_needed = !strncmp(name, "hipMemcpy", 9) || !strncmp(name, "hipMemset", 9) ||
			     !strncmp(name, "hipStreamCreateWith", 19),
		.is_per_thread = api->domain == RECORD_DOMAIN_HIP && ends_with(name, "_spt"),
	};

	/* CUDA's streams, which are also NCCL's, are found by CUPTI's numbers instead. */
	if (api->domain == RECORD_DOMAIN_CUDA ||
	    (api->domain == RECORD_DOMAIN_RCCL && cuda_is_there(&load->cuda)))
		return result;
	for (size_t i = 0; i < sizeof(stream_arguments) / sizeof(stream_arguments[0]); i++) {
		uint32_t at = args_find(trace, api, stream_arguments[i]);
		char kind;

		if (at == TRACE_NONE)
			continue;
		kind = trace->api_args[at].kind;
		if (kind == 'o' && strstr(name, "StreamCreate"))
			result.role = STREAM_CREATE;
		else if (kind == 'h')
			result.role =
				!strcmp(name, "hipStreamDestroy") ? STREAM_DESTROY : STREAM_USE;
		if (result.role != STREAM_NONE) {
			result.word = trace->api_args[at].word;
			break;
		}
	}
	if (result.role == STREAM_NONE && result.is_per_thread)
		result.role = STREAM_USE;
	return result;
}

int stream_apis_load(struct process_load *load)
{
	const struct trace *trace = load->trace;
	uint32_t api_count = trace->apis_count - load->first.apis;

	load->call_notes.stream_apis =
		calloc((size_t)api_count + 1, sizeof(*load->call_notes.stream_apis));
	if (!load->call_notes.stream_apis)
		return -ENOMEM;
	for (uint32_t i = 0; i < api_count; i++)
		load->call_notes.stream_apis[i] =
			classify(load, &trace->apis[load->first.apis + i]);
	return 0;
}

int stream_add(struct process_load *load, uint64_t handle, enum trace_stream_kind kind,
	       uint32_t *ret_stream)
{
	struct trace_stream *stream = trace_add(load->trace, streams);

	if (!stream)
		return -ENOMEM;
	*ret_stream = load->trace->streams_count - 1;
	*stream = (struct trace_stream){
		.process = load->process,
		.ordinal = *ret_stream - load->first.streams,
		.handle = handle,
		.agent = TRACE_NONE,
		.kind = kind,
	};
	return 0;
}

/* Adds a row for each of CUPTI's streams, in the order of its numbers. */
static int add_cuda_streams(struct process_load *load)
{
	uint32_t stream;
	int err = 0;

	load->cuda.stream_first = load->trace->streams_count;
	for (uint32_t i = 0; i < load->cuda.streams.count && err == 0; i++)
		err = stream_add(load, 0, TRACE_STREAM_UNKNOWN, &stream);
	if (err == 0)
		cuda_tell_streams(load);
	return err;
}

/* Adds the streams that exist from the beginning: HIP's null stream, and CUDA's streams, whose
 * numbers are known. */
int streams_load(struct process_load *load)
{
	bool is_cuda_alone = cuda_is_there(&load->cuda) &&
			     load->raw.type_counts[RECORD_API] ==
				     load->cuda.call_records + load->cuda.nccl_records;
	uint32_t null_stream;
	int err = is_cuda_alone ? 0 : stream_add(load, 0, TRACE_STREAM_NULL, &null_stream);

	return err == 0 ? add_cuda_streams(load) : err;
}
