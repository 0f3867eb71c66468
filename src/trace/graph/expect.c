/* The activities of each type of node, and HIP's order of nodes (see expect.h). */
#include "trace/graph/expect.h"

#include <errno.h>
#include <stdlib.h>

#include "base/table.h"

#define CHILD_DEPTH_MAX 32

/* By enum record_node_type: what a node of this type causes. One node may be carried out by several
 * fills or copies: a fill has unaligned ends, a copy is staged in pieces through pinned memory. */
static const struct {
	enum trace_activity_kind kind;
	uint32_t least, most;
} node_types[] = {
	[RECORD_NODE_KERNEL] = {TRACE_KERNEL, 1, 1},
	[RECORD_NODE_MEMCPY] = {TRACE_COPY, 1, EXPECT_MANY},
	[RECORD_NODE_MEMSET] = {TRACE_MEMSET, 1, EXPECT_MANY},
	[RECORD_NODE_HOST] = {0},
	[RECORD_NODE_CHILD] = {0}, /* its graph's nodes count instead */
	[RECORD_NODE_EMPTY] = {0},
	[RECORD_NODE_EVENT_WAIT] = {0},
	[RECORD_NODE_EVENT_RECORD] = {0},
	[RECORD_NODE_MEM_ALLOC] = {0},
	[RECORD_NODE_MEM_FREE] = {0},
	[RECORD_NODE_OTHER] = {0},
};

struct expect_item expect_node(const struct trace *trace, uint32_t node)
{
	const struct trace_node *row = &trace->nodes[node];
	struct expect_item item = {.node = node};

	if (row->type >= sizeof(node_types) / sizeof(node_types[0]))
		return item;
	/* The host does copies within its own memory itself. */
	if (row->type == RECORD_NODE_MEMCPY && row->direction == TRACE_H2H)
		return item;
	item.kind = node_types[row->type].kind;
	item.least = node_types[row->type].least;
	item.most = node_types[row->type].most;
	return item;
}

#define FILL_WORD_BYTES 8

uint32_t expect_fill_pieces(uint64_t dst, uint64_t bytes, uint32_t rows)
{
	uint64_t head = -dst % FILL_WORD_BYTES;
	uint64_t tail;

	if (rows > 1 || bytes < FILL_WORD_BYTES)
		return 1;
	tail = (bytes - head) % FILL_WORD_BYTES;
	return (head != 0) + (tail != 0) + (bytes - head - tail != 0);
}

/* Scratch memory for ordering the nodes of one graph. */
struct walk {
	uint32_t *first_edge; /* by node: index of its first edge in `targets` */
	uint32_t *targets;
	uint32_t *level;
	uint32_t *waiting; /* by node: edges into it that were not followed yet */
	uint32_t *order;
	bool *visited;
};

static void walk_release(struct walk *walk)
{
	free(walk->first_edge);
	free(walk->targets);
	free(walk->level);
	free(walk->waiting);
	free(walk->order);
	free(walk->visited);
}

static int walk_init(struct walk *walk, uint32_t nodes, uint32_t edges)
{
	size_t count = (size_t)nodes + 2;

	*walk = (struct walk){
		.first_edge = calloc(count, sizeof(uint32_t)),
		.targets = calloc((size_t)edges + 1, sizeof(uint32_t)),
		.level = calloc(count, sizeof(uint32_t)),
		.waiting = calloc(count, sizeof(uint32_t)),
		.order = calloc(count, sizeof(uint32_t)),
		.visited = calloc(count, sizeof(bool)),
	};
	if (walk->first_edge && walk->targets && walk->level && walk->waiting && walk->order &&
	    walk->visited)
		return 0;
	walk_release(walk);
	return -ENOMEM;
}

/* Groups the edges by their first node, in the order in which they were added. */
static void group_edges(struct walk *walk, const struct expect_graph *expect, uint32_t nodes)
{
	for (uint32_t i = 0; i < expect->edge_count; i++) {
		walk->first_edge[expect->edges[i].from + 2]++;
		walk->waiting[expect->edges[i].to]++;
	}
	for (uint32_t i = 2; i < nodes + 2; i++)
		walk->first_edge[i] += walk->first_edge[i - 1];
	for (uint32_t i = 0; i < expect->edge_count; i++)
		walk->targets[walk->first_edge[expect->edges[i].from + 1]++] = expect->edges[i].to;
}

/* Sets each node's level: the length of the longest path to it. False: the edges form a cycle. */
static bool find_levels(struct walk *walk, uint32_t nodes)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < nodes; i++) {
		if (walk->waiting[i] == 0)
			walk->order[used++] = i;
	}
	for (uint32_t at = 0; at < used; at++) {
		uint32_t node = walk->order[at];

		for (uint32_t e = walk->first_edge[node]; e < walk->first_edge[node + 1]; e++) {
			uint32_t to = walk->targets[e];

			if (walk->level[to] < walk->level[node] + 1)
				walk->level[to] = walk->level[node] + 1;
			if (--walk->waiting[to] == 0)
				walk->order[used++] = to;
		}
	}
	return used == nodes;
}

/* Orders nodes breadth first. A node follows the first of its predecessors that is one level above
 * it. */
static void find_order(struct walk *walk, uint32_t nodes)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < nodes; i++) {
		if (walk->level[i] == 0)
			walk->order[used++] = i;
	}
	for (uint32_t at = 0; at < used; at++) {
		uint32_t node = walk->order[at];

		for (uint32_t e = walk->first_edge[node]; e < walk->first_edge[node + 1]; e++) {
			uint32_t to = walk->targets[e];

			if (walk->visited[to] || walk->level[to] != walk->level[node] + 1)
				continue;
			walk->visited[to] = true;
			walk->order[used++] = to;
		}
	}
}

static int add_item(struct expect_graph *expect, struct expect_item item)
{
	struct expect_item *row =
		table_add((void **)&expect->items, &expect->item_count, sizeof(*row));

	if (!row)
		return -ENOMEM;
	*row = item;
	return 0;
}

static int add_memory_node(struct expect_graph *expect, uint32_t node)
{
	uint32_t *row = table_add((void **)&expect->memory, &expect->memory_count, sizeof(*row));

	if (!row)
		return -ENOMEM;
	*row = node;
	return 0;
}

struct making {
	const struct trace *trace;
	struct expect_graph *expects;
	uint32_t first_graph;
	struct expect_graph *target;
};

/* Adds the items of GRAPH and of its child graphs. Returns 0 or -ENOMEM. */
static int add_graph(const struct making *making, uint32_t graph, int depth);

static int add_node(const struct making *making, uint32_t graph, uint32_t index, int depth)
{
	const struct trace *trace = making->trace;
	uint32_t node = trace->graphs[graph].node_first + index;
	struct expect_item item = expect_node(trace, node);

	if (trace->nodes[node].type == RECORD_NODE_CHILD) {
		if (trace_is_child_of(trace, trace->nodes[node].child, graph, index))
			return add_graph(making, trace->nodes[node].child, depth + 1);
		making->target->unknown = true;
		return 0;
	}
	if (trace->nodes[node].type == RECORD_NODE_MEM_ALLOC ||
	    trace->nodes[node].type == RECORD_NODE_MEM_FREE)
		return add_memory_node(making->target, node);
	return item.most ? add_item(making->target, item) : 0;
}

static int add_graph(const struct making *making, uint32_t graph, int depth)
{
	const struct expect_graph *expect = &making->expects[graph - making->first_graph];
	uint32_t nodes = making->trace->graphs[graph].node_count;
	struct walk walk;
	int err;

	if (depth > CHILD_DEPTH_MAX || expect->unknown) {
		making->target->unknown = true;
		return 0;
	}
	err = walk_init(&walk, nodes, expect->edge_count);
	if (err < 0)
		return err;
	group_edges(&walk, expect, nodes);
	if (find_levels(&walk, nodes))
		find_order(&walk, nodes);
	else
		making->target->unknown = true;
	for (uint32_t i = 0; i < nodes && err == 0 && !making->target->unknown; i++)
		err = add_node(making, graph, walk.order[i], depth);
	walk_release(&walk);
	return err;
}

int expect_make(const struct trace *trace, struct expect_graph *expects, uint32_t first_graph,
		uint32_t graph)
{
	struct making making = {
		.trace = trace,
		.expects = expects,
		.first_graph = first_graph,
		.target = &expects[graph - first_graph],
	};

	return add_graph(&making, graph, 0);
}

uint64_t expect_least(const struct expect_graph *expect)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < expect->item_count; i++)
		sum += expect->items[i].least;
	return sum;
}

uint32_t expect_count(const struct expect_graph *expect)
{
	uint64_t count = 0;

	if (expect->unknown)
		return TRACE_NONE;
	for (uint32_t i = 0; i < expect->item_count; i++) {
		if (expect->items[i].most == EXPECT_MANY)
			return TRACE_NONE;
		count += expect->items[i].most;
	}
	return count < TRACE_NONE ? (uint32_t)count : TRACE_NONE;
}

void expect_release(struct expect_graph *expects, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		free(expects[i].edges);
		free(expects[i].items);
		free(expects[i].memory);
	}
	free(expects);
}
