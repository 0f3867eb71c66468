/* What launches of graphs allocated and freed (graph_memory.h). */
#include "trace/load/graph_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/table.h"
#include "trace/graph/expect.h"
#include "trace/load/memory_order.h"
#include "trace/row_table.h"

struct operations {
	struct trace_memory_operation *rows;
	uint32_t count;
};

static uint64_t by_cid(const void *row)
{
	return ((const struct trace_memory_operation *)row)->cid;
}

static int add_operation(struct operations *operations, const struct trace_memory_operation *row)
{
	struct trace_memory_operation *added =
		table_add((void **)&operations->rows, &operations->count, sizeof(*added));

	if (!added)
		return -ENOMEM;
	*added = *row;
	return 0;
}

static struct trace_memory_operation make_operation(const struct trace *trace,
						    const struct trace_launch *launch,
						    const struct trace_node *node)
{
	const struct trace_call *call = &trace->calls[launch->call];
	bool is_release = node->type == RECORD_NODE_MEM_FREE;

	return (struct trace_memory_operation){
		.process = launch->process,
		.call = launch->call,
		.cid = call->cid,
		.address = node->address,
		.bytes = node->bytes,
		.ns = call->begin_ns,
		.agent = node->agent,
		.stream = launch->stream,
		.scope = node->scope != TRACE_NONE ? node->scope : call->scope,
		.kind = is_release ? RECORD_MEMORY_KIND_UNKNOWN : RECORD_MEMORY_KIND_DEVICE,
		.is_release = is_release,
	};
}

static int add_launch(const struct process_load *load, const struct trace_launch *launch,
		      struct operations *operations)
{
	const struct trace *trace = load->trace;
	uint32_t graph = trace->execs[launch->exec].graph;
	const struct expect_graph *expect;
	int err = 0;

	if (graph == TRACE_NONE || launch->call == TRACE_NONE ||
	    trace->calls[launch->call].result != 0)
		return 0;
	expect = &load->expects[graph - load->first.graphs];
	for (uint32_t i = 0; i < expect->memory_count && err == 0; i++) {
		const struct trace_node *node = &trace->nodes[expect->memory[i]];
		struct trace_memory_operation row = make_operation(trace, launch, node);

		if (node->address)
			err = add_operation(operations, &row);
	}
	return err;
}

/* ---- executable graphs that free on launch ---- */

/* The exec whose launch allocated ROW; TRACE_NONE: no launch did. */
static uint32_t allocating_exec(const struct trace *trace, const struct trace_memory_operation *row)
{
	uint32_t launch = row->call == TRACE_NONE ? TRACE_NONE : trace->calls[row->call].launch;

	return row->is_release || launch == TRACE_NONE ? TRACE_NONE : trace->launches[launch].exec;
}

/* Finds what a launch allocated and nobody released before the next launch. */
static int find_freed(const struct trace *trace, uint32_t first, struct operations *freed)
{
	uint32_t count = trace->memory_operations_count - first;
	struct sort_row *order = memory_by_address(trace, first, count);
	int err = order ? 0 : -ENOMEM;

	for (uint32_t i = 1; i < count && err == 0; i++) {
		const struct trace_memory_operation *last, *next;
		uint32_t exec;

		last = &trace->memory_operations[order[i - 1].index];
		next = &trace->memory_operations[order[i].index];
		exec = allocating_exec(trace, next);
		if (last->address == next->address && exec != TRACE_NONE &&
		    trace->execs[exec].frees_on_launch && allocating_exec(trace, last) == exec) {
			struct trace_memory_operation row = *next;

			row.kind = RECORD_MEMORY_KIND_UNKNOWN;
			row.agent = TRACE_NONE;
			row.bytes = 0;
			row.is_release = true;
			err = add_operation(freed, &row);
		}
	}
	free(order);
	return err;
}

/* ---- the stage ---- */

/* Puts ADDED before or behind the operations from FIRST on, and sorts all by their calls. */
static int merge(struct trace *trace, uint32_t first, const struct operations *added,
		 bool is_before)
{
	uint32_t count = trace->memory_operations_count - first;
	struct trace_memory_operation *rows;

	if (!added->count)
		return 0;
	rows = trace_extend(trace, memory_operations, added->count);
	if (!rows)
		return -ENOMEM;
	if (is_before) {
		memmove(rows - count + added->count, rows - count, count * sizeof(*rows));
		rows -= count;
	}
	memcpy(rows, added->rows, added->count * sizeof(*rows));
	return sort_by_key(trace->memory_operations + first, count + added->count, sizeof(*rows),
			   by_cid);
}

static bool any_frees_on_launch(const struct process_load *load)
{
	for (uint32_t i = load->first.execs; i < load->trace->execs_count; i++) {
		if (load->trace->execs[i].frees_on_launch)
			return true;
	}
	return false;
}

int graph_memory_apply(struct process_load *load, uint32_t first)
{
	struct trace *trace = load->trace;
	struct operations operations = {0}, freed = {0};
	int err = 0;

	for (uint32_t i = load->first.launches; i < trace->launches_count && err == 0; i++)
		err = add_launch(load, &trace->launches[i], &operations);
	if (err == 0)
		err = merge(trace, first, &operations, false);
	if (err == 0 && operations.count && any_frees_on_launch(load))
		err = find_freed(trace, first, &freed);
	if (err == 0)
		err = merge(trace, first, &freed, true);
	free(operations.rows);
	free(freed.rows);
	return err;
}
