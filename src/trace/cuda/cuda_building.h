/* Inside trace/cuda/: the graphs of a process while the steps of their lives are gone through
 * (cuda_graphs.c), and what they are when an exec is made of one (cuda_snapshots.c). */
#ifndef DAGTAP_TRACE_CUDA_BUILDING_H
#define DAGTAP_TRACE_CUDA_BUILDING_H

#include "trace/cuda/cuda.h"

#define CUDA_CLONES_MOST 64 /* that a node is away from the one that was made */

struct cuda_edge {
	uint32_t from, to; /* nodes */
	uint32_t next;	   /* of the same graph */
	uint8_t type;	   /* enum record_edge_type */
	bool is_gone;
};

/* A graph that a node holds: a child graph, or a body of a conditional node. */
struct cuda_held {
	uint32_t graph; /* rank */
	uint32_t next;	/* of the same node: index + 1 into held, 0 = none */
};

struct cuda_life {
	uint32_t first_node, last_node; /* TRACE_NONE = none */
	uint32_t first_edge, last_edge;
	uint32_t found_edge; /* looked for last, or TRACE_NONE: clones' edges come in its order */
	uint32_t original;   /* graph that it was cloned from, or TRACE_NONE */
	uint64_t snapshot;   /* that it still is like, 0 = none */
	uint32_t exec;	     /* number of the exec whose snapshot it is in: one node holds it */
	bool is_gone;
	bool is_partial; /* it had an edge of a node that was made before the recording */
};

struct cuda_building {
	struct process_load *load;
	struct cuda_node *nodes; /* by rank of the node's id */
	uint32_t node_count;
	struct cuda_life *graphs; /* by rank of the graph's id */
	struct cuda_edge *edges;
	uint32_t edge_count;
	bool has_types; /* an edge is not plain */
	struct cuda_held *held;
	uint32_t held_count;
	uint32_t *clones; /* by node: its clone in the graph whose edges are being inherited */
	uint64_t last_graph_id; /* of snapshots */
	uint32_t exec_count;	/* that were made so far */

	/* The graph into which the last clone went, and by which call. */
	uint64_t clone_cid;
	uint32_t clone_graph;
};

static inline bool cuda_has_graph(const struct cuda_building *building, uint32_t node)
{
	return building->nodes[node].graph != TRACE_NONE;
}

/* The event that the call with this id gave a node, a pointer; 0 = none. */
uint64_t cuda_event_given(const struct cuda_building *building, uint64_t cid);

/* Puts the records of the graph with rank GRAPH and of those that its nodes hold, as they are at
 * NS; execs of a graph that has not changed meanwhile share them. 0 or -ENOMEM. */
int cuda_take_snapshot(struct cuda_building *building, uint32_t graph, uint64_t ns,
		       uint64_t *ret_id);

#endif
