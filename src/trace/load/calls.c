/* The stage of calls: each API record becomes the row that the rank of its correlation id gives. It
 * also counts each call's activities, and notes calls about events, captures and updates while
 * their arguments are there. */
#include "trace/load/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/args.h"
#include "trace/load/expect_call.h"
#include "trace/row_table.h"

#define UNKNOWN_FUNCTION  UINT32_MAX
#define FUNCTIONS_INDEXED RECORD_CUDA_FUNCTION_END

/* What must be known of a function to fill a call's row. */
struct call_api {
	uint32_t api; /* index into apis; TRACE_NONE = not looked up yet */
	uint32_t arg_words;
	struct stream_api stream;
	struct call_event_api event;
	struct cuda_capture_api capture;
	struct cuda_stream_api cuda_stream;
	struct update_api update;
	struct expect_call expected;
	uint32_t programmatic_word; /* TRACE_NONE: the API has no such argument */
	bool keeps_args;
};

/* The state of the stage. */
struct call_fill {
	struct process_load *load;
	uint64_t *is_filled;	  /* a bit per row */
	uint64_t count;		  /* number of API records */
	size_t word_room;	  /* room of trace.words */
	uint32_t unknown_apis[2]; /* for HIP and for CUDA; TRACE_NONE until it is needed */
	struct fill_thread thread;
	struct idset_last cid, scope;
	const struct call_api *api; /* of the current call */
	struct call_api *apis;	    /* by function number, below function_count */
	uint32_t function_count;
	struct call_api other; /* for functions from function_count on */
};

static uint32_t find_api(const struct process_load *load, uint32_t function)
{
	uint32_t low = load->first.apis, high = load->trace->apis_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (load->trace->apis[middle].function < function)
			low = middle + 1;
		else
			high = middle;
	}
	return low < load->trace->apis_count && load->trace->apis[low].function == function
		       ? low
		       : TRACE_NONE;
}

static int init_fill(struct call_fill *fill, struct process_load *load)
{
	const struct trace *trace = load->trace;
	uint32_t last = trace->apis_count > load->first.apis
				? trace->apis[trace->apis_count - 1].function
				: 0;

	*fill = (struct call_fill){
		.load = load,
		.is_filled = calloc((size_t)load->raw.cids.count / 64 + 1, sizeof(uint64_t)),
		.unknown_apis = {TRACE_NONE, TRACE_NONE},
		.function_count = last < FUNCTIONS_INDEXED ? last + 1 : FUNCTIONS_INDEXED,
	};
	fill->apis = calloc(fill->function_count, sizeof(*fill->apis));
	if (!fill->is_filled || !fill->apis)
		return -ENOMEM;
	for (uint32_t i = 0; i < fill->function_count; i++)
		fill->apis[i].api = TRACE_NONE;
	return 0;
}

/* CUDA's functions that dagtap has no number for have number 0. */
static bool is_cuda_function(uint32_t function)
{
	return !function ||
	       (function >= RECORD_CUDA_FUNCTION_FIRST && function < RECORD_CUDA_FUNCTION_END);
}

/* A call whose function has no name (its META record was dropped) still needs a row of apis: one
 * per interface, after all others. */
static int use_unknown_api(struct call_fill *fill, uint32_t function, struct call_api *api)
{
	struct process_load *load = fill->load;
	uint32_t *unknown = &fill->unknown_apis[is_cuda_function(function)];
	struct trace_api *row;

	if (*unknown == TRACE_NONE) {
		row = trace_extend(load->trace, apis, 1);
		if (!row)
			return -ENOMEM;
		*row = (struct trace_api){
			.process = load->process,
			.function = UNKNOWN_FUNCTION,
			.name = strtab_intern_z(load->strings, "(unknown call)"),
			.domain =
				is_cuda_function(function) ? RECORD_DOMAIN_CUDA : RECORD_DOMAIN_HIP,
		};
		*unknown = load->trace->apis_count - 1;
		/* This stage still reads the names of other APIs, and interning may have moved the
		 * texts. */
		load->trace->strings = load->strings->strings;
	}
	*api = (struct call_api){.api = *unknown,
				 .cuda_stream = {ARGS_NO_WORD, ARGS_NO_WORD},
				 .programmatic_word = TRACE_NONE};
	return 0;
}

/* Word of the argument of CUDA's launches with attributes that tells whether the kernel may begin
 * before the previous kernel of its stream has ended; TRACE_NONE if the API has none. */
static uint32_t programmatic_word(const struct trace *trace, const struct trace_api *api)
{
	uint32_t arg = api->domain == RECORD_DOMAIN_CUDA ? args_find(trace, api, "programmatic")
							 : TRACE_NONE;

	return arg == TRACE_NONE ? TRACE_NONE : trace->api_args[arg].word;
}

static int look_up_api(struct call_fill *fill, uint32_t function, struct call_api *api)
{
	struct process_load *load = fill->load;
	uint32_t row = find_api(load, function);

	if (row == TRACE_NONE || function == UNKNOWN_FUNCTION)
		return use_unknown_api(fill, function, api);
	*api = (struct call_api){
		.api = row,
		.arg_words = load->trace->apis[row].arg_words,
		.stream = load->call_notes.stream_apis[row - load->first.apis],
		.event = load->without_waits ? (struct call_event_api){.role = CALL_EVENT_NONE}
					     : call_event_api_of(load, &load->trace->apis[row]),
		.capture = cuda_capture_api_of(load->trace, &load->trace->apis[row]),
		.cuda_stream = cuda_stream_api_of(load->trace, &load->trace->apis[row]),
		.update = update_api_of(load->trace, &load->trace->apis[row]),
		.expected = expect_call_of(load->trace, &load->trace->apis[row]),
		.programmatic_word = programmatic_word(load->trace, &load->trace->apis[row]),
	};
	api->keeps_args = api->arg_words && (!load->is_brief || api->stream.is_needed);
	return 0;
}

static int use_api(struct call_fill *fill, uint32_t function)
{
	struct call_api *api =
		function < fill->function_count ? &fill->apis[function] : &fill->other;

	fill->api = api;
	return api->api == TRACE_NONE || api == &fill->other ? look_up_api(fill, function, api) : 0;
}

/* Doubles the room for words, because their number is known only in the end. */
static int keep_args(struct call_fill *fill, const struct record_api *record,
		     struct trace_call *call)
{
	struct trace *trace = fill->load->trace;
	uint32_t words = fill->api->arg_words;
	uint64_t total = (uint64_t)trace->words_count + words;

	if (record->header.words - sizeof(*record) / 8 < words)
		return 0;
	if (total >= TRACE_NONE)
		return -E2BIG;
	if (table_reserve((void **)&trace->words, &fill->word_room, total, sizeof(*trace->words)) <
	    0)
		return -ENOMEM;
	call->arg_first = trace->words_count;
	memcpy(trace->words + trace->words_count, record->args, words * sizeof(*trace->words));
	trace->words_count = (uint32_t)total;
	return 0;
}

static uint64_t stream_handle(const struct call_fill *fill, const struct record_api *record)
{
	const struct stream_api *stream = &fill->api->stream;
	uint64_t handle = 0;

	if (stream->role == STREAM_NONE)
		return STREAM_HANDLE_NONE;
	if (stream->word < record->header.words - sizeof(*record) / 8)
		handle = record->args[stream->word];
	else if (stream->word != STREAM_WORD_NONE)
		return STREAM_HANDLE_NONE;
	return !handle && stream->is_per_thread ? STREAM_HANDLE_PER_THREAD : handle;
}

/* True if the row has a record already that counts. Of several records with one id, the call that
 * began first counts, whichever is read first. */
static bool is_taken(struct call_fill *fill, uint32_t rank, const struct record_api *record)
{
	const struct trace_call *call = &fill->load->trace->calls[fill->load->first.calls + rank];
	uint64_t bit = 1ull << rank % 64;

	if (!(fill->is_filled[rank / 64] & bit)) {
		fill->is_filled[rank / 64] |= bit;
		return false;
	}
	fill->load->tally.duplicates++;
	if (call->begin_ns != (int64_t)record->begin_ns)
		return call->begin_ns < (int64_t)record->begin_ns;
	return call->end_ns <= (int64_t)record->end_ns;
}

/* Makes the bits when the first such call comes. */
static int note_programmatic(struct call_fill *fill, uint32_t rank, const struct record_api *record)
{
	struct process_load *load = fill->load;
	uint32_t word = fill->api->programmatic_word;

	if (word == TRACE_NONE || word >= record->header.words - sizeof(*record) / 8 ||
	    !record->args[word])
		return 0;
	if (!load->call_notes.programmatic)
		load->call_notes.programmatic =
			calloc((size_t)load->raw.cids.count / 64 + 1, sizeof(uint64_t));
	if (!load->call_notes.programmatic)
		return -ENOMEM;
	load->call_notes.programmatic[rank / 64] |= 1ull << rank % 64;
	return 0;
}

/* Row of the stream that a call of CUDA names; others get theirs later. */
static uint32_t cuda_stream(const struct call_fill *fill, const struct record_api *record,
			    uint32_t tid)
{
	const struct cuda_handle *found =
		cuda_handles_find(fill->load, &fill->api->cuda_stream, record, tid);

	return found ? cuda_find_stream(fill->load, found->stream_context, found->stream)
		     : TRACE_NONE;
}

static int add_call(struct call_fill *fill, const struct record_api *api, uint32_t tid)
{
	struct process_load *load = fill->load;
	uint32_t rank = idset_find(&load->raw.cids, api->cid);
	struct trace_call *call = &load->trace->calls[load->first.calls + rank];
	uint32_t parent = TRACE_NONE, scope;

	if (rank == UINT32_MAX)
		return -ESTALE;
	if (is_taken(fill, rank, api))
		return 0;
	if (use_api(fill, api->header.tag) < 0)
		return -ENOMEM;
	if (api->parent)
		parent = idset_find(&load->raw.cids, api->parent);
	scope = idset_find_again(&load->raw.scope_ids, api->scope, &fill->scope);
	*call = (struct trace_call){
		.cid = api->cid,
		.begin_ns = (int64_t)api->begin_ns,
		.end_ns = (int64_t)api->end_ns,
		.process = load->process,
		.thread = fill_thread(&fill->thread, load, tid),
		.parent = parent == UINT32_MAX ? TRACE_NONE : load->first.calls + parent,
		.scope = scope == UINT32_MAX ? TRACE_NONE : load->first.scopes + scope,
		.stream = cuda_stream(fill, api, tid),
		.launch = TRACE_NONE,
		.activities_expected = api->activities,
		.api = fill->api->api,
		.arg_first = TRACE_NONE,
		.result = api->result,
	};
	load->call_notes.stream_handles[rank] = stream_handle(fill, api);
	load->tally.expected[rank] = expect_call_count(&fill->api->expected, api);
	if (note_programmatic(fill, rank, api) < 0)
		return -ENOMEM;
	if (fill->api->event.role != CALL_EVENT_NONE &&
	    call_event_note(&load->call_events, &fill->api->event, rank, api) < 0)
		return -ENOMEM;
	if (fill->api->capture.role != CUDA_CAPTURE_NONE &&
	    cuda_capture_note(&load->cuda.captures, &fill->api->capture, rank, api) < 0)
		return -ENOMEM;
	if (fill->api->update.is_update &&
	    update_note(&load->updates, &fill->api->update, rank, api) < 0)
		return -ENOMEM;
	return fill->api->keeps_args ? keep_args(fill, api, call) : 0;
}

static void release_fill(struct call_fill *fill)
{
	free(fill->is_filled);
	free(fill->apis);
}

/* Counts an activity of a call: the counts give the places of each call's activities. */
static void count_activity(struct call_fill *fill, uint64_t cid)
{
	struct process_load *load = fill->load;
	uint32_t rank = idset_find_again(&load->raw.cids, cid, &fill->cid);

	if (rank != UINT32_MAX)
		load->call_notes.activity_counts[rank]++;
}

static int read_calls(struct call_fill *fill)
{
	struct process_load *load = fill->load;
	const struct record_header *header;
	struct origin_walk walk;
	int err = 0;

	origin_walk_init(&walk, load->raw.origin,
			 ORIGIN_TYPE(RECORD_API) | ORIGIN_TYPE(RECORD_DISPATCH) |
				 ORIGIN_TYPE(RECORD_COPY) | ORIGIN_TYPE(RECORD_CUDA_KERNEL) |
				 ORIGIN_TYPE(RECORD_CUDA_COPY));
	while (err == 0 && (header = origin_walk_next(&walk))) {
		const void *at = header;
		const struct record_dispatch *dispatch = at;
		const struct record_copy *copy = at;
		const struct record_cuda_kernel *cuda_kernel = at;
		const struct record_cuda_copy *cuda_copy = at;

		fill->count += header->type == RECORD_API;
		if (header->type == RECORD_API)
			err = add_call(fill, at, walk.tid);
		else if (header->type == RECORD_DISPATCH)
			count_activity(fill, dispatch->cid);
		else if (header->type == RECORD_COPY)
			count_activity(fill, copy->cid);
		else if (header->type == RECORD_CUDA_KERNEL)
			count_activity(fill, cuda_outer_cid(&load->cuda, cuda_kernel->cid));
		else if (header->type == RECORD_CUDA_COPY)
			count_activity(fill, cuda_outer_cid(&load->cuda, cuda_copy->cid));
	}
	if (err == 0 && fill->count != load->raw.type_counts[RECORD_API])
		return -ESTALE;
	return err < 0 ? err : load->raw.origin->error;
}

int calls_load(struct process_load *load)
{
	uint32_t count = load->raw.cids.count;
	struct call_fill fill = {.load = load};
	int result = stream_apis_load(load);

	load->call_notes.stream_handles =
		table_alloc(count, sizeof(*load->call_notes.stream_handles));
	load->call_notes.activity_counts =
		table_zeroed(count, sizeof(*load->call_notes.activity_counts));
	load->tally.expected = table_zeroed(count, sizeof(*load->tally.expected));
	if (!load->tally.expected || !load->call_notes.stream_handles ||
	    !load->call_notes.activity_counts || !trace_append(load->trace, calls, count))
		result = -ENOMEM;
	if (result == 0)
		result = init_fill(&fill, load);
	if (result == 0)
		result = read_calls(&fill);
	release_fill(&fill);
	return result;
}
