/* API calls: a row each in order of entry, filled from the records as they come. */
#include "trace/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/table.h"

#define UNKNOWN_OP UINT32_MAX

static uint32_t find_api(const struct process_load *load, uint32_t op)
{
	uint32_t low = load->first.apis, high = load->trace->apis_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (load->trace->apis[middle].op < op)
			low = middle + 1;
		else
			high = middle;
	}
	return low < load->trace->apis_count && load->trace->apis[low].op == op ? low : TRACE_NONE;
}

int calls_load(struct process_load *load)
{
	uint32_t count = load->cids.count;

	load->stream_handles = table_alloc(count, sizeof(*load->stream_handles));
	if (!load->stream_handles || !trace_reserve(load->trace, calls, count))
		return -ENOMEM;
	return stream_apis_load(load);
}

int call_fill_init(struct call_fill *fill, struct process_load *load)
{
	*fill = (struct call_fill){
		.load = load,
		.is_filled = calloc((size_t)load->cids.count / 64 + 1, sizeof(uint64_t)),
		.unknown_api = TRACE_NONE,
	};
	return fill->is_filled ? 0 : -ENOMEM;
}

/* A call whose number has no name (its META record was dropped) still gets a row to point at: one
 * for all of them, behind the others. */
static int use_unknown_api(struct call_fill *fill)
{
	struct process_load *load = fill->load;
	struct trace_api *row;

	if (fill->unknown_api == TRACE_NONE) {
		row = trace_extend(load->trace, apis, 1);
		if (!row)
			return -ENOMEM;
		*row = (struct trace_api){
			.process = load->process,
			.op = UNKNOWN_OP,
			.name = strtab_intern_z(load->strings, "(unknown call)"),
			.domain = RECORD_DOMAIN_HIP,
		};
		fill->unknown_api = load->trace->apis_count - 1;
	}
	fill->api = fill->unknown_api;
	fill->stream = (struct stream_api){0};
	fill->keeps_args = false;
	return 0;
}

/* Calls of one API often follow each other. */
static int use_api(struct call_fill *fill, uint32_t op)
{
	struct process_load *load = fill->load;

	fill->has_api = true;
	fill->op = op;
	fill->api = find_api(load, op);
	if (fill->api == TRACE_NONE || op == UNKNOWN_OP)
		return use_unknown_api(fill);
	fill->stream = load->stream_apis[fill->api - load->first.apis];
	fill->keeps_args = load->trace->apis[fill->api].arg_words &&
			   (!load->is_brief || fill->stream.is_needed);
	return 0;
}

/* Room for words doubles: how many there will be shows only in the end. */
static int keep_args(struct call_fill *fill, const struct record_api *record,
		     struct trace_call *call)
{
	struct trace *trace = fill->load->trace;
	uint32_t words = trace->apis[fill->api].arg_words;
	uint64_t total = (uint64_t)trace->words_count + words;

	if (record->header.words - sizeof(*record) / 8 < words)
		return 0;
	if (total >= TRACE_NONE)
		return -E2BIG;
	if (total > fill->word_room) {
		uint64_t room = total * 2 < 4096 ? 4096 : total * 2;
		uint64_t *grown = realloc(trace->words, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		trace->words = grown;
		fill->word_room = room;
	}
	call->arg_first = trace->words_count;
	memcpy(trace->words + trace->words_count, record->args, words * sizeof(*trace->words));
	trace->words_count = (uint32_t)total;
	return 0;
}

static uint64_t stream_handle(const struct call_fill *fill, const struct record_api *record)
{
	if (fill->stream.role == STREAM_NONE ||
	    fill->stream.word >= record->header.words - sizeof(*record) / 8)
		return STREAM_HANDLE_NONE;
	return record->args[fill->stream.word];
}

/* Of several records with one id the call that began first counts, whichever came first. */
static bool is_taken(struct call_fill *fill, uint32_t rank, const struct record_api *record)
{
	const struct trace_call *call = &fill->load->trace->calls[fill->load->first.calls + rank];
	uint64_t bit = 1ull << rank % 64;

	if (!(fill->is_filled[rank / 64] & bit)) {
		fill->is_filled[rank / 64] |= bit;
		return false;
	}
	fill->load->duplicates++;
	if (call->begin_ns != (int64_t)record->begin_ns)
		return call->begin_ns < (int64_t)record->begin_ns;
	return call->end_ns <= (int64_t)record->end_ns;
}

int call_fill_add(struct call_fill *fill, const struct spool_record *record)
{
	const struct record_api *api = (const struct record_api *)record->header;
	struct process_load *load = fill->load;
	uint32_t rank = idset_find(&load->cids, api->cid, &fill->cid_hint);
	struct trace_call *call = &load->trace->calls[load->first.calls + rank];
	uint32_t parent = TRACE_NONE, scope = TRACE_NONE;

	if (is_taken(fill, rank, api))
		return 0;
	if ((!fill->has_api || api->header.tag != fill->op) && use_api(fill, api->header.tag) < 0)
		return -ENOMEM;
	if (api->parent)
		parent = idset_find(&load->cids, api->parent, &fill->cid_hint);
	if (api->scope)
		scope = idset_find(&load->scope_ids, api->scope, &fill->scope_hint);
	*call = (struct trace_call){
		.cid = api->cid,
		.begin_ns = (int64_t)api->begin_ns,
		.end_ns = (int64_t)api->end_ns,
		.process = load->process,
		.thread = fill_thread(&fill->thread, load, record->tid),
		.parent = parent == UINT32_MAX ? TRACE_NONE : load->first.calls + parent,
		.scope = scope == UINT32_MAX ? TRACE_NONE : load->first.scopes + scope,
		.stream = TRACE_NONE,
		.launch = TRACE_NONE,
		.activities_expected = api->activities,
		.api = fill->api,
		.arg_first = TRACE_NONE,
		.result = api->result,
	};
	load->stream_handles[rank] = stream_handle(fill, api);
	return fill->keeps_args ? keep_args(fill, api, call) : 0;
}

void call_fill_release(struct call_fill *fill)
{
	free(fill->is_filled);
}
