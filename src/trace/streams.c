/* Streams: which one a call works on, and which life of a handle that is.
 *
 * Handles are re-used, so calls are walked in the order of their correlation ids: a create starts
 * a new life of its handle, a destroy ends it. HIP's special handles: 0 and 1 are the null stream,
 * 2 is the calling thread's own default stream. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/args.h"
#include "trace/process.h"
#include "trace/table.h"

#define HANDLE_LEGACY	  1
#define HANDLE_PER_THREAD 2

enum stream_role { ROLE_NONE, ROLE_USE, ROLE_CREATE, ROLE_DESTROY };

/* What an API has to do with streams, worked out once an API. */
struct stream_api {
	enum stream_role role;
	uint8_t word;
};

struct stream_life {
	uint64_t handle;
	uint32_t thread; /* of a per-thread stream, else TRACE_NONE */
	uint32_t stream; /* TRACE_NONE: created, not used yet */
	bool taken;
};

/* Open addressing by handle; a destroyed handle's slot stays and is used again. */
struct stream_lives {
	struct stream_life *slots;
	uint32_t slot_count;
	uint32_t used;
};

static const char *const stream_arguments[] = {"stream", "hStream", "streamId", "s"};

static struct stream_api classify(const struct trace *trace, const struct trace_api *api)
{
	const char *name = trace_text(trace, api->name);
	struct stream_api result = {0};

	for (size_t i = 0; i < sizeof(stream_arguments) / sizeof(stream_arguments[0]); i++) {
		uint32_t at = args_find(trace, api, stream_arguments[i]);
		char kind;

		if (at == TRACE_NONE)
			continue;
		kind = trace->api_args[at].kind;
		result.word = trace->api_args[at].word;
		if (kind == 'o' && !strncmp(name, "hipStreamCreate", 15))
			result.role = ROLE_CREATE;
		else if (kind == 'h')
			result.role = !strcmp(name, "hipStreamDestroy") ? ROLE_DESTROY : ROLE_USE;
		if (result.role != ROLE_NONE)
			break;
	}
	return result;
}

static uint32_t first_slot(const struct stream_lives *lives, uint64_t handle, uint32_t thread)
{
	uint64_t hash = (handle ^ ((uint64_t)thread << 40)) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(hash >> 32) & (lives->slot_count - 1);
}

static int grow(struct stream_lives *lives)
{
	struct stream_lives bigger = {.slot_count = lives->slot_count ? lives->slot_count * 2 : 64};

	bigger.slots = calloc(bigger.slot_count, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < lives->slot_count; i++) {
		const struct stream_life *life = &lives->slots[i];
		uint32_t at;

		if (!life->taken)
			continue;
		at = first_slot(&bigger, life->handle, life->thread);
		while (bigger.slots[at].taken)
			at = (at + 1) & (bigger.slot_count - 1);
		bigger.slots[at] = *life;
		bigger.used++;
	}
	free(lives->slots);
	*lives = bigger;
	return 0;
}

static struct stream_life *find_life(struct stream_lives *lives, uint64_t handle, uint32_t thread)
{
	uint32_t at;

	if (lives->used >= lives->slot_count / 2 && grow(lives) < 0)
		return NULL;
	at = first_slot(lives, handle, thread);
	while (lives->slots[at].taken &&
	       (lives->slots[at].handle != handle || lives->slots[at].thread != thread))
		at = (at + 1) & (lives->slot_count - 1);
	if (!lives->slots[at].taken) {
		lives->slots[at] = (struct stream_life){
			.handle = handle,
			.thread = thread,
			.stream = TRACE_NONE,
			.taken = true,
		};
		lives->used++;
	}
	return &lives->slots[at];
}

static int add_stream(struct process_load *load, uint64_t handle, uint32_t *ret_stream)
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
	};
	return 0;
}

static int use_stream(struct process_load *load, struct stream_lives *lives,
		      const struct stream_api *api, struct trace_call *call)
{
	uint64_t handle = load->trace->words[call->arg_first + api->word];
	struct stream_life *life;

	if (handle == 0 || handle == HANDLE_LEGACY) {
		if (api->role == ROLE_USE)
			call->stream = load->first.streams;
		return 0;
	}
	life = find_life(lives, handle, handle == HANDLE_PER_THREAD ? call->thread : TRACE_NONE);
	if (!life)
		return -ENOMEM;
	if (api->role == ROLE_CREATE) {
		life->stream = TRACE_NONE;
		return 0;
	}
	if (life->stream == TRACE_NONE && add_stream(load, handle, &life->stream) < 0)
		return -ENOMEM;
	call->stream = life->stream;
	if (api->role == ROLE_DESTROY)
		life->stream = TRACE_NONE;
	return 0;
}

static int walk_calls(struct process_load *load, const struct stream_api *apis)
{
	struct trace *trace = load->trace;
	struct stream_lives lives = {0};
	int result = 0;

	for (uint32_t i = load->first.calls; i < trace->calls_count && result == 0; i++) {
		struct trace_call *call = &trace->calls[i];
		const struct stream_api *api = &apis[call->api - load->first.apis];

		if (api->role == ROLE_NONE || api->word >= call->arg_words)
			continue;
		if (api->role != ROLE_USE && call->result != 0)
			continue;
		result = use_stream(load, &lives, api, call);
	}
	free(lives.slots);
	return result;
}

int streams_load(struct process_load *load)
{
	struct trace *trace = load->trace;
	uint32_t api_count = trace->apis_count - load->first.apis;
	struct stream_api *apis = calloc(api_count + 1, sizeof(*apis));
	uint32_t null_stream;
	int result = apis ? 0 : -ENOMEM;

	if (result == 0)
		result = add_stream(load, 0, &null_stream);
	for (uint32_t i = 0; i < api_count && result == 0; i++)
		apis[i] = classify(trace, &trace->apis[load->first.apis + i]);
	if (result == 0)
		result = walk_calls(load, apis);
	free(apis);
	return result;
}
