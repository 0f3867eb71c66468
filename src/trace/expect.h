/* What a launch of a graph is expected to bring to the GPU, node by node, in order.
 *
 * The one table of node types is in expect.c. The order is HIP's (5.2.3): nodes are taken in level
 * order, breadth first from the roots in node order, edges in the order in which they were added;
 * a child graph's nodes come at the place of its node.
 */
#ifndef DAGTAP_TRACE_EXPECT_H
#define DAGTAP_TRACE_EXPECT_H

#include <stdint.h>

#include "trace/model.h"

#define EXPECT_MANY UINT32_MAX

struct expect_item {
	uint32_t node; /* index into trace.nodes */
	enum trace_activity_kind kind;
	uint32_t least;
	uint32_t most; /* EXPECT_MANY: as many as come */
};

struct expect_edge {
	uint32_t from, to; /* node numbers within the graph */
};

struct expect_graph {
	struct expect_edge *edges; /* as they were added */
	uint32_t edge_count;
	struct expect_item *items;
	uint32_t item_count;
	uint32_t room;
	bool lacks_nodes; /* that were announced */
	bool unknown;	  /* parts of the graph are missing or cannot be: nothing can be told */
};

/* The row of the table for this node; most = 0: it brings nothing. */
struct expect_item expect_node(const struct trace *trace, uint32_t node);

/* How many fills HIP 5.2.3 makes of a memset node: rows of one fill, or one for the words of 8 bytes
 * and one for what is left at either end. */
uint32_t expect_fill_pieces(uint64_t dst, uint64_t bytes, uint32_t rows);

/* Fills the items of GRAPH; EXPECTS holds every graph's edges and starts with FIRST_GRAPH's.
 * 0 or -ENOMEM. */
int expect_make(const struct trace *trace, struct expect_graph *expects, uint32_t first_graph,
		uint32_t graph);

/* How many activities a launch brings at least, one a node that brings any. */
uint64_t expect_least(const struct expect_graph *expect);

/* How many activities a launch brings: TRACE_NONE if that is not fixed or not known. */
uint32_t expect_count(const struct expect_graph *expect);

void expect_release(struct expect_graph *expects, uint32_t count);

#endif
