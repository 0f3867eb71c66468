/* Inside analyze/: a graph with its child graphs laid out in one row, each node after what it depends
 * on. A child graph is two items that bring no work, where it is entered and where it is left, with
 * its nodes between them. A conditional node is one item, whatever its bodies run. */
#ifndef DAGTAP_ANALYZE_REPLAY_PLAN_H
#define DAGTAP_ANALYZE_REPLAY_PLAN_H

#include "trace/model.h"

struct replay_item {
	uint32_t
		node; /* index into trace.nodes; TRACE_NONE: it brings no work; a conditional one: its
			* bodies' work */
	uint32_t first, count; /* into plan.before: items that it depends on */
	bool is_last;	       /* nothing depends on it */
};

struct replay_plan {
	struct replay_item *items;
	uint32_t items_count;
	uint32_t *before;
	uint32_t before_count;
	bool *is_programmatic; /* by before: the edge is */
	uint32_t is_programmatic_count;
	bool is_made;
	bool is_usable; /* the edges form no ring, and no graph is its own child */
};

struct replay_plans {
	const struct trace *trace;
	struct replay_plan *plans; /* by graph */
	uint32_t *graph_of;	   /* by node: the graph in whose plan it is, or TRACE_NONE */
	uint32_t *item_node; /* by node: the one that has the item; itself unless it is in a body */
	uint32_t *first;     /* by node: its predecessors start here */
	uint32_t *predecessors; /* indices into trace.edges */
	uint32_t *edge_first;	/* by node: its edges */
	uint32_t *waiting, *order, *item_of;
};

/* 0 or -ENOMEM; to be released either way. */
int replay_plans_init(struct replay_plans *plans, const struct trace *trace);
void replay_plans_release(struct replay_plans *plans);

/* The plan of a graph that is launched; NULL = out of memory. */
const struct replay_plan *replay_plans_get(struct replay_plans *plans, uint32_t graph);

#endif
