/* Finds the graph node of CUDA activities. CUPTI names the node of the exec, which is a clone of a
 * node of the graph. */
#include <string.h>

#include "trace/load/cuda_load.h"
#include "trace/process_load.h"

#define CLONES_MOST 64 /* limit of chains of clones and of nested graphs */

/* GRAPH if node INDEX of PARENT holds it, else TRACE_NONE. */
static uint32_t held_by(const struct trace *trace, uint32_t graph, uint32_t parent, uint32_t index)
{
	return trace_is_child_of(trace, graph, parent, index) ? graph : TRACE_NONE;
}

/* The first graph that node INDEX of PARENT holds, or TRACE_NONE. */
static uint32_t first_held(const struct trace *trace, uint32_t parent, uint32_t index)
{
	uint32_t node = trace->graphs[parent].node_first + index;

	return held_by(trace, trace->nodes[node].child, parent, index);
}

/* The one after GRAPH. */
static uint32_t next_held(const struct trace *trace, uint32_t graph)
{
	const struct trace_graph *row = &trace->graphs[graph];

	return row->next_held ? held_by(trace, row->next_held - 1, row->parent, row->parent_node)
			      : TRACE_NONE;
}

/* Sets the places of the nodes of GRAPH and of the graphs that its nodes hold. find_place follows
 * clones to these nodes. */
static void enter_graph(struct process_load *load, uint32_t exec, uint32_t graph, int depth)
{
	const struct trace *trace = load->trace;
	const struct trace_graph *row = &trace->graphs[graph];

	for (uint32_t i = 0; i < row->node_count && depth < CLONES_MOST; i++) {
		const struct trace_node *node = &trace->nodes[row->node_first + i];
		uint32_t rank = idset_find(&load->cuda.node_ids, node->handle);

		if (rank != UINT32_MAX) {
			load->cuda.nodes[rank].exec = exec;
			load->cuda.nodes[rank].place = row->node_first + i;
		}
		for (uint32_t held = first_held(trace, graph, i); held != TRACE_NONE;
		     held = next_held(trace, held))
			enter_graph(load, exec, held, depth + 1);
	}
}

/* An exec contains the nodes of child graphs and bodies as nodes of its own, and CUPTI reports no
 * steps for them. Their ids follow those of the graph's nodes: for each node in turn, first the
 * nodes of all graphs that it holds, then, recursively, the nodes of the graphs that those hold
 * (H200, CUDA 13.0). */
struct inlining {
	struct process_load *load;
	uint32_t exec;
	uint64_t next_id; /* id of the next inlined node */
	/* A node holds a graph that is not known: ids after it are uncertain. */
	bool is_lost;
};

static void place_nodes(struct inlining *inlining, uint32_t graph)
{
	const struct trace_graph *row = &inlining->load->trace->graphs[graph];
	struct cuda_load *cuda = &inlining->load->cuda;

	for (uint32_t i = 0; i < row->node_count; i++) {
		uint32_t rank = idset_find(&cuda->node_ids, inlining->next_id + i);
		struct cuda_node *node = &cuda->nodes[rank];

		if (rank == UINT32_MAX || node->graph != TRACE_NONE)
			continue;
		node->exec = inlining->exec;
		node->place = row->node_first + i;
		node->is_inlined = true;
	}
	inlining->next_id += row->node_count;
}

static void place_inlined(struct inlining *inlining, uint32_t graph, int depth)
{
	const struct trace *trace = inlining->load->trace;
	const struct trace_graph *row = &trace->graphs[graph];

	for (uint32_t i = 0; i < row->node_count && depth < CLONES_MOST; i++) {
		const struct trace_node *node = &trace->nodes[row->node_first + i];
		bool is_held = node->type == RECORD_NODE_CHILD ||
			       node->type == RECORD_NODE_CONDITIONAL ||
			       node->type == RECORD_NODE_OTHER;

		inlining->is_lost |= is_held && node->child == TRACE_NONE;
		if (inlining->is_lost)
			return;
		for (uint32_t held = first_held(trace, graph, i); held != TRACE_NONE;
		     held = next_held(trace, held))
			place_nodes(inlining, held);
		for (uint32_t held = first_held(trace, graph, i);
		     held != TRACE_NONE && !inlining->is_lost; held = next_held(trace, held))
			place_inlined(inlining, held, depth + 1);
	}
}

/* Index into trace.nodes of the node with ID; EXEC must be the entered exec. Follows clones up to a
 * node with a place, and keeps the result in the first node. */
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

/* CUPTI's callbacks do not report what a node runs; the first activity of the node tells. */
static void describe_node(struct trace *trace, struct trace_node *node,
			  const struct trace_work *work)
{
	if (work->kind != TRACE_KERNEL) {
		node->bytes = work->bytes;
		node->direction = work->direction;
		return;
	}
	if (node->workgroup[0])
		return;
	node->name = work->name ? work->name : node->name;
	memcpy(node->grid, work->grid, sizeof(node->grid));
	memcpy(node->workgroup, work->workgroup, sizeof(node->workgroup));
}

/* Sets the node of ROW. False: the node is unknown, or known by counting or by time only. */
static bool name_row(struct process_load *load, uint32_t exec, struct trace_activity *row)
{
	uint32_t place = find_place(&load->cuda, exec, row->id);

	if (place == TRACE_NONE)
		return false;
	row->node = place;
	describe_node(load->trace, &load->trace->nodes[place], trace_work_of(load->trace, row));
	/* An activity of a body: cuda_bodies_load found its launch by time only. */
	if (row->confidence == TRACE_CONFIDENCE_TIME)
		return false;
	row->confidence = load->cuda.nodes[idset_find(&load->cuda.node_ids, row->id)].is_inlined
				  ? TRACE_CONFIDENCE_ORDER
				  : TRACE_CONFIDENCE_EXACT;
	return row->confidence == TRACE_CONFIDENCE_EXACT;
}

/* Makes EXEC the exec for which nodes have their places. */
static void enter_exec(struct process_load *load, uint32_t exec)
{
	uint32_t graph = load->trace->execs[exec].graph;
	struct inlining inlining;

	if (load->cuda.exec_entered == exec + 1)
		return;
	load->cuda.exec_entered = exec + 1;
	if (graph == TRACE_NONE)
		return;
	enter_graph(load, exec, graph, 0);
	inlining = (struct inlining){
		.load = load,
		.exec = exec,
		.next_id =
			load->trace->execs[exec].id << 32 | load->trace->graphs[graph].node_count,
	};
	place_inlined(&inlining, graph, 0);
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
	const uint64_t *counts = load->raw.type_counts;
	struct trace *trace = load->trace;

	if (!counts[RECORD_CUDA_KERNEL] && !counts[RECORD_CUDA_COPY])
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
