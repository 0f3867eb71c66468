/* Inside analyze/: the plan of a graph: its nodes and those of its child graphs in one list, each
 * node after the nodes that it depends on.
 *
 * A child node is two items without work, the entry and the exit of the child graph, with the nodes
 * of the child graph between them. A conditional node is one item, whatever its bodies run. */
#ifndef DAGTAP_ANALYZE_REPLAY_PLAN_H
#define DAGTAP_ANALYZE_REPLAY_PLAN_H

#include "trace/trace_model.h"

struct replay_item {
	/* Index into trace.nodes; TRACE_NONE: an entry or exit of a child graph. The item of a
	 * conditional node stands for the work of its bodies. */
	uint32_t node;
	uint32_t first, count; /* range of plan.before: items that it depends on */
	bool is_last;	       /* no item depends on it */
};

struct replay_plan {
	struct replay_item *items;
	uint32_t items_count;
	uint32_t *before; /* indices of items */
	uint32_t before_count;
	bool *is_programmatic; /* by index into before: the edge is programmatic */
	uint32_t is_programmatic_count;
	bool is_made;
	bool is_usable; /* the edges have no cycle, and no graph contains itself */
};

struct replay_plans {
	const struct trace *trace;
	struct replay_plan *plans; /* by graph; made on demand */
	uint32_t *graph_of;	   /* by node: the graph whose plan has it, or TRACE_NONE */
	/* By node: node of its item; for a node of a body, the conditional node. */
	uint32_t *item_node;
	uint32_t *first;	/* by node: its range of predecessors starts here */
	uint32_t *predecessors; /* indices into trace.edges, sorted by target */
	uint32_t *edge_first;	/* by node: its edges in trace.edges start here */
	/* Working memory, by node: predecessors that are not ordered yet; nodes in order; items. */
	uint32_t *waiting, *order, *item_of;
};

/* Indexes the edges of TRACE. Borrows it. 0 or -ENOMEM; the caller releases PLANS in both cases. */
int replay_plans_init(struct replay_plans *plans, const struct trace *trace);
void replay_plans_release(struct replay_plans *plans);

/* The plan of a top graph, owned by PLANS; the first call for a graph makes it. NULL: out of
 * memory. Check is_usable before use. */
const struct replay_plan *replay_plans_get(struct replay_plans *plans, uint32_t graph);

#endif
