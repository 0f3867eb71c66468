/* Which node of its graph an activity of CUDA is: CUPTI says it, by the id of the exec's node, which is
 * a clone of the graph's. */
#include <string.h>

#include "trace/cuda/cuda.h"
#include "trace/process.h"

#define CLONES_MOST 64

/* The nodes of GRAPH and of its child graphs are where clones are looked for. */
static void enter_graph(struct process_load *load, uint32_t exec, uint32_t graph, int depth)
{
	const struct trace *trace = load->trace;
	const struct trace_graph *row = &trace->graphs[graph];

	for (uint32_t i = 0; i < row->node_count; i++) {
		const struct trace_node *node = &trace->nodes[row->node_first + i];
		uint32_t rank = idset_find(&load->cuda.node_ids, node->handle);

		if (rank != UINT32_MAX) {
			load->cuda.nodes[rank].exec = exec;
			load->cuda.nodes[rank].place = row->node_first + i;
		}
		if (node->child != TRACE_NONE && depth < CLONES_MOST)
			enter_graph(load, exec, node->child, depth + 1);
	}
}

/* An exec has the nodes of child graphs among its own, and CUPTI tells nothing of them. They are numbered
 * behind the graph's: all of a child's, then those of its children, then the next child's (H200,
 * CUDA 13.0). Gives the number behind the last. */
static uint64_t place_inlined(struct process_load *load, uint32_t exec, uint32_t graph,
			      uint64_t next_id, int depth)
{
	const struct trace *trace = load->trace;
	const struct trace_graph *row = &trace->graphs[graph];

	for (uint32_t i = 0; i < row->node_count && depth < CLONES_MOST; i++) {
		uint32_t child = trace->nodes[row->node_first + i].child;

		if (child == TRACE_NONE)
			continue;
		for (uint32_t k = 0; k < trace->graphs[child].node_count; k++) {
			uint32_t rank = idset_find(&load->cuda.node_ids, next_id + k);
			struct cuda_node *node = &load->cuda.nodes[rank];

			if (rank == UINT32_MAX || node->graph != TRACE_NONE)
				continue;
			node->exec = exec;
			node->place = trace->graphs[child].node_first + k;
			node->is_inlined = true;
		}
		next_id = place_inlined(load, exec, child,
					next_id + trace->graphs[child].node_count, depth + 1);
	}
	return next_id;
}

/* Index into trace.nodes of the node with this id, in the exec that was entered. */
static uint32_t find_place(struct cuda_load *cuda, uint32_t exec, uint64_t id)
{
	uint32_t rank = cuda_node_rank(cuda, id);
	uint32_t at = rank;

	if (rank == TRACE_NONE)
		return TRACE_NONE;
	for (int depth = 0; depth < CLONES_MOST && cuda->nodes[at].exec != exec; depth++) {
		if (cuda->nodes[at].original == TRACE_NONE)
			return TRACE_NONE;
		at = cuda->nodes[at].original;
	}
	if (cuda->nodes[at].exec != exec)
		return TRACE_NONE;
	cuda->nodes[rank].exec = exec;
	cuda->nodes[rank].place = cuda->nodes[at].place;
	return cuda->nodes[at].place;
}

/* A node's callbacks do not say what it runs; its first activity does. */
static void describe_node(struct trace *trace, struct trace_node *node, const struct trace_op *op)
{
	if (op->kind != TRACE_KERNEL) {
		node->bytes = op->bytes;
		node->direction = op->direction;
		return;
	}
	if (node->workgroup[0])
		return;
	node->name = op->name ? op->name : node->name;
	memcpy(node->grid, op->grid, sizeof(node->grid));
	memcpy(node->workgroup, op->workgroup, sizeof(node->workgroup));
}

/* False also where it is known by order alone. */
static bool name_row(struct process_load *load, uint32_t exec, struct trace_activity *row)
{
	uint32_t place = find_place(&load->cuda, exec, row->id);

	if (place == TRACE_NONE)
		return false;
	row->node = place;
	row->confidence = load->cuda.nodes[idset_find(&load->cuda.node_ids, row->id)].is_inlined
				  ? TRACE_CONFIDENCE_ORDER
				  : TRACE_CONFIDENCE_EXACT;
	describe_node(load->trace, &load->trace->nodes[place], trace_op_of(load->trace, row));
	return row->confidence == TRACE_CONFIDENCE_EXACT;
}

static void enter_exec(struct process_load *load, uint32_t exec)
{
	uint32_t graph = load->trace->execs[exec].graph;

	if (load->cuda.exec_entered == exec + 1)
		return;
	load->cuda.exec_entered = exec + 1;
	if (graph == TRACE_NONE)
		return;
	enter_graph(load, exec, graph, 0);
	place_inlined(load, exec, graph,
		      load->trace->execs[exec].id << 32 | load->trace->graphs[graph].node_count, 0);
}

uint32_t cuda_find_node(struct process_load *load, uint32_t exec, uint64_t id)
{
	enter_exec(load, exec);
	return find_place(&load->cuda, exec, id);
}

bool cuda_name_rows(struct process_load *load, uint32_t exec, struct trace_activity *rows,
		    uint32_t count)
{
	bool is_exact = true;

	enter_exec(load, exec);
	for (uint32_t i = 0; i < count; i++)
		is_exact &= name_row(load, exec, &rows[i]);
	return is_exact;
}

void cuda_finish_rows(struct process_load *load)
{
	struct trace *trace = load->trace;

	if (!cuda_is_there(&load->cuda))
		return;
	for (uint32_t i = load->first.activities; i < trace->activities_count; i++) {
		struct trace_activity *row = &trace->activities[i];
		uint32_t exec;

		if (row->agent != TRACE_NONE &&
		    trace->agents[row->agent].index < RECORD_CUDA_AGENT_FIRST)
			continue;
		exec = row->confidence == TRACE_CONFIDENCE_UNKNOWN
			       ? load_find_exec(load, row->queue)
			       : TRACE_NONE;
		if (exec != TRACE_NONE) {
			enter_exec(load, exec);
			name_row(load, exec, row);
		}
		row->queue = TRACE_NONE;
	}
}
