/* What the program's resets of devices released (memory_resets.h). */
#include "trace/load/memory_resets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/table.h"
#include "trace/load/memory_order.h"
#include "trace/row_table.h"

/* A reset, with the device's agent. */
struct reset {
	const struct record_memory *record;
	uint32_t agent; /* TRACE_NONE: not known */
};

static uint64_t by_ns(const void *row)
{
	return ((const struct reset *)row)->record->ns;
}

static uint64_t by_cid(const void *row)
{
	return ((const struct trace_memory_operation *)row)->cid;
}

static bool covers(const struct reset *reset, const struct trace_memory_operation *row)
{
	if (reset->record->bytes == RECORD_MEMORY_RESET_ALL)
		return true;
	return reset->agent != TRACE_NONE && row->agent == reset->agent;
}

/* The first of COUNT RESETS, which are in order of time, that released the allocation ROW, which
 * was followed at NEXT_NS by another operation at its address; or NULL. */
static const struct reset *find_reset(const struct reset *resets, uint32_t count,
				      const struct trace_memory_operation *row, int64_t next_ns)
{
	for (uint32_t i = 0; i < count; i++) {
		int64_t ns = (int64_t)resets[i].record->ns;

		if (ns >= row->ns && ns <= next_ns && covers(&resets[i], row))
			return &resets[i];
	}
	return NULL;
}

/* Releases that are made. */
struct releases {
	struct trace_memory_operation *rows;
	uint32_t count;
};

static int add_release(const struct process_load *load, const struct reset *reset,
		       const struct trace_memory_operation *allocation, struct releases *releases)
{
	struct trace_memory_operation *row =
		table_add((void **)&releases->rows, &releases->count, sizeof(*row));

	if (!row)
		return -ENOMEM;
	*row = (struct trace_memory_operation){
		.process = load->process,
		.cid = reset->record->cid,
		.call = load_find_call(load, reset->record->cid),
		.agent = TRACE_NONE,
		.stream = TRACE_NONE,
		.scope = load_find_scope(load, reset->record->scope),
		.address = allocation->address,
		.ns = (int64_t)reset->record->ns,
		.is_release = true,
	};
	return 0;
}

/* Makes the releases of what the operations from FIRST on allocated. */
static int make_releases(const struct process_load *load, uint32_t first,
			 const struct reset *resets, uint32_t resets_count,
			 struct releases *releases)
{
	const struct trace *trace = load->trace;
	uint32_t count = trace->memory_operations_count - first;
	struct sort_row *order = memory_by_address(trace, first, count);
	int err = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && err == 0; i++) {
		const struct trace_memory_operation *row =
			&trace->memory_operations[order[i].index];
		bool is_last = i + 1 == count || order[i + 1].key != order[i].key;
		int64_t next_ns =
			is_last ? INT64_MAX : trace->memory_operations[order[i + 1].index].ns;
		const struct reset *reset;

		if (row->is_release || row->result)
			continue;
		reset = find_reset(resets, resets_count, row, next_ns);
		if (reset)
			err = add_release(load, reset, row, releases);
	}
	free(order);
	return err;
}

static int append_releases(struct trace *trace, uint32_t first, const struct releases *releases)
{
	struct trace_memory_operation *rows =
		trace_extend(trace, memory_operations, releases->count);

	if (!rows)
		return -ENOMEM;
	if (releases->count)
		memcpy(rows, releases->rows, releases->count * sizeof(*rows));
	return sort_by_key(trace->memory_operations + first, trace->memory_operations_count - first,
			   sizeof(*trace->memory_operations), by_cid);
}

static int apply(struct process_load *load, uint32_t first, const struct reset *resets,
		 uint32_t resets_count)
{
	struct releases releases = {0};
	int err = make_releases(load, first, resets, resets_count, &releases);

	if (err == 0)
		err = append_releases(load->trace, first, &releases);
	free(releases.rows);
	return err;
}

int memory_resets_apply(struct process_load *load, uint32_t first)
{
	const struct raw_list *list = &load->raw.lists[RECORD_MEMORY];
	struct reset *resets = NULL;
	uint32_t count = 0;
	int err = 0;

	for (uint32_t i = 0; i < list->count && err == 0; i++) {
		const struct record_memory *record = list->rows[i].record;
		struct reset *added;

		if (record->header.tag != RECORD_MEMORY_RESET)
			continue;
		added = table_add((void **)&resets, &count, sizeof(*added));
		err = added ? 0 : -ENOMEM;
		if (added)
			*added = (struct reset){record, load_find_agent(load, record->agent)};
	}
	if (err == 0 && count)
		err = sort_by_key(resets, count, sizeof(*resets), by_ns);
	if (err == 0 && count)
		err = apply(load, first, resets, count);
	free(resets);
	return err;
}
