/* Adds the state of a CUDA graph, at the moment when an exec is made of it, to the input of graphs
 * (cuda_building.h). */
#include <errno.h>

#include "trace/graph/cuda_building.h"
#include "trace/process_load.h"
#include "trace/row_table.h"

#define CHILD_DEPTH_MOST 32

/* Whether the edges of the graph are incomplete: it has, or had, an edge of a node that no step
 * made. */
static bool lacks_nodes(const struct cuda_building *building, const struct cuda_life *life)
{
	for (uint32_t at = life->first_edge; at != TRACE_NONE; at = building->edges[at].next) {
		const struct cuda_edge *edge = &building->edges[at];

		if (!edge->is_gone &&
		    (!cuda_has_graph(building, edge->from) || !cuda_has_graph(building, edge->to)))
			return true;
	}
	return life->is_partial;
}

static bool holds_graphs(const struct cuda_node *node)
{
	return node->type == RECORD_NODE_CHILD || node->type == RECORD_NODE_CONDITIONAL;
}

/* Follows clones from NODE to the node that the program made. */
static const struct cuda_node *made_node(const struct cuda_building *building,
					 const struct cuda_node *node)
{
	for (int depth = 0; depth < CUDA_CLONES_MOST && node->original != TRACE_NONE; depth++)
		node = &building->nodes[node->original];
	return node;
}

/* The first graph that NODE holds, or that its nearest original with held graphs holds: index + 1
 * into held, 0 = none. */
static uint32_t held_by(const struct cuda_building *building, const struct cuda_node *node)
{
	for (int depth = 0; depth < CUDA_CLONES_MOST; depth++) {
		if (node->held || node->original == TRACE_NONE)
			break;
		node = &building->nodes[node->original];
	}
	return node->held;
}

struct snapshot {
	uint32_t graph;	       /* rank */
	uint64_t id;	       /* in the input of graphs */
	uint64_t parent_id;    /* snapshot of the graph whose node holds it, 0 = none */
	uint32_t parent_index; /* number of that node */
	int depth;	       /* of nested graphs, from 0 */
};

static int put_snapshot(struct cuda_building *building, const struct snapshot *snapshot);

/* Adds GRAPH, which NODE holds. A graph is added at most once per exec, because only one node
 * of an exec holds it. Sets *first_id if it is 0. */
static int put_held(struct cuda_building *building, const struct snapshot *parent,
		    const struct cuda_node *node, uint32_t graph, uint64_t *first_id)
{
	struct snapshot held = {
		.graph = graph,
		.parent_id = parent->id,
		.parent_index = node->index,
		.depth = parent->depth + 1,
	};

	if (graph == TRACE_NONE || held.depth > CHILD_DEPTH_MOST ||
	    building->graphs[graph].exec == building->exec_count)
		return 0;
	held.id = ++building->last_graph_id;
	if (!*first_id)
		*first_id = held.id;
	return put_snapshot(building, &held);
}

/* Adds all graphs that NODE holds. The node names only the first; graphs.c finds the
 * further bodies of a conditional node by their parent. */
static int put_all_held(struct cuda_building *building, const struct snapshot *parent,
			const struct cuda_node *node, uint64_t *ret_first_id)
{
	int err = 0;

	for (uint32_t at = held_by(building, node); at && err == 0;
	     at = building->held[at - 1].next)
		err = put_held(building, parent, node, building->held[at - 1].graph, ret_first_id);
	return err;
}

static int put_node(struct cuda_building *building, const struct snapshot *snapshot,
		    const struct cuda_node *node)
{
	const struct cuda_node *made = made_node(building, node);
	struct process_load *load = building->load;
	struct input_node input = {
		.graph_id = snapshot->id,
		.handle = node->id,
		.signature.pieces = 1,
		.index = node->index,
		.scope = load_find_scope(load, made->scope),
		.type = input_node_type(node->type),
		.direction = TRACE_COPY_UNKNOWN,
	};
	struct input_node *row;

	if (node->type == RECORD_NODE_EVENT_RECORD)
		input.event = cuda_event_of_call(load, cuda_find_call(load, made->cid));
	if (holds_graphs(node) && put_all_held(building, snapshot, node, &input.child_id) < 0)
		return -ENOMEM;
	row = trace_add(&load->graph_input, nodes);
	if (!row)
		return -ENOMEM;
	*row = input;
	return 0;
}

/* The edge between two nodes of a graph, or NULL. Searches first from the edge that was found last,
 * then from the beginning. */
static const struct cuda_edge *find_edge(struct cuda_building *building, uint32_t graph,
					 uint32_t from, uint32_t to)
{
	struct cuda_life *life = &building->graphs[graph];
	uint32_t begin = life->found_edge == TRACE_NONE ? TRACE_NONE
							: building->edges[life->found_edge].next;

	for (int pass = 0; pass < 2; pass++, begin = life->first_edge) {
		for (uint32_t at = begin; at != TRACE_NONE; at = building->edges[at].next) {
			if (building->edges[at].from != from || building->edges[at].to != to)
				continue;
			life->found_edge = at;
			return &building->edges[at];
		}
	}
	return NULL;
}

/* The type of an edge. CUPTI reports the edges of a clone as plain; their real type is that of the
 * edge between the originals (H200, CUDA 13.0). */
static enum record_edge_type type_of_edge(struct cuda_building *building,
					  const struct cuda_edge *edge)
{
	const struct cuda_node *nodes = building->nodes;

	for (int depth = 0; depth < CUDA_CLONES_MOST && building->has_types; depth++) {
		uint32_t from = nodes[edge->from].original, to = nodes[edge->to].original;

		if (edge->type != RECORD_EDGE_PLAIN || from == TRACE_NONE || to == TRACE_NONE ||
		    nodes[from].graph == TRACE_NONE || nodes[from].graph != nodes[to].graph)
			break;
		edge = find_edge(building, nodes[from].graph, from, to);
		if (!edge)
			return RECORD_EDGE_PLAIN;
	}
	return edge->type;
}

/* CUDA uses the type of an edge only between two kernels. */
static enum record_edge_type edge_type(struct cuda_building *building, const struct cuda_edge *edge)
{
	return building->nodes[edge->from].type == RECORD_NODE_KERNEL &&
			       building->nodes[edge->to].type == RECORD_NODE_KERNEL
		       ? type_of_edge(building, edge)
		       : RECORD_EDGE_PLAIN;
}

/* Adds an edge if both nodes exist in the graph. IS_INHERITED: the edge is of the original, and the
 * nodes' clones are used. */
static int put_edge(struct cuda_building *building, const struct snapshot *snapshot,
		    const struct cuda_edge *edge, bool is_inherited, uint32_t *count)
{
	const struct cuda_node *nodes = building->nodes;
	uint32_t from = is_inherited ? building->clones[edge->from] : edge->from;
	uint32_t to = is_inherited ? building->clones[edge->to] : edge->to;
	struct input_edge *row;

	if (from == TRACE_NONE || to == TRACE_NONE || nodes[from].is_gone || nodes[to].is_gone ||
	    nodes[from].graph != snapshot->graph || nodes[to].graph != snapshot->graph)
		return 0;
	row = trace_add(&building->load->graph_input, edges);
	if (!row)
		return -ENOMEM;
	++*count;
	*row = (struct input_edge){snapshot->id, nodes[from].index, nodes[to].index,
				   edge_type(building, edge)};
	return 0;
}

/* The graph whose edges LIFE has. A clone without reported edges has those of its original. */
static const struct cuda_life *edges_of(const struct cuda_building *building,
					const struct cuda_life *life)
{
	return life->first_edge == TRACE_NONE && life->original != TRACE_NONE
		       ? &building->graphs[life->original]
		       : life;
}

static int put_edges(struct cuda_building *building, const struct snapshot *snapshot,
		     uint32_t *count)
{
	const struct cuda_life *life = &building->graphs[snapshot->graph];
	const struct cuda_life *source = edges_of(building, life);
	bool is_inherited = source != life;
	int err = 0;

	for (uint32_t at = life->first_node; is_inherited && at != TRACE_NONE;
	     at = building->nodes[at].next) {
		if (building->nodes[at].original != TRACE_NONE)
			building->clones[building->nodes[at].original] = at;
	}
	for (uint32_t at = source->first_edge; at != TRACE_NONE && err == 0;
	     at = building->edges[at].next) {
		const struct cuda_edge *edge = &building->edges[at];

		if (!edge->is_gone)
			err = put_edge(building, snapshot, edge, is_inherited, count);
	}
	return err;
}

/* Numbers the nodes of GRAPH and returns their count. Must come first: the snapshots of held graphs
 * and the edges use the numbers. *RET_IS_PLAIN: all nodes have a known type. */
static uint32_t number_nodes(struct cuda_building *building, uint32_t graph, bool *ret_is_plain)
{
	uint32_t count = 0;

	*ret_is_plain = true;
	for (uint32_t at = building->graphs[graph].first_node; at != TRACE_NONE;
	     at = building->nodes[at].next) {
		struct cuda_node *node = &building->nodes[at];

		if (node->is_gone)
			continue;
		node->index = count++;
		*ret_is_plain &=
			node->type < RECORD_NODE_OTHER || node->type == RECORD_NODE_CONDITIONAL;
	}
	return count;
}

static int put_snapshot(struct cuda_building *building, const struct snapshot *snapshot)
{
	struct input_graph graph = {
		.id = snapshot->id,
		.parent_id = snapshot->parent_id,
		.parent_node = snapshot->parent_index,
	};
	struct cuda_life *life = &building->graphs[snapshot->graph];
	struct input_graph *row;
	bool is_plain;
	int err = 0;

	life->exec = building->exec_count;
	graph.node_count = number_nodes(building, snapshot->graph, &is_plain);
	for (uint32_t at = life->first_node; at != TRACE_NONE && err == 0;
	     at = building->nodes[at].next) {
		if (!building->nodes[at].is_gone)
			err = put_node(building, snapshot, &building->nodes[at]);
	}
	if (err == 0)
		err = put_edges(building, snapshot, &graph.edge_count);
	graph.is_partial =
		!is_plain || life->is_partial || lacks_nodes(building, edges_of(building, life));
	row = err == 0 ? trace_add(&building->load->graph_input, graphs) : NULL;
	if (!row)
		return -ENOMEM;
	*row = graph;
	return 0;
}

/* Whether nodes of GRAPH hold graphs. Their changes do not reset the snapshot of GRAPH, so such a
 * snapshot is not shared by execs. */
static bool has_held(const struct cuda_building *building, uint32_t graph)
{
	for (uint32_t at = building->graphs[graph].first_node; at != TRACE_NONE;
	     at = building->nodes[at].next) {
		if (holds_graphs(&building->nodes[at]))
			return true;
	}
	return false;
}

int cuda_take_snapshot(struct cuda_building *building, uint32_t graph, uint64_t *ret_id)
{
	struct cuda_life *life = &building->graphs[graph];
	struct snapshot snapshot = {.graph = graph, .id = life->snapshot};
	int err = 0;

	if (!snapshot.id) {
		building->exec_count++;
		snapshot.id = ++building->last_graph_id;
		err = put_snapshot(building, &snapshot);
		life->snapshot = has_held(building, graph) ? 0 : snapshot.id;
	}
	*ret_id = snapshot.id;
	return err;
}
