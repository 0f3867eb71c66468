/* The shapes and records of the reference run's graphs: reference_graphs.h. */
#include "reference_graphs.h"

/* Nodes that submit work, and launches in a step. */
static const struct {
	uint32_t nodes, launches;
} shapes[REFERENCE_GRAPHS] = {{48, 1}, {412, 3}, {620, 2}, {332, 1}, {12, 24}};

_Static_assert(48 + 3 * 412 + 2 * 620 + 332 + 24 * 12 == REFERENCE_GRAPH_ACTIVITIES, "activities");
_Static_assert(1 + 3 + 2 + 1 + 24 == REFERENCE_LAUNCHES, "launches");

/* There is a fork every FORK_EVERY nodes: the node at FORK_AT and the two after it. */
#define FORK_EVERY 16
#define FORK_AT	   4

uint64_t reference_exec_id(uint32_t gpu, uint32_t graph)
{
	return 1 + gpu * REFERENCE_GRAPHS + graph;
}

uint64_t reference_graph_handle(uint32_t gpu, uint32_t graph)
{
	return 0x55d3b0000000 + reference_exec_id(gpu, graph) * 0x400;
}

uint64_t reference_exec_handle(uint32_t gpu, uint32_t graph)
{
	return 0x55d3b8000000 + reference_exec_id(gpu, graph) * 0x400;
}

uint64_t reference_node_handle(uint32_t gpu, uint32_t graph, uint32_t node)
{
	return 0x55d3c0000000 +
	       (reference_exec_id(gpu, graph) * REFERENCE_NODES_MOST + node) * 0x180;
}

uint64_t reference_function_handle(uint32_t gpu, uint32_t kernel)
{
	return reference_handle(0x55d3d0000000, (uint64_t)gpu * REFERENCE_KERNELS + kernel, 0x90);
}

/* ---- making ---- */

/*
 * Makes the N-th node that submits. A graph's first node is a kernel that single calls launch, too.
 */
static struct reference_node make_node(const struct reference_machine *machine, uint32_t graph,
				       uint32_t n)
{
	struct reference_node node = {
		.type = RECORD_NODE_KERNEL,
		.is_branch = n % FORK_EVERY == FORK_AT + 2,
		.is_join = n % FORK_EVERY == FORK_AT + 3,
	};
	uint32_t kernel =
		n ? (graph * 31 + n * 7) % REFERENCE_KERNELS : graph * 19 % REFERENCE_KERNELS_FIRST;

	if (n % 53 == 17) {
		node.type = RECORD_NODE_MEMSET;
		node.transfer.bytes = 65536;
		kernel = REFERENCE_FILL;
	} else if (n % 61 == 29 || n % 97 == 50) {
		node.type = RECORD_NODE_MEMCPY;
		node.uploads = n % 97 == 50;
		node.transfer.bytes = (uint64_t)8192 << n % 5;
		kernel = REFERENCE_COPY;
	}
	/* behind the buffers of the single copies */
	node.transfer.place = 4096 + graph * REFERENCE_NODES_MOST + n;
	node.work = reference_work_of(machine, kernel);
	if (node.type == RECORD_NODE_KERNEL)
		node.work.blocks[0] += 8 * (n % 3);
	return node;
}

void reference_graphs_make(const struct reference_machine *machine, struct reference_graph *graphs)
{
	for (uint32_t graph = 0; graph < REFERENCE_GRAPHS; graph++) {
		graphs[graph].node_count = shapes[graph].nodes + 1;
		graphs[graph].nodes[0] = (struct reference_node){.type = RECORD_NODE_EMPTY};
		for (uint32_t n = 0; n < shapes[graph].nodes; n++)
			graphs[graph].nodes[n + 1] = make_node(machine, graph, n);
	}
}

/* The order is: the prologue graph, then the small graph three times before each of the others. */
uint32_t reference_launch_graph(uint32_t n)
{
	static const uint32_t others[] = {1, 1, 1, 2, 2, 3};
	uint32_t round = (n - 1) / 4;

	if (n == 0)
		return 0;
	return n % 4 || round >= sizeof(others) / sizeof(*others) ? 4 : others[round];
}

/* ---- recording ---- */

static void put_node(struct spool_stream *stream, const struct reference_node *node, uint32_t gpu,
		     uint32_t graph, uint32_t index)
{
	struct record_graph_node *record =
		spool_stream_put(stream, RECORD_GRAPH_NODE, sizeof(*record), index);

	record->graph_id = reference_exec_id(gpu, graph);
	record->handle = reference_node_handle(gpu, graph, index);
	record->type = node->type;
	record->copy_kind = RECORD_COPY_KIND_UNKNOWN;
	record->ns = stream->now_ns;
	if (node->type == RECORD_NODE_KERNEL) {
		record->function = reference_function_handle(gpu, node->work.kernel);
		for (int i = 0; i < 3; i++) {
			record->grid[i] = node->work.blocks[i];
			record->block[i] = node->work.block[i];
		}
		return;
	}
	if (node->type == RECORD_NODE_EMPTY)
		return;
	record->bytes = node->transfer.bytes;
	record->dst = reference_buffer(gpu, node->transfer.place);
	record->width = (uint32_t)record->bytes;
	record->height = 1;
	record->depth = 1;
	record->element_bytes = 1;
	if (node->type == RECORD_NODE_MEMCPY) {
		record->src = record->dst + REFERENCE_FAR_SIDE;
		record->copy_kind =
			node->uploads ? 1 : 3; /* hipMemcpyHostToDevice, DeviceToDevice */
	}
}

static void put_edge(struct spool_stream *stream, uint64_t graph_id, uint32_t from, uint32_t to)
{
	struct record_graph_edge *record =
		spool_stream_put(stream, RECORD_GRAPH_EDGE, sizeof(*record), 0);

	record->graph_id = graph_id;
	record->from = from;
	record->to = to;
}

/*
 * A fork's join has two edges, and the second branch's edge comes from the fork. Every other node
 * has one edge from the node before it.
 */
static uint32_t edge_count(const struct reference_graph *graph)
{
	uint32_t count = 0;

	for (uint32_t i = 1; i < graph->node_count; i++)
		count += graph->nodes[i].is_join ? 2 : 1;
	return count;
}

static void put_edges(struct spool_stream *stream, const struct reference_graph *graph, uint64_t id)
{
	for (uint32_t i = 1; i < graph->node_count; i++) {
		if (graph->nodes[i].is_join)
			put_edge(stream, id, i - 2, i);
		put_edge(stream, id, graph->nodes[i].is_branch ? i - 2 : i - 1, i);
	}
}

void reference_put_graph(struct spool_stream *stream, const struct reference_graph *graphs,
			 uint32_t gpu, uint32_t graph, uint64_t cid)
{
	uint64_t id = reference_exec_id(gpu, graph);
	struct record_graph *head = spool_stream_put(stream, RECORD_GRAPH, sizeof(*head), 0);
	struct record_graph_exec *exec;

	head->graph_id = id;
	head->handle = reference_graph_handle(gpu, graph);
	head->ns = stream->now_ns;
	head->node_count = graphs[graph].node_count;
	head->edge_count = edge_count(&graphs[graph]);
	for (uint32_t i = 0; i < graphs[graph].node_count; i++)
		put_node(stream, &graphs[graph].nodes[i], gpu, graph, i);
	put_edges(stream, &graphs[graph], id);
	exec = spool_stream_put(stream, RECORD_GRAPH_EXEC, sizeof(*exec), 0);
	exec->exec_id = id;
	exec->graph_id = id;
	exec->handle = reference_exec_handle(gpu, graph);
	exec->cid = cid;
	exec->ns = stream->now_ns;
}

void reference_launch(struct reference_machine *machine, const struct reference_graph *graph,
		      uint32_t gpu, struct reference_submitter *by)
{
	for (uint32_t i = 1; i < graph->node_count; i++) {
		const struct reference_node *node = &graph->nodes[i];
		uint32_t queue = node->is_branch ? REFERENCE_BRANCH : REFERENCE_COMPUTE;

		if (node->is_branch || node->is_join)
			reference_barrier(machine, gpu, queue, by);
		if (node->uploads)
			reference_copy(machine, gpu, by, &node->transfer);
		else
			reference_dispatch(machine, gpu, queue, by, &node->work);
		by->ns += 150;
	}
}
