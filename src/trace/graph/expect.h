/* The activities that a launch of a graph must cause: node by node, in order.
 *
 * The one table of node types is in expect.c. The order is HIP's (5.2.3): nodes are taken in level
 * order, breadth first from the roots in node order, edges in the order in which they were added; a
 * child graph's nodes come at the place of its node. */
#ifndef DAGTAP_TRACE_EXPECT_H
#define DAGTAP_TRACE_EXPECT_H

#include <stdint.h>

#include "trace/trace_model.h"

#define EXPECT_MANY UINT32_MAX

/* The activities of one node. */
struct expect_item {
	uint32_t node; /* index into trace.nodes */
	enum trace_activity_kind kind;
	uint32_t least;
	uint32_t most; /* EXPECT_MANY: no limit */
};

struct expect_edge {
	uint32_t from, to; /* An edge, as node numbers within the graph. */
};

/* What a launch of one graph must cause. Owned by process_load.expects. */
struct expect_graph {
	struct expect_edge *edges; /* in the order in which they were added; from graphs_load */
	uint32_t edge_count;
	/* in HIP's order, child graphs' nodes included; from expect_make */
	struct expect_item *items;
	uint32_t item_count;
	uint32_t *memory; /* nodes that allocate or free memory, in the same order */
	uint32_t memory_count;
	bool lacks_nodes; /* the graph has fewer nodes than its record announced */
	/* Parts of the graph are missing or contradict each other: what it must cause is not
	 * known. */
	bool unknown;
};

/* The item of NODE, an index into trace.nodes. most = 0: it causes no activity. */
struct expect_item expect_node(const struct trace *trace, uint32_t node);

/* Number of fills that HIP 5.2.3 makes of a memset node of ROWS rows: 1 if there are several rows
 * or fewer than 8 bytes; else one for the words of 8 bytes and one for what is left at either
 * end. */
uint32_t expect_fill_pieces(uint64_t dst, uint64_t bytes, uint32_t rows);

/* Fills the items of GRAPH. EXPECTS holds the edges of every graph of the process; its first
 * element belongs to FIRST_GRAPH. Returns 0 or -ENOMEM. */
int expect_make(const struct trace *trace, struct expect_graph *expects, uint32_t first_graph,
		uint32_t graph);

/* Number of activities that a launch causes at least: one per node that causes any. */
uint64_t expect_least(const struct expect_graph *expect);

/* Number of activities that a launch causes; TRACE_NONE if it is not fixed or not known. */
uint32_t expect_count(const struct expect_graph *expect);

/* Frees COUNT elements and the array. */
void expect_release(struct expect_graph *expects, uint32_t count);

#endif
