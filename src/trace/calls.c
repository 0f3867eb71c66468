/* API calls, in order of entry, and their arguments. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/process.h"
#include "trace/table.h"

#define UNKNOWN_OP UINT32_MAX

static uint64_t by_cid(const struct raw *row)
{
	return ((const struct record_api *)row->record)->cid;
}

static uint32_t argument_words(const struct record_api *record)
{
	return record->header.words - (uint32_t)(sizeof(*record) / 8);
}

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

/* A call whose number has no name (its META record was dropped) still gets a row to point at: one
 * for all of them, behind the others. */
static int add_unknown_api(struct process_load *load)
{
	const struct raw_list *list = &load->lists[RECORD_API];
	struct trace_api *row;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_api *record = list->rows[i].record;

		if (find_api(load, record->header.tag) != TRACE_NONE)
			continue;
		row = trace_extend(load->trace, apis, 1);
		if (!row)
			return -ENOMEM;
		*row = (struct trace_api){
			.process = load->process,
			.op = UNKNOWN_OP,
			.name = strtab_intern_z(load->strings, "(unknown call)"),
			.domain = RECORD_DOMAIN_HIP,
		};
		return 0;
	}
	return 0;
}

static uint64_t *reserve_words(struct process_load *load)
{
	const struct raw_list *list = &load->lists[RECORD_API];
	uint64_t total = 0;
	uint64_t *words;

	for (uint32_t i = 0; i < list->count; i++)
		total += argument_words(list->rows[i].record);
	words = realloc(load->trace->words,
			(load->trace->words_count + total + 1) * sizeof(*load->trace->words));
	if (words)
		load->trace->words = words;
	return words;
}

static void fill_call(struct process_load *load, const struct raw *raw, struct trace_call *call)
{
	const struct record_api *record = raw->record;
	struct trace *trace = load->trace;
	uint32_t words = argument_words(record);
	uint32_t api = find_api(load, record->header.tag);

	*call = (struct trace_call){
		.process = load->process,
		.thread = load_find_thread(load, raw->tid),
		.api = api == TRACE_NONE ? trace->apis_count - 1 : api,
		.parent = TRACE_NONE,
		.scope = load_find_scope(load, record->scope),
		.stream = TRACE_NONE,
		.cid = record->cid,
		.begin_ns = (int64_t)record->begin_ns,
		.end_ns = (int64_t)record->end_ns,
		.result = record->result,
		.activities_expected = record->activities,
		.arg_first = trace->words_count,
		.arg_words = words,
		.launch = TRACE_NONE,
	};
	memcpy(trace->words + trace->words_count, record->args, words * sizeof(*trace->words));
	trace->words_count += words;
}

/* An enclosing call entered first, so it has a smaller cid and a row already. */
static void link_parents(struct process_load *load, uint32_t first)
{
	const struct raw_list *list = &load->lists[RECORD_API];
	uint32_t call = first;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_api *record = list->rows[i].record;

		if (i && record->cid == by_cid(&list->rows[i - 1]))
			continue;
		if (record->parent)
			load->trace->calls[call].parent = load_find_call(load, record->parent);
		call++;
	}
}

int calls_load(struct process_load *load)
{
	struct raw_list *list = &load->lists[RECORD_API];
	uint32_t first = load->trace->calls_count;
	struct trace_call *calls;
	uint32_t used = 0;

	if (raw_sort(list, by_cid) < 0 || add_unknown_api(load) < 0)
		return -ENOMEM;
	calls = trace_extend(load->trace, calls, list->count);
	if (!calls || !reserve_words(load))
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		if (i && by_cid(&list->rows[i]) == by_cid(&list->rows[i - 1]))
			load->duplicates++;
		else
			fill_call(load, &list->rows[i], &calls[used++]);
	}
	load->trace->calls_count -= list->count - used;
	link_parents(load, first);
	return 0;
}
