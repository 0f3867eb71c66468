/* Streams: which stream a call works on, and which stream a handle stands for at that time.
 *
 * Handles are reused, so calls are taken in the order of their correlation ids. A create call gives
 * its handle to a new stream; a destroy call ends it. While a create call of another thread is
 * running, calls that began before its return mean the previous stream of the handle. HIP's special
 * handles: 0 and 1 are the null stream, 2 is the calling thread's own default stream. For functions
 * whose names end in _spt, which programs built with -fgpu-default-stream=per-thread call, 0 and no
 * handle mean that one too. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "trace/args.h"
#include "trace/load/calls.h"
#include "trace/row_table.h"

#define HANDLE_LEGACY 1

/* hipStreamCreateWithFlags */
#define FLAG_NONBLOCKING 1

/* A stream, before and after it gets a row. */
struct stream_object {
	uint32_t stream; /* TRACE_NONE: created, but not used yet, so without a row */
	enum trace_stream_kind kind;
};

/* What a handle stands for. */
struct stream_life {
	int64_t made_ns; /* when the call returned that created `now` */
	struct stream_object now;
	struct stream_object before; /* what calls mean that began before made_ns */
};

/* The rows of destroyed handles stay and are used again. */
struct stream_lives {
	/* of pairs: handle, and the owner of a per-thread stream, else TRACE_NONE */
	struct numbers handles;
	struct stream_life *rows; /* by number of the handle */
	uint32_t rows_count;
};

static const char *const stream_arguments[] = {"stream", "hStream", "streamId", "s"};

static bool ends_with(const char *text, const char *end)
{
	size_t chars = strlen(text), end_chars = strlen(end);

	return chars >= end_chars && !strcmp(text + chars - end_chars, end);
}

static struct stream_api classify(const struct trace *trace, const struct trace_api *api)
{
	const char *name = trace_text(trace, api->name);
	struct stream_api result = {
		.word = STREAM_WORD_NONE,
		.is_needed = !strncmp(name, "hipMemcpy", 9) || !strncmp(name, "hipMemset", 9) ||
			     !strncmp(name, "hipStreamCreateWith", 19),
		.is_per_thread = api->domain == RECORD_DOMAIN_HIP && ends_with(name, "_spt"),
	};

	/* CUDA's streams are found by CUPTI's numbers instead. */
	if (api->domain == RECORD_DOMAIN_CUDA)
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
			classify(trace, &trace->apis[load->first.apis + i]);
	return 0;
}

static struct stream_life *find_life(struct stream_lives *lives, uint64_t handle, uint32_t thread)
{
	uint32_t number = numbers_get(&lives->handles, handle, thread);
	struct stream_life *life;

	if (number < lives->rows_count)
		return &lives->rows[number];
	life = number == NUMBERS_NONE ? NULL : trace_add(lives, rows);
	if (life)
		*life = (struct stream_life){
			.made_ns = INT64_MIN,
			.now.stream = TRACE_NONE,
			.before.stream = TRACE_NONE,
		};
	return life;
}

static int add_stream(struct process_load *load, uint64_t handle, enum trace_stream_kind kind,
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

/* Kind of the stream that CALL creates. */
static enum trace_stream_kind made_kind(const struct trace *trace, const struct trace_call *call)
{
	uint64_t flags;

	if (args_find(trace, &trace->apis[call->api], "flags") == TRACE_NONE)
		return TRACE_STREAM_BLOCKING;
	if (!args_get(trace, call, "flags", &flags))
		return TRACE_STREAM_UNKNOWN;
	return flags & FLAG_NONBLOCKING ? TRACE_STREAM_NONBLOCKING : TRACE_STREAM_BLOCKING;
}

static int use_stream(struct stream_walk *walk, enum stream_role role, uint64_t handle,
		      struct trace_call *call)
{
	struct process_load *load = walk->load;
	struct stream_object *object;
	struct stream_life *life;

	if (handle == 0 || handle == HANDLE_LEGACY) {
		if (role == STREAM_USE)
			call->stream = load->first.streams;
		return 0;
	}
	life = find_life(walk->lives, handle,
			 handle == STREAM_HANDLE_PER_THREAD ? call->thread : TRACE_NONE);
	if (!life)
		return -ENOMEM;
	if (role == STREAM_CREATE) {
		life->before = life->now;
		life->now = (struct stream_object){TRACE_NONE, made_kind(load->trace, call)};
		life->made_ns = call->end_ns;
		return 0;
	}
	object = call->begin_ns < life->made_ns ? &life->before : &life->now;
	if (handle == STREAM_HANDLE_PER_THREAD)
		object->kind = TRACE_STREAM_PER_THREAD;
	if (object->stream == TRACE_NONE &&
	    add_stream(load, handle, object->kind, &object->stream) < 0)
		return -ENOMEM;
	call->stream = object->stream;
	if (role == STREAM_DESTROY)
		*object = (struct stream_object){TRACE_NONE, TRACE_STREAM_UNKNOWN};
	return 0;
}

/* Adds a row for each of CUPTI's streams, in the order of its numbers. */
static int add_cuda_streams(struct process_load *load)
{
	uint32_t stream;
	int err = 0;

	load->cuda.stream_first = load->trace->streams_count;
	for (uint32_t i = 0; i < load->cuda.streams.count && err == 0; i++)
		err = add_stream(load, 0, TRACE_STREAM_UNKNOWN, &stream);
	if (err == 0)
		cuda_tell_streams(load);
	return err;
}

/* Adds the streams that exist from the beginning: HIP's null stream, and CUDA's streams, whose
 * numbers are known. */
int streams_load(struct process_load *load)
{
	bool is_cuda_alone = cuda_is_there(&load->cuda) &&
			     load->raw.type_counts[RECORD_API] == load->cuda.call_records;
	uint32_t null_stream;
	int err = is_cuda_alone ? 0 : add_stream(load, 0, TRACE_STREAM_NULL, &null_stream);

	return err == 0 ? add_cuda_streams(load) : err;
}

int stream_walk_init(struct stream_walk *walk, struct process_load *load)
{
	*walk = (struct stream_walk){.load = load, .lives = calloc(1, sizeof(*walk->lives))};
	return walk->lives ? 0 : -ENOMEM;
}

int stream_walk_take(struct stream_walk *walk, struct trace_call *call)
{
	const struct process_load *load = walk->load;
	uint64_t handle =
		load->call_notes.stream_handles[call - &load->trace->calls[load->first.calls]];
	enum stream_role role;

	if (handle == STREAM_HANDLE_NONE)
		return 0;
	role = load->call_notes.stream_apis[call->api - load->first.apis].role;
	return role == STREAM_USE || call->result == 0 ? use_stream(walk, role, handle, call) : 0;
}

void stream_walk_release(struct stream_walk *walk)
{
	if (walk->lives) {
		numbers_release(&walk->lives->handles);
		free(walk->lives->rows);
	}
	free(walk->lives);
}
