/* Which node of its graph an activity of CUDA is: CUPTI says it, by the id of the exec's node, which is
 * a clone of the graph's. */
#include <string.h>

#include "trace/cuda/cuda.h"
#include "trace/process.h"

#define CLONES_MOST 64

/* The next graph that the same node holds. */
static uint32_t next_held(const struct trace *trace, uint32_t graph)
{
	return trace->graphs[graph].next_held ? trace->graphs[graph].next_held - 1 : TRACE_NONE;
}

/* The nodes of GRAPH and of those that its nodes hold are where clones are looked for. */
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
		for (uint32_t held = node->child; held != TRACE_NONE; held = next_held(trace, held))
			enter_graph(load, exec, held, depth + 1);
	}
}

/* An exec has the nodes of child graphs and bodies among its own, and CUPTI tells nothing of them.
 * They are numbered behind the graph's: all of those that a node holds, then what their nodes hold,
 * then the next node's (H200, CUDA 13.0). */
struct inlining {
	struct process_load *load;
	uint32_t exec;
	uint64_t next_id;
	bool is_lost; /* a node holds what nobody knows: no number behind it is certain */
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
		for (uint32_t held = node->child; held != TRACE_NONE; held = next_held(trace, held))
			place_nodes(inlining, held);
		for (uint32_t held = node->child; held != TRACE_NONE && !inlining->is_lost;
		     held = next_held(trace, held))
			place_inlined(inlining, held, depth + 1);
	}
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
	describe_node(load->trace, &load->trace->nodes[place], trace_op_of(load->trace, row));
	/* A body's: its replay is known by time alone. */
	if (row->confidence == TRACE_CONFIDENCE_TIME)
		return false;
	row->confidence = load->cuda.nodes[idset_find(&load->cuda.node_ids, row->id)].is_inlined
				  ? TRACE_CONFIDENCE_ORDER
				  : TRACE_CONFIDENCE_EXACT;
	return row->confidence == TRACE_CONFIDENCE_EXACT;
}

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
