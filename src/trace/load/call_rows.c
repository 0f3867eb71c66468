/* Rows of calls: each API record becomes the row that the rank of its correlation id gives. Calls
 * about events, captures and updates are noted while their arguments are there. Threads share the
 * parts of the file (rows.c): the rows have their places, and what must be in the order of the file
 * is kept by part. */
#include "trace/load/call_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "record/stream_handles.h"
#include "trace/args.h"
#include "trace/load/call_parts.h"
#include "trace/load/call_streams.h"
#include "trace/load/expect_call.h"
#include "trace/row_table.h"

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

/* What each thread has of its own. */
struct call_worker {
	struct fill_thread thread;
	struct idset_last scope;
	struct idset_near cid;
	uint64_t call_count; /* number of API records */
	uint64_t duplicates;
	const struct call_api *api; /* of the current call */
	struct call_api *apis;	    /* by function number, below function_count */
	struct call_api other;	    /* for functions from function_count on */
	char apart[WORKERS_APART];
};

struct call_rows {
	struct process_load *load;
	uint8_t *is_filled; /* by row */
	/* Some records have equal ids. Which of them counts may depend on their order, so one
	 * thread reads them. dagtap writes no such file. */
	bool has_duplicates;
	uint32_t function_count;
	struct call_worker *workers;
	unsigned worker_count;
	struct call_part *parts;
	uint32_t part_count;
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

static int init_workers(struct call_rows *rows)
{
	rows->worker_count = workers_count(rows->has_duplicates ? 1 : WORKERS_ALL);
	rows->workers = calloc(rows->worker_count, sizeof(*rows->workers));
	for (unsigned i = 0; rows->workers && i < rows->worker_count; i++) {
		struct call_worker *worker = &rows->workers[i];

		worker->apis = calloc(rows->function_count, sizeof(*worker->apis));
		if (!worker->apis)
			return -ENOMEM;
		for (uint32_t k = 0; k < rows->function_count; k++)
			worker->apis[k].api = TRACE_NONE;
	}
	return rows->workers ? 0 : -ENOMEM;
}

static int init_rows(struct call_rows *rows, struct process_load *load)
{
	const struct trace *trace = load->trace;
	uint32_t last = trace->apis_count > load->first.apis
				? trace->apis[trace->apis_count - 1].function
				: 0;

	*rows = (struct call_rows){
		.load = load,
		.is_filled = table_zeroed(load->raw.cids.count, sizeof(*rows->is_filled)),
		.has_duplicates = load->raw.type_counts[RECORD_API] !=
				  (uint64_t)load->raw.cids.count + load->raw.idle_calls,
		.function_count = last < FUNCTIONS_INDEXED ? last + 1 : FUNCTIONS_INDEXED,
		.part_count = origin_part_count(load->raw.origin),
	};
	rows->parts = table_zeroed(rows->part_count, sizeof(*rows->parts));
	if (!rows->is_filled || !rows->parts)
		return -ENOMEM;
	return init_workers(rows);
}

/* Word of the argument of CUDA's launches with attributes that tells whether the kernel may begin
 * before the previous kernel of its stream has ended; TRACE_NONE if the API has none. */
static uint32_t programmatic_word(const struct trace *trace, const struct trace_api *api)
{
	uint32_t arg = api->domain == RECORD_DOMAIN_CUDA ? args_find(trace, api, "programmatic")
							 : TRACE_NONE;

	return arg == TRACE_NONE ? TRACE_NONE : trace->api_args[arg].word;
}

static struct call_api look_up_api(const struct process_load *load, uint32_t function)
{
	const struct trace *trace = load->trace;
	uint32_t row = find_api(load, function);
	struct call_api api = {.api = TRACE_NONE,
			       .cuda_stream = {ARGS_NO_WORD, ARGS_NO_WORD},
			       .programmatic_word = TRACE_NONE};
	const struct trace_api *named;

	if (row == TRACE_NONE || function == CALL_UNKNOWN_FUNCTION)
		return api;
	named = &trace->apis[row];
	api = (struct call_api){
		.api = row,
		.arg_words = named->arg_words,
		.stream = load->call_notes.stream_apis[row - load->first.apis],
		.event = load->without_waits ? (struct call_event_api){.role = CALL_EVENT_NONE}
					     : call_event_api_of(load, named),
		.capture = cuda_capture_api_of(trace, named),
		.cuda_stream = cuda_stream_api_of(trace, named),
		.update = update_api_of(trace, named),
		.expected = expect_call_of(trace, named),
		.programmatic_word = programmatic_word(trace, named),
	};
	/* analyze/ reads the arguments of collectives, which are few. */
	api.keeps_args = api.arg_words && (!load->is_brief || api.stream.is_needed ||
					   named->domain == RECORD_DOMAIN_RCCL);
	return api;
}

static void use_api(const struct call_rows *rows, struct call_worker *worker, uint32_t function)
{
	struct call_api *api =
		function < rows->function_count ? &worker->apis[function] : &worker->other;

	worker->api = api;
	if (api->api == TRACE_NONE || api == &worker->other)
		*api = look_up_api(rows->load, function);
}

static uint64_t stream_handle(const struct stream_api *stream, const struct record_api *record)
{
	uint64_t handle = 0;

	if (stream->role == STREAM_NONE)
		return STREAM_HANDLE_NONE;
	if (stream->word < record->header.words - sizeof(*record) / 8)
		handle = record->args[stream->word];
	else if (stream->word != STREAM_WORD_NONE)
		return STREAM_HANDLE_NONE;
	return !handle && stream->is_per_thread ? STREAM_HANDLE_PER_THREAD : handle;
}

/* Whether the row has a record already that counts. Of several records with one id, the call that
 * began first counts, whichever is read first. */
static bool is_taken(const struct call_rows *rows, struct call_worker *worker, uint32_t rank,
		     const struct record_api *record)
{
	const struct trace_call *call = &rows->load->trace->calls[rows->load->first.calls + rank];
	bool was_filled = __atomic_load_n(&rows->is_filled[rank], __ATOMIC_RELAXED);

	__atomic_store_n(&rows->is_filled[rank], 1, __ATOMIC_RELAXED);
	if (!was_filled || !rows->has_duplicates)
		return false;
	worker->duplicates++;
	if (call->begin_ns != (int64_t)record->begin_ns)
		return call->begin_ns < (int64_t)record->begin_ns;
	return call->end_ns <= (int64_t)record->end_ns;
}

static void note_programmatic(const struct process_load *load, uint32_t word, uint32_t rank,
			      const struct record_api *record)
{
	if (word != TRACE_NONE && word < record->header.words - sizeof(*record) / 8 &&
	    record->args[word])
		__atomic_fetch_or(&load->call_notes.programmatic[rank / 64], 1ull << rank % 64,
				  __ATOMIC_RELAXED);
}

/* Notes what later stages need of the call besides its row. */
static int add_notes(struct call_part *part, const struct call_api *api, uint32_t rank,
		     const struct record_api *record)
{
	if (api->api == TRACE_NONE && call_part_note_unknown(part, rank, record->header.tag) < 0)
		return -ENOMEM;
	if (api->event.role != CALL_EVENT_NONE &&
	    call_event_note(&part->call_events, &api->event, rank, record) < 0)
		return -ENOMEM;
	if (api->capture.role != CUDA_CAPTURE_NONE &&
	    cuda_capture_note(&part->captures, &api->capture, rank, record) < 0)
		return -ENOMEM;
	if (api->update.is_update && update_note(&part->updates, &api->update, rank, record) < 0)
		return -ENOMEM;
	return 0;
}

static void fill_call(const struct call_rows *rows, struct call_worker *worker,
		      const struct record_api *api, uint32_t tid, struct trace_call *ret_call)
{
	struct process_load *load = rows->load;
	uint32_t parent = api->parent ? idset_find_near(&load->raw.cids, api->parent, &worker->cid)
				      : UINT32_MAX;
	uint32_t scope = idset_find_again(&load->raw.scope_ids, api->scope, &worker->scope);

	*ret_call = (struct trace_call){
		.cid = api->cid,
		.begin_ns = (int64_t)api->begin_ns,
		.end_ns = (int64_t)api->end_ns,
		.process = load->process,
		.thread = fill_thread(&worker->thread, load, tid),
		.parent = parent == UINT32_MAX ? TRACE_NONE : load->first.calls + parent,
		.scope = scope == UINT32_MAX ? TRACE_NONE : load->first.scopes + scope,
		/* Of CUDA's calls; others get theirs later. */
		.stream = cuda_handles_find(load, &worker->api->cuda_stream, api, tid),
		.launch = TRACE_NONE,
		.activities_expected = api->activities,
		.api = worker->api->api,
		.arg_first = TRACE_NONE,
		.result = api->result,
	};
}

static int add_call(const struct call_rows *rows, struct call_worker *worker,
		    struct call_part *part, const struct record_api *record, uint32_t tid)
{
	struct process_load *load = rows->load;
	uint32_t rank = idset_find_near(&load->raw.cids, record->cid, &worker->cid);
	struct trace_call *call = &load->trace->calls[load->first.calls + rank];
	const struct call_api *api;

	worker->call_count++;
	if (rank == UINT32_MAX)
		return load->raw.idle_calls ? 0 : -ESTALE;
	if (is_taken(rows, worker, rank, record))
		return 0;
	use_api(rows, worker, record->header.tag);
	api = worker->api;
	fill_call(rows, worker, record, tid, call);
	call_keep_handle(call, stream_handle(&api->stream, record));
	if (load->tally.expected)
		load->tally.expected[rank] = expect_call_count(&api->expected, record);
	note_programmatic(load, api->programmatic_word, rank, record);
	if (add_notes(part, api, rank, record) < 0)
		return -ENOMEM;
	return api->keeps_args ? call_part_keep(part, api->arg_words, rank, record, call) : 0;
}

int call_rows_read(struct call_rows *rows, unsigned worker, uint32_t part,
		   const struct record_api *record, uint32_t tid)
{
	return add_call(rows, &rows->workers[worker], &rows->parts[part], record, tid);
}

int call_rows_end_part(struct call_rows *rows, uint32_t part)
{
	return rows->has_duplicates ? call_part_take_words(rows->load, &rows->parts[part]) : 0;
}

unsigned call_rows_threads(const struct call_rows *rows)
{
	return rows->has_duplicates ? 1 : WORKERS_ALL;
}

int call_rows_finish(struct call_rows *rows)
{
	struct process_load *load = rows->load;
	uint64_t count = 0;

	for (unsigned i = 0; i < rows->worker_count; i++) {
		count += rows->workers[i].call_count;
		load->tally.duplicates += rows->workers[i].duplicates;
	}
	/* Without duplicates each row has one record, if the file is the same. */
	return count == load->raw.type_counts[RECORD_API] &&
			       !memchr(rows->is_filled, 0, load->raw.cids.count)
		       ? call_parts_take(load, rows->parts, rows->part_count)
		       : -ESTALE;
}

void call_rows_release(struct call_rows *rows)
{
	if (!rows)
		return;
	free(rows->is_filled);
	for (unsigned i = 0; rows->workers && i < rows->worker_count; i++)
		free(rows->workers[i].apis);
	free(rows->workers);
	for (uint32_t i = 0; rows->parts && i < rows->part_count; i++)
		call_part_release(&rows->parts[i]);
	free(rows->parts);
	free(rows);
}

/* Finds the rows of the streams that handles stand for, before threads share the calls. */
static void find_handles(struct process_load *load)
{
	struct cuda_handles *handles = &load->cuda.handles;

	for (uint32_t i = 0; i < handles->count; i++)
		handles->rows[i].row = cuda_find_stream(load, handles->rows[i].stream_context,
							handles->rows[i].stream);
}

/* Memory by call for what is noted of calls. */
static int make_notes(struct process_load *load)
{
	uint32_t count = load->raw.cids.count;

	if (!load->without_ledger) {
		load->tally.expected = table_zeroed(count, sizeof(*load->tally.expected));
		if (!load->tally.expected)
			return -ENOMEM;
	}
	if (load->cuda.call_records) {
		load->call_notes.programmatic = table_zeroed(count / 64, sizeof(uint64_t));
		if (!load->call_notes.programmatic)
			return -ENOMEM;
	}
	return 0;
}

int call_rows_create(struct process_load *load, struct call_rows **ret_rows)
{
	struct call_rows *rows = calloc(1, sizeof(*rows));
	int err = rows ? stream_apis_load(load) : -ENOMEM;

	find_handles(load);
	if (err == 0)
		err = make_notes(load);
	if (err == 0 && !trace_append(load->trace, calls, load->raw.cids.count))
		err = -ENOMEM;
	if (err == 0)
		err = init_rows(rows, load);
	if (err < 0) {
		call_rows_release(rows);
		return err;
	}
	*ret_rows = rows;
	return 0;
}
