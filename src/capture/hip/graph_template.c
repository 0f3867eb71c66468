/* Graph templates: reads the topology of a graph from the runtime and writes it; see
 * graph_template.h. */
#include "capture/hip/graph_template.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/table.h"
#include "capture/capture_session.h"
#include "capture/hip/function.h"
#include "capture/hip/graph_describe.h"
#include "capture/hip/runtime_graph.h"
#include "capture/paced.h"

static _Atomic uint64_t graph_ids;

static size_t hash(uint64_t handle)
{
	return (size_t)(handle * 0x9e3779b97f4a7c15u >> 20);
}

/* Also allocates the records. */
static int build_index(struct graph_template *template)
{
	size_t slots = 16;

	while (slots < template->node_count * 2)
		slots *= 2;
	template->index = calloc(slots, sizeof(*template->index));
	template->records = calloc(template->node_count + 1, sizeof(*template->records));
	if (!template->index || !template->records)
		return -ENOMEM;
	template->index_mask = slots - 1;
	for (size_t i = 0; i < template->node_count; i++) {
		size_t slot = hash(template->nodes[i]) & template->index_mask;

		while (template->index[slot])
			slot = (slot + 1) & template->index_mask;
		template->index[slot] = (uint32_t)i + 1;
	}
	return 0;
}

uint32_t graph_template_find(const struct graph_template *template, uint64_t node)
{
	size_t slot = hash(node) & template->index_mask;

	for (; template->index[slot]; slot = (slot + 1) & template->index_mask)
		if (template->nodes[template->index[slot] - 1] == node)
			return template->index[slot] - 1;
	return GRAPH_TEMPLATE_NONE;
}

struct graph_template *graph_template_child(const struct graph_template *template, uint32_t node)
{
	size_t low = 0, high = template->child_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (template->children[middle].node == node)
			return template->children[middle].template;
		if (template->children[middle].node < node)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Groups the edges by their first node. HIP lists them in this order; for another runtime they
 * are sorted, and those of one node keep their order. Returns 0 or -ENOMEM. */
static int group_edges(struct graph_template *template)
{
	uint32_t *next = calloc(template->node_count + 1, sizeof(*next));
	struct graph_edge *grouped = calloc(template->edge_count + 1, sizeof(*grouped));

	if (!next || !grouped) {
		free(next);
		free(grouped);
		return -ENOMEM;
	}
	for (size_t i = 0; i < template->edge_count; i++)
		next[template->edges[i].from + 1]++;
	for (size_t i = 0; i < template->node_count; i++)
		next[i + 1] += next[i];
	for (size_t i = 0; i < template->edge_count; i++)
		grouped[next[template->edges[i].from]++] = template->edges[i];
	free(next);
	free(template->edges);
	template->edges = grouped;
	return 0;
}

/* Returns 0 or a negative errno; -EINVAL: an edge leads to a node that the runtime has not
 * listed. */
static int read_edges(struct graph_template *template)
{
	struct runtime_edges edges;
	int status = runtime_graph_edges(template->handle, &edges);

	if (status)
		return status;
	template->edges = calloc(edges.count + 1, sizeof(*template->edges));
	if (!template->edges) {
		free(edges.from);
		return -ENOMEM;
	}
	template->edge_count = edges.count;
	for (size_t i = 0; i < edges.count; i++) {
		template->edges[i].from = graph_template_find(template, edges.from[i]);
		template->edges[i].to = graph_template_find(template, edges.to[i]);
		if (template->edges[i].from == GRAPH_TEMPLATE_NONE ||
		    template->edges[i].to == GRAPH_TEMPLATE_NONE)
			status = -EINVAL;
	}
	free(edges.from);
	return status ? status : group_edges(template);
}

static int read_at_depth(uint64_t graph, int depth, struct graph_template **ret_template);

static int read_child(struct graph_template *template, uint32_t node, int depth)
{
	struct graph_child *child =
		table_add((void **)&template->children, &template->child_count, sizeof(*child));
	uint64_t graph;
	int status;

	if (!child)
		return -ENOMEM;
	child->node = node;
	status = runtime_graph_child(template->nodes[node], &graph);
	if (!status)
		status = read_at_depth(graph, depth + 1, &child->template);
	return status;
}

static int read_nodes(struct graph_template *template, int depth)
{
	int status = 0;

	for (uint32_t i = 0; !status && i < template->node_count; i++) {
		graph_describe_node(template->nodes[i], &template->records[i]);
		if (template->records[i].type == RECORD_NODE_CHILD)
			status = read_child(template, i, depth);
	}
	return status;
}

static int read_at_depth(uint64_t graph, int depth, struct graph_template **ret_template)
{
	struct graph_template *template;
	int status;

	if (depth > RUNTIME_GRAPH_DEPTH)
		return -ELOOP;
	template = calloc(1, sizeof(*template));
	if (!template)
		return -ENOMEM;
	template->handle = graph;
	status = runtime_graph_nodes(graph, &template->nodes, &template->node_count);
	if (!status)
		status = build_index(template);
	if (!status)
		status = read_edges(template);
	if (!status)
		status = read_nodes(template, depth);
	if (status) {
		graph_template_destroy(template);
		return status;
	}
	*ret_template = template;
	return 0;
}

int graph_template_read(uint64_t graph, struct graph_template **ret_template)
{
	return read_at_depth(graph, 0, ret_template);
}

void graph_template_destroy(struct graph_template *template)
{
	if (!template)
		return;
	for (size_t i = 0; i < template->child_count; i++)
		graph_template_destroy(template->children[i].template);
	free(template->children);
	free(template->edges);
	free(template->records);
	free(template->index);
	free(template->nodes);
	free(template);
}

void graph_template_number(struct graph_template *template)
{
	template->graph_id = atomic_fetch_add_explicit(&graph_ids, 1, memory_order_relaxed) + 1;
	for (size_t i = 0; i < template->child_count; i++)
		graph_template_number(template->children[i].template);
}

static void write_nodes(const struct graph_template *template, struct pace *pace)
{
	for (uint32_t i = 0; i < template->node_count; i++) {
		const struct graph_template *child;
		struct record_graph_node record = template->records[i];

		record.graph_id = template->graph_id;
		record.ns = session_now_ns();
		child = record.type == RECORD_NODE_CHILD ? graph_template_child(template, i) : NULL;
		record.child_graph_id = child ? child->graph_id : 0;
		if (record.type == RECORD_NODE_KERNEL)
			function_use(record.function);
		paced_put(pace, RECORD_GRAPH_NODE, i, &record, sizeof(record));
	}
}

/* Writes TEMPLATE, the child graph of PARENT_NODE of a graph, or at the top with parent 0. */
static void write_under(const struct graph_template *template, uint64_t parent_graph_id,
			uint32_t parent_node, struct pace *pace)
{
	struct record_graph graph = {
		.graph_id = template->graph_id,
		.handle = template->handle,
		.ns = session_now_ns(),
		.node_count = (uint32_t) template->node_count,
		.edge_count = (uint32_t) template->edge_count,
		.parent_graph_id = parent_graph_id,
		.parent_node = parent_node,
	};

	paced_put(pace, RECORD_GRAPH, 0, &graph, sizeof(graph));
	write_nodes(template, pace);
	for (size_t i = 0; i < template->edge_count; i++) {
		struct record_graph_edge edge = {
			.graph_id = template->graph_id,
			.from = template->edges[i].from,
			.to = template->edges[i].to,
		};

		paced_put(pace, RECORD_GRAPH_EDGE, 0, &edge, sizeof(edge));
	}
	for (size_t i = 0; i < template->child_count; i++)
		write_under(template->children[i].template, template->graph_id,
			    template->children[i].node, pace);
}

void graph_template_write(const struct graph_template *template)
{
	struct pace pace = {0};

	write_under(template, 0, 0, &pace);
}

/* Sets LEVEL to the longest path from a root to each node, by relaxing the edges in topological
 * order. DEGREE is zero at first; QUEUE has room for all nodes; FIRST_EDGE[i] is the first edge
 * of node i. Returns -ELOOP when the graph has a cycle. */
static int find_levels(const struct graph_template *template, uint32_t *level, uint32_t *degree,
		       uint32_t *queue, const uint32_t *first_edge)
{
	uint32_t head = 0, tail = 0;

	for (size_t i = 0; i < template->edge_count; i++)
		degree[template->edges[i].to]++;
	for (uint32_t i = 0; i < template->node_count; i++)
		if (!degree[i])
			queue[tail++] = i;
	for (; head < tail; head++) {
		uint32_t node = queue[head];

		for (uint32_t e = first_edge[node]; e < first_edge[node + 1]; e++) {
			uint32_t to = template->edges[e].to;

			if (level[to] < level[node] + 1)
				level[to] = level[node] + 1;
			if (!--degree[to])
				queue[tail++] = to;
		}
	}
	return tail == template->node_count ? 0 : -ELOOP;
}

/* Sets ORDER breadth first: each node follows its first predecessor of the level before its own.
 * Returns how many nodes were reached. */
static uint32_t walk_levels(const struct graph_template *template, const uint32_t *level,
			    uint32_t *visited, const uint32_t *first_edge, uint32_t *order)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < template->node_count; i++)
		if (!level[i])
			order[tail++] = i;
	for (; head < tail; head++) {
		uint32_t node = order[head];

		for (uint32_t e = first_edge[node]; e < first_edge[node + 1]; e++) {
			uint32_t to = template->edges[e].to;

			if (visited[to] || level[to] != level[node] + 1)
				continue;
			visited[to] = 1;
			order[tail++] = to;
		}
	}
	return tail;
}

int graph_template_level_order(const struct graph_template *template, uint32_t *ret_order)
{
	size_t count = template->node_count;
	uint32_t *room = calloc(count * 4 + 1, sizeof(*room));
	uint32_t *level = room, *degree = room + count, *visited = room + 2 * count;
	uint32_t *first_edge = room + 3 * count;
	int status;

	if (!room)
		return -ENOMEM;
	for (size_t i = 0; i < template->edge_count; i++)
		first_edge[template->edges[i].from + 1]++;
	for (size_t i = 0; i < count; i++)
		first_edge[i + 1] += first_edge[i];
	status = find_levels(template, level, degree, ret_order, first_edge);
	if (!status && walk_levels(template, level, visited, first_edge, ret_order) != count)
		status = -ELOOP;
	free(room);
	return status;
}
