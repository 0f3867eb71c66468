/* The stage of memory: makes the rows of allocations and releases, from the records of HIP and HSA,
 * from those of CUPTI, and from the launches of graphs. */
#include <errno.h>

#include "trace/load/cuda_load.h"
#include "trace/load/graph_memory.h"
#include "trace/load/memory_resets.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

/* By CUPTI's number of a kind of memory. */
static const enum record_memory_kind cuda_kinds[] = {
	RECORD_MEMORY_KIND_UNKNOWN, RECORD_MEMORY_KIND_HOST,	RECORD_MEMORY_KIND_HOST,
	RECORD_MEMORY_KIND_DEVICE,  RECORD_MEMORY_KIND_ARRAY,	RECORD_MEMORY_KIND_MANAGED,
	RECORD_MEMORY_KIND_DEVICE,  RECORD_MEMORY_KIND_MANAGED,
};

#define CUDA_KIND_COUNT (sizeof(cuda_kinds) / sizeof(cuda_kinds[0]))

static uint64_t by_cid(const struct raw *row)
{
	return ((const struct record_memory *)row->record)->cid;
}
_Static_assert(offsetof(struct record_memory, cid) == offsetof(struct record_cuda_memory, cid),
	       "by_cid is for both");

/* The only GPU of the process, or TRACE_NONE. */
static uint32_t find_only_gpu(const struct process_load *load)
{
	uint32_t found = TRACE_NONE;

	for (uint32_t i = load->first.agents; i < load->trace->agents_count; i++) {
		if (!load->trace->agents[i].is_gpu)
			continue;
		if (found != TRACE_NONE)
			return TRACE_NONE;
		found = i;
	}
	return found;
}

static enum record_memory_kind known_kind(uint32_t kind)
{
	return kind < RECORD_MEMORY_KIND_COUNT ? (enum record_memory_kind)kind
					       : RECORD_MEMORY_KIND_UNKNOWN;
}

static struct trace_memory_operation make_row(const struct process_load *load,
					      const struct record_memory *record, uint32_t only_gpu)
{
	struct trace_memory_operation row = {
		.process = load->process,
		.cid = record->cid,
		.call = load_find_call(load, record->cid),
		.agent = load_find_agent(load, record->agent),
		.stream = TRACE_NONE,
		.scope = load_find_scope(load, record->scope),
		.result = record->header.tag == RECORD_MEMORY_FAIL ? record->result : 0,
		.kind = known_kind(record->kind),
		.is_release = record->header.tag == RECORD_MEMORY_RELEASE,
		.address = record->address,
		.bytes = record->bytes,
		.ns = (int64_t)record->ns,
	};

	if (row.call != TRACE_NONE)
		row.stream = load->trace->calls[row.call].stream;
	/* Nobody knows whose memory could not be allocated, or an array's of older recordings. */
	if (row.agent == TRACE_NONE &&
	    (row.kind == RECORD_MEMORY_KIND_DEVICE || row.kind == RECORD_MEMORY_KIND_ARRAY))
		row.agent = only_gpu;
	return row;
}

static struct trace_memory_operation make_cuda_row(struct process_load *load,
						   const struct record_cuda_memory *record)
{
	struct trace_memory_operation row = {
		.process = load->process,
		.cid = cuda_outer_cid(&load->cuda, record->cid),
		.agent = cuda_find_agent(load, record->device),
		/* 0: the default stream, or an operation in no stream's order */
		.stream = record->stream ? cuda_find_stream(load, record->context, record->stream)
					 : TRACE_NONE,
		.scope = TRACE_NONE,
		.kind = record->memory < CUDA_KIND_COUNT ? cuda_kinds[record->memory]
							 : RECORD_MEMORY_KIND_UNKNOWN,
		.is_release = record->header.tag == RECORD_CUDA_MEMORY_RELEASE,
		.address = record->address,
		.bytes = record->bytes,
		.ns = cuda_host_ns(&load->cuda, record->time),
	};

	row.call = load_find_call(load, row.cid);
	if (row.call != TRACE_NONE)
		row.scope = load->trace->calls[row.call].scope;
	return row;
}

static bool is_reset(const struct raw *row)
{
	return ((const struct record_memory *)row->record)->header.tag == RECORD_MEMORY_RESET;
}

static uint32_t count_resets(const struct raw_list *list)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->count; i++)
		count += is_reset(&list->rows[i]);
	return count;
}

int memory_load(struct process_load *load)
{
	struct raw_list *list = &load->raw.lists[RECORD_MEMORY];
	struct raw_list *cuda_list = &load->raw.lists[RECORD_CUDA_MEMORY];
	uint32_t only_gpu = find_only_gpu(load), first = load->trace->memory_operations_count;
	struct trace_memory_operation *rows;

	if (raw_sort(list, by_cid) < 0 || raw_sort(cuda_list, by_cid) < 0)
		return -ENOMEM;
	rows = trace_extend(load->trace, memory_operations,
			    (uint64_t)list->count - count_resets(list) + cuda_list->count);
	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		if (!is_reset(&list->rows[i]))
			*rows++ = make_row(load, list->rows[i].record, only_gpu);
	}
	for (uint32_t i = 0; i < cuda_list->count; i++)
		*rows++ = make_cuda_row(load, cuda_list->rows[i].record);
	return graph_memory_apply(load, first) < 0 ? -ENOMEM : memory_resets_apply(load, first);
}
