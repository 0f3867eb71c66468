/* Makes the plans of graphs (replay_plan.h): a topological order of each graph, with child graphs
 * inserted. */
#include "analyze/replay_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/row_table.h"

#define CHILD_DEPTH_MAX 32

int replay_plans_init(struct replay_plans *plans, const struct trace *trace)
{
	size_t nodes = (size_t)trace->nodes_count + 2;

	*plans = (struct replay_plans){
		.trace = trace,
		.plans = calloc((size_t)trace->graphs_count + 1, sizeof(*plans->plans)),
		.graph_of = malloc(nodes * sizeof(uint32_t)),
		.item_node = malloc(nodes * sizeof(uint32_t)),
		.first = calloc(nodes, sizeof(uint32_t)),
		.predecessors = calloc((size_t)trace->edges_count + 1, sizeof(uint32_t)),
		.edge_first = calloc(nodes, sizeof(uint32_t)),
		.waiting = calloc(nodes, sizeof(uint32_t)),
		.order = calloc(nodes, sizeof(uint32_t)),
		.item_of = calloc(nodes, sizeof(uint32_t)),
	};
	if (!plans->plans || !plans->graph_of || !plans->item_node || !plans->first ||
	    !plans->predecessors || !plans->edge_first || !plans->waiting || !plans->order ||
	    !plans->item_of)
		return -ENOMEM;
	memset(plans->graph_of, 0xff, nodes * sizeof(uint32_t));
	for (uint32_t i = 0; i < trace->edges_count; i++) {
		plans->first[trace->edges[i].to + 2]++;
		plans->edge_first[trace->edges[i].from + 1]++;
	}
	for (size_t i = 1; i < nodes; i++) {
		plans->first[i] += plans->first[i - 1];
		plans->edge_first[i] += plans->edge_first[i - 1];
	}
	for (uint32_t i = 0; i < trace->edges_count; i++)
		plans->predecessors[plans->first[trace->edges[i].to + 1]++] = i;
	return 0;
}

void replay_plans_release(struct replay_plans *plans)
{
	for (uint32_t i = 0; plans->plans && i < plans->trace->graphs_count; i++) {
		free(plans->plans[i].items);
		free(plans->plans[i].before);
		free(plans->plans[i].is_programmatic);
	}
	free(plans->plans);
	free(plans->graph_of);
	free(plans->item_node);
	free(plans->first);
	free(plans->predecessors);
	free(plans->edge_first);
	free(plans->waiting);
	free(plans->order);
	free(plans->item_of);
}

/* The plan that is being made. ROOT: the top graph. */
struct laying {
	struct replay_plans *plans;
	struct replay_plan *plan;
	uint32_t root;
};

static int add_item(struct laying *laying, uint32_t node, uint32_t *ret_item)
{
	struct replay_plan *plan = laying->plan;
	struct replay_item *item =
		table_add((void **)&plan->items, &plan->items_count, sizeof(*item));

	if (!item)
		return -ENOMEM;
	*item = (struct replay_item){.node = node, .first = plan->before_count, .is_last = true};
	*ret_item = plan->items_count - 1;
	return 0;
}

/* Adds item BEFORE to the predecessors of the item that was added last. */
static int add_before(struct replay_plan *plan, uint32_t before, bool is_programmatic)
{
	uint32_t *row = table_add((void **)&plan->before, &plan->before_count, sizeof(*row));
	bool *mark = table_add((void **)&plan->is_programmatic, &plan->is_programmatic_count,
			       sizeof(*mark));

	if (!row || !mark)
		return -ENOMEM;
	*row = before;
	*mark = is_programmatic;
	plan->items[plan->items_count - 1].count++;
	plan->items[before].is_last = false;
	return 0;
}

/* Adds the predecessors of NODE to the last item. A node without predecessors depends on ENTERED,
 * the entry of its graph (TRACE_NONE: the top graph has none). */
static int add_predecessors(struct laying *laying, uint32_t node, uint32_t entered)
{
	const struct replay_plans *plans = laying->plans;
	int err = 0;

	for (uint32_t i = plans->first[node]; i < plans->first[node + 1] && err == 0; i++)
		err = add_before(laying->plan,
				 plans->item_of[plans->trace->edges[plans->predecessors[i]].from],
				 plans->trace->edges[plans->predecessors[i]].type ==
					 RECORD_EDGE_PROGRAMMATIC);
	if (err == 0 && plans->first[node] == plans->first[node + 1] && entered != TRACE_NONE)
		err = add_before(laying->plan, entered, false);
	return err;
}

/* Puts the nodes of GRAPH into plans->order, from the index of its first node, each after its
 * predecessors. False: the edges form a cycle. */
static bool order_nodes(struct replay_plans *plans, const struct trace_graph *graph)
{
	uint32_t *order = plans->order + graph->node_first;
	uint32_t used = 0;

	for (uint32_t i = graph->node_first; i < graph->node_first + graph->node_count; i++) {
		plans->waiting[i] = plans->first[i + 1] - plans->first[i];
		if (plans->waiting[i] == 0)
			order[used++] = i;
	}
	for (uint32_t at = 0; at < used; at++) {
		for (uint32_t i = plans->edge_first[order[at]];
		     i < plans->edge_first[order[at] + 1]; i++) {
			uint32_t to = plans->trace->edges[i].to;

			if (--plans->waiting[to] == 0)
				order[used++] = to;
		}
	}
	return used == graph->node_count;
}

static int lay_graph(struct laying *laying, uint32_t graph, uint32_t entered, int depth);

/* Adds the exit item of a child graph, which depends on the last items since ENTERED. */
static int leave_child(struct laying *laying, uint32_t entered, uint32_t *ret_item)
{
	struct replay_plan *plan = laying->plan;
	uint32_t stop = plan->items_count;
	int err = add_item(laying, TRACE_NONE, ret_item);

	for (uint32_t i = entered; i < stop && err == 0; i++) {
		if (plan->items[i].is_last)
			err = add_before(plan, i, false);
	}
	return err;
}

/* Gives all nodes of the bodies of NODE to the item of the conditional node HOLDER. */
static void give_bodies(struct laying *laying, uint32_t holder, uint32_t node, int depth)
{
	struct replay_plans *plans = laying->plans;
	const struct trace *trace = plans->trace;
	uint32_t held = trace->nodes[node].child;

	for (; held != TRACE_NONE && depth < CHILD_DEPTH_MAX;
	     held = trace->graphs[held].next_held ? trace->graphs[held].next_held - 1
						  : TRACE_NONE) {
		const struct trace_graph *graph = &trace->graphs[held];

		for (uint32_t i = graph->node_first; i < graph->node_first + graph->node_count;
		     i++) {
			/* In a damaged file a body may contain itself. */
			if (plans->graph_of[i] == laying->root)
				continue;
			plans->graph_of[i] = laying->root;
			plans->item_node[i] = holder;
			give_bodies(laying, holder, i, depth + 1);
		}
	}
}

static int lay_node(struct laying *laying, uint32_t node, uint32_t entered, int depth)
{
	const struct trace_node *row = &laying->plans->trace->nodes[node];
	bool is_conditional = row->type == RECORD_NODE_CONDITIONAL;
	bool is_child = row->child != TRACE_NONE && !is_conditional;
	uint32_t item = 0;
	int err = add_item(laying, is_child ? TRACE_NONE : node, &item);

	if (err == 0)
		err = add_predecessors(laying, node, entered);
	if (err == 0 && is_child) {
		uint32_t child = item;

		err = lay_graph(laying, row->child, child, depth + 1);
		if (err == 0)
			err = leave_child(laying, child, &item);
	}
	laying->plans->item_of[node] = item;
	laying->plans->graph_of[node] = laying->root;
	laying->plans->item_node[node] = node;
	if (is_conditional)
		give_bodies(laying, node, node, depth);
	return err;
}

/* Adds the items of GRAPH. 0, -ENOMEM, or -ELOOP: a cycle of edges, or a graph that contains
 * itself. */
static int lay_graph(struct laying *laying, uint32_t graph, uint32_t entered, int depth)
{
	const struct trace_graph *row = &laying->plans->trace->graphs[graph];
	/* Each node makes at most two items. More items mean that a graph contains itself. */
	uint64_t most = 2 * (uint64_t)laying->plans->trace->nodes_count;
	int err = 0;

	if (depth > CHILD_DEPTH_MAX || laying->plan->items_count > most ||
	    !order_nodes(laying->plans, row))
		return -ELOOP;
	for (uint32_t i = 0; i < row->node_count && err == 0; i++)
		err = lay_node(laying, laying->plans->order[row->node_first + i], entered, depth);
	return err;
}

const struct replay_plan *replay_plans_get(struct replay_plans *plans, uint32_t graph)
{
	struct replay_plan *plan = &plans->plans[graph];
	struct laying laying = {plans, plan, graph};
	int err;

	if (plan->is_made)
		return plan;
	err = lay_graph(&laying, graph, TRACE_NONE, 0);
	if (err == -ENOMEM)
		return NULL;
	plan->is_made = true;
	plan->is_usable = err == 0;
	return plan;
}
