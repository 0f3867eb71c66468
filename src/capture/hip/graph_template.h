/* Graph templates: the topology of a graph as it was when it was instantiated, and the
 * parameters of its nodes as the executable graph has them now.
 *
 * A template is kept as long as its exec lives, since each trace in which the exec is launched
 * has to have it; by then the graph itself may be gone. After the template is read, only the
 * records of its nodes change.
 *
 * Threading: any thread, one at a time for one template; HIP demands the same of the exec. */
#ifndef DAGTAP_CAPTURE_HIP_GRAPH_TEMPLATE_H
#define DAGTAP_CAPTURE_HIP_GRAPH_TEMPLATE_H

#include <stddef.h>
#include <stdint.h>

#include "record/record.h"

struct graph_template;

struct graph_edge {
	uint32_t from, to; /* positions in nodes */
};

struct graph_child {
	uint32_t node;			 /* position of the child node */
	struct graph_template *template; /* owned */
};

struct graph_template {
	uint64_t graph_id; /* unique in the process; 0 until graph_template_number */
	uint64_t handle;   /* the graph's hipGraph_t */
	size_t node_count;
	uint64_t *nodes; /* handles, in the order in which the nodes were added */
	/* A hash table of the handles, with open addressing: position in nodes + 1; 0: free. */
	uint32_t *index;
	size_t index_mask;		   /* slots of index - 1 */
	struct record_graph_node *records; /* by position; as the exec has them */
	size_t edge_count;
	/* Grouped by FROM; within a group in the order in which the edges were added. */
	struct graph_edge *edges;
	uint32_t child_count;
	struct graph_child *children; /* in ascending order of their nodes */
};

/* Reads GRAPH and its children from the runtime. GRAPH must be alive (runtime_graph.h). The
 * caller owns the template. Returns 0 or a negative errno; -ELOOP when child graphs are nested
 * too deep. */
int graph_template_read(uint64_t graph, struct graph_template **ret_template);

/* Gives the template and its children their ids. */
void graph_template_number(struct graph_template *template);

/* Writes GRAPH, GRAPH_NODE and GRAPH_EDGE records, and those of the children after them. For
 * large graphs it may sleep to wait for room in the spool (paced.h). */
void graph_template_write(const struct graph_template *template);

/* Frees the template and its children. NULL is allowed. */
void graph_template_destroy(struct graph_template *template);

#define GRAPH_TEMPLATE_NONE UINT32_MAX

/* Returns the position of NODE, or GRAPH_TEMPLATE_NONE when it is not in this graph; children
 * are not searched. */
uint32_t graph_template_find(const struct graph_template *template, uint64_t node);

/* Returns the template of the child graph of the node at position NODE, borrowed; NULL: none. */
struct graph_template *graph_template_child(const struct graph_template *template, uint32_t node);

/* Sets RET_ORDER to the positions of the nodes in the order in which HIP walks a graph: breadth
 * first from the roots, each node after the level of its last predecessor. RET_ORDER has room
 * for node_count positions. Returns 0, -ENOMEM, or -ELOOP when some node was not reached. */
int graph_template_level_order(const struct graph_template *template, uint32_t *ret_order);

#endif
