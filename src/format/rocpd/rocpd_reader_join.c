/* Nests, orders and joins the rows of a rocpd file. */
#include <errno.h>
#include <stdlib.h>

#include "format/import/row_order.h"
#include "format/rocpd/rocpd_reader_load.h"
#include "trace/row_table.h"

static int nest(struct rread_load *load)
{
	const struct trace *trace = load->import.trace;
	uint64_t count = (uint64_t)trace->scopes_count + trace->calls_count;
	struct import_interval *rows = table_alloc(count, sizeof(*rows));
	uint32_t used = 0;
	int err = rows && count < TRACE_NONE ? 0 : -ENOMEM;

	/* Rows of unknown threads do not nest in each other. */
	for (uint32_t i = 0; i < trace->scopes_count && err == 0; i++) {
		const struct trace_scope *row = &trace->scopes[i];

		if (row->thread != TRACE_NONE)
			rows[used++] = (struct import_interval){row->begin_ns, row->end_ns,
								row->thread, i, false};
	}
	for (uint32_t i = 0; i < trace->calls_count && err == 0; i++) {
		const struct trace_call *row = &trace->calls[i];

		if (row->thread != TRACE_NONE)
			rows[used++] = (struct import_interval){row->begin_ns, row->end_ns,
								row->thread, i, true};
	}
	if (err == 0)
		err = import_nest(&load->import, &rows, used);
	free(rows);
	return err;
}

/* The first call of the process with the cid, in calls that are in order; TRACE_NONE: none. */
static uint32_t find_call(const struct trace *trace, uint32_t process, uint64_t cid)
{
	uint32_t low = 0, high = trace->calls_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct trace_call *row = &trace->calls[middle];

		if (row->process < process || (row->process == process && row->cid < cid))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == trace->calls_count || cid == 0 || trace->calls[low].process != process ||
	    trace->calls[low].cid != cid)
		return TRACE_NONE;
	return low;
}

static void join_launches(struct rread_load *load)
{
	struct trace *trace = load->import.trace;

	for (uint32_t i = 0; i < load->launches_count; i++) {
		const struct rread_launch *row = &load->launches[i];
		uint32_t call = find_call(trace, row->process, row->cid);

		if (call != TRACE_NONE)
			trace->calls[call].launch = row->launch;
	}
}

static uint64_t operation_process(const void *row)
{
	return ((const struct trace_memory_operation *)row)->process;
}

static uint64_t operation_cid(const void *row)
{
	return ((const struct trace_memory_operation *)row)->cid;
}

static int join_memory(struct rread_load *load)
{
	struct trace *trace = load->import.trace;
	uint32_t *place;
	int err = order_rows(
		ORDER_TABLE(trace, memory_operations, operation_process, operation_cid), &place);

	if (err < 0)
		return err;
	free(place);
	for (uint32_t i = 0; i < trace->memory_operations_count; i++) {
		struct trace_memory_operation *row = &trace->memory_operations[i];

		row->call = find_call(trace, row->process, row->cid);
		if (row->call != TRACE_NONE)
			row->scope = trace->calls[row->call].scope;
	}
	return 0;
}

static void join_activities(struct rread_load *load)
{
	struct trace *trace = load->import.trace;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		struct trace_activity *row = &trace->activities[i];

		import_join_call(&load->import, i);
		if (row->untimed == RECORD_UNTIMED_NO)
			row->submit_ns = row->call == TRACE_NONE ? row->start_ns
								 : trace->calls[row->call].begin_ns;
	}
}

/* dagtap's export numbers nodes from 1; of other files the rank of a node's id is its index. */
static void number_nodes(struct trace *trace)
{
	for (uint32_t i = 0; i < trace->nodes_count; i++) {
		trace->nodes[i].index = (uint32_t)trace->nodes[i].handle - 1;
		trace->nodes[i].handle = 0;
	}
}

int rread_join(struct rread_load *load)
{
	struct import *import = &load->import;
	int err = import_order_scopes(import);

	if (err == 0)
		err = nest(load);
	if (err < 0)
		return err;
	import_number_scopes(import);
	err = import_order_host(import);
	if (err == 0)
		err = import_order_activities(import);
	if (err < 0)
		return err;
	join_activities(load);
	join_launches(load);
	err = join_memory(load);
	if (err == 0)
		err = import_order_gpu(import);
	if (err == 0 && load->is_ours)
		number_nodes(import->trace);
	return err;
}
