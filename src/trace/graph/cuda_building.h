/* Inside trace/graph/: the state of a process's graphs while cuda_graph_steps.c applies the
 * recorded steps of their lives. cuda_snapshots.c adds a graph to the input of graphs
 * (trace/graph/graph_input.h) when an exec is made of it, and cuda_unseen_graphs.c adds the graphs
 * that no step made. */
#ifndef DAGTAP_TRACE_CUDA_BUILDING_H
#define DAGTAP_TRACE_CUDA_BUILDING_H

#include "record/cuda_clones.h"
#include "trace/load/cuda_load.h"

#define CUDA_CLONES_MOST 64 /* limit of a chain of clones; damaged files may have cycles */

struct cuda_edge {
	uint32_t from, to; /* nodes, by rank */
	uint32_t next;	   /* next edge of the same graph, or TRACE_NONE */
	uint8_t type;	   /* enum record_edge_type */
	bool is_gone;
};

/* A graph that a node holds: a child graph, or a body of a conditional node. */
struct cuda_held {
	uint32_t graph; /* rank */
	uint32_t next;	/* of the same node: index + 1 into held, 0 = none */
};

/* A graph, as the steps so far have left it. */
struct cuda_life {
	uint32_t first_node, last_node; /* TRACE_NONE = none */
	uint32_t first_edge, last_edge; /* TRACE_NONE = none */
	/* Edge that find_edge returned last, or TRACE_NONE. The next search starts after it,
	 * because the edges of a clone come in the order of the edges of its original. */
	uint32_t found_edge;
	uint32_t original; /* graph that it was cloned from, or TRACE_NONE */
	uint64_t snapshot; /* id of the snapshot that still equals the graph, 0 = none */
	/* Number of the exec (exec_count) whose snapshot has the graph: one node of an exec holds
	 * it. */
	uint32_t exec;
	bool is_gone;
	bool is_partial; /* an edge had a node that was made before the recording */
};

struct cuda_building {
	struct process_load *load;
	struct cuda_node *nodes; /* by rank of the node's id */
	uint32_t node_count;
	struct cuda_life *graphs; /* by rank of the graph's id */
	struct cuda_edge *edges;
	uint32_t edge_count;
	bool has_types; /* some edge is not plain */
	struct cuda_held *held;
	uint32_t held_count;
	/* By node: its clone in the graph that inherits edges now, or TRACE_NONE. */
	uint32_t *clones;
	uint64_t last_graph_id; /* snapshots are numbered from 1 */
	uint32_t exec_count;	/* execs for which a snapshot was made so far */
	struct cuda_clones open_clones;
};

/* Whether a step has told the graph of NODE. */
static inline bool cuda_has_graph(const struct cuda_building *building, uint32_t node)
{
	return building->nodes[node].graph != TRACE_NONE;
}

/* The type of a node whose activities have this kind. */
static inline enum record_node_type cuda_node_type_of(enum trace_activity_kind kind)
{
	static const enum record_node_type types[] = {[TRACE_KERNEL] = RECORD_NODE_KERNEL,
						      [TRACE_COPY] = RECORD_NODE_MEMCPY,
						      [TRACE_MEMSET] = RECORD_NODE_MEMSET};

	return types[kind];
}

/* Adds the graph with rank GRAPH, and the graphs that its nodes hold, to the input of graphs, with
 * their state after the last step. Sets *RET_ID to the graph's id there. If the graph has not
 * changed since its last snapshot and holds no graphs, that is the id of that one, and nothing is
 * added. 0 or -ENOMEM. */
int cuda_take_snapshot(struct cuda_building *building, uint32_t graph, uint64_t *ret_id);

/* Call after all steps. For each exec that only activities name, adds a graph whose nodes are those
 * that the activities name, and the exec. Numbers the graphs after *last_graph_id and updates it. 0
 * or -ENOMEM. */
int cuda_add_unseen_graphs(struct process_load *load, uint64_t *last_graph_id);

#endif
