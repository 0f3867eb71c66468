/* Which stream of CUPTI's a call's handle stands for (cuda_handles.h). */
#include "trace/load/cuda_handles.h"

#include <errno.h>
#include <stdlib.h>

#include "record/stream_handles.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

struct cuda_stream_api cuda_stream_api_of(const struct trace *trace, const struct trace_api *api)
{
	struct cuda_stream_api none = {ARGS_NO_WORD, ARGS_NO_WORD};

	if (api->domain != RECORD_DOMAIN_CUDA && api->domain != RECORD_DOMAIN_RCCL)
		return none;
	return (struct cuda_stream_api){args_word(trace, api, "stream"),
					args_word(trace, api, "context")};
}

static struct cuda_handle key_of(uint64_t handle, uint32_t context, uint32_t tid, uint64_t ns)
{
	struct cuda_handle key = {.handle = handle == STREAM_HANDLE_LEGACY ? 0 : handle, .ns = ns};

	if (handle <= STREAM_HANDLE_PER_THREAD)
		key.context = context;
	if (handle == STREAM_HANDLE_PER_THREAD)
		key.tid = tid;
	return key;
}

static int compare_streams(const struct cuda_handle *a, const struct cuda_handle *b)
{
	if (a->handle != b->handle)
		return a->handle < b->handle ? -1 : 1;
	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

static int compare(const void *left, const void *right)
{
	const struct cuda_handle *a = left, *b = right;
	int order = compare_streams(a, b);

	return order ? order : (a->ns > b->ns) - (a->ns < b->ns);
}

int cuda_handles_load(struct process_load *load)
{
	const struct raw_list *list = &load->raw.lists[RECORD_CUDA_STREAM_HANDLE];
	struct cuda_handles *handles = &load->cuda.handles;

	handles->rows = table_alloc(list->count, sizeof(*handles->rows));
	if (!handles->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_cuda_stream_handle *record = list->rows[i].record;
		struct cuda_handle *row = &handles->rows[handles->count++];

		*row = key_of(record->handle, record->context, list->rows[i].tid, record->ns);
		row->stream = record->header.tag;
		row->stream_context = record->context;
	}
	qsort(handles->rows, handles->count, sizeof(*handles->rows), compare);
	return 0;
}

/* The last row of the stream that WANTED names whose time is at most its time, or else the first
 * row: another thread's call that began earlier had the handle too. NULL: there is no row. */
static const struct cuda_handle *find(const struct cuda_handles *handles,
				      const struct cuda_handle *wanted)
{
	uint32_t low = 0, high = handles->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare(&handles->rows[middle], wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && !compare_streams(&handles->rows[low - 1], wanted))
		return &handles->rows[low - 1];
	return low < handles->count && !compare_streams(&handles->rows[low], wanted)
		       ? &handles->rows[low]
		       : NULL;
}

uint32_t cuda_handles_find(const struct process_load *load, const struct cuda_stream_api *api,
			   const struct record_api *record, uint32_t tid)
{
	const struct cuda_handle *found;
	struct cuda_handle wanted;

	uint64_t handle;

	if (api->handle_word == ARGS_NO_WORD)
		return TRACE_NONE;
	handle = args_word_at(record, api->handle_word);
	/* NCCL's calls do not tell the context, without which default streams are not known. */
	if (handle <= STREAM_HANDLE_PER_THREAD && api->context_word == ARGS_NO_WORD)
		return TRACE_NONE;
	wanted = key_of(handle,
			api->context_word == ARGS_NO_WORD
				? 0
				: (uint32_t)args_word_at(record, api->context_word),
			tid, record->begin_ns);
	found = find(&load->cuda.handles, &wanted);
	return found ? found->row : TRACE_NONE;
}
