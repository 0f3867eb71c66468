/* The topology of a graph as it was when it was instantiated, and its nodes as its exec has them now.
 *
 * Kept for as long as the exec lives, since each trace in which it is launched is to know it; by then
 * the graph itself may be gone. Not changed after it was read, but for the nodes' records. */
#ifndef DAGTAP_CAPTURE_HIP_GRAPH_TEMPLATE_H
#define DAGTAP_CAPTURE_HIP_GRAPH_TEMPLATE_H

#include <stddef.h>
#include <stdint.h>

#include "record/record.h"

struct graph_template;

struct graph_edge {
	uint32_t from, to;
};

struct graph_child {
	uint32_t node;
	struct graph_template *template;
};

struct graph_template {
	uint64_t graph_id; /* 0 until graph_template_number */
	uint64_t handle;
	size_t node_count;
	uint64_t *nodes; /* handles, in the order in which they were added */
	uint32_t *index; /* hash of the handles: position in nodes + 1, 0 = free */
	size_t index_mask;
	struct record_graph_node *records; /* of each node: as the exec has it */
	size_t edge_count;
	struct graph_edge *edges; /* grouped by from, there in the order in which they were added */
	size_t child_count;
	struct graph_child *children; /* in the order of their nodes */
};

/* Reads the topology from the runtime, children too. 0 or -errno. */
int graph_template_read(uint64_t graph, struct graph_template **ret_template);

/* Gives it, and its children, ids. */
void graph_template_number(struct graph_template *template);

/* Writes GRAPH, GRAPH_NODE, GRAPH_EDGE, children after it. */
void graph_template_write(const struct graph_template *template);

void graph_template_destroy(struct graph_template *template);

#define GRAPH_TEMPLATE_NONE UINT32_MAX

/* Position of a node, GRAPH_TEMPLATE_NONE if it is not in this graph (children not searched). */
uint32_t graph_template_find(const struct graph_template *template, uint64_t node);

/* The child graph behind a child node, NULL if there is none. */
struct graph_template *graph_template_child(const struct graph_template *template, uint32_t node);

/* The order in which HIP walks a graph: breadth first from the roots, each node after its last
 * predecessor's level. ret_order has room for node_count positions. 0 or -errno (-ELOOP: some node
 * was not reached). */
int graph_template_level_order(const struct graph_template *template, uint32_t *ret_order);

#endif
