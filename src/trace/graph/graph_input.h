/* Inside trace/: what a process recorded of its graphs, in one form for both vendors.
 *
 * graph_records.c fills it from HIP's records, cuda_graph_steps.c from the steps that CUPTI
 * reported. Then graphs.c sorts it and makes rows of it; the stages that follow launches (naming.c,
 * updates.c, graph_events.c) read execs, launches and updates here. Graphs, nodes, execs and calls
 * are named by their ids, because their rows do not exist yet.
 *
 * Threading: one thread loads a trace; there are no locks. */
#ifndef DAGTAP_TRACE_GRAPH_INPUT_H
#define DAGTAP_TRACE_GRAPH_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/record.h"
#include "trace/trace_model.h"

/* What is known of the activities of a node. Hashed as bytes, so without padding. */
struct node_signature {
	uint64_t bytes;	   /* of copies and fills; 0 = unknown */
	trace_string name; /* of kernels; 0 = unknown */
	uint32_t reserved;
	uint64_t grid[3]; /* work-items */
	uint32_t workgroup[3];
	uint32_t pieces; /* number of activities that HIP makes of it */
};

_Static_assert(sizeof(struct node_signature) == 56, "signature without padding");

/* A graph as it was when an exec was made of it. Its counts are those that the graph had; records
 * of nodes and edges may be missing. */
struct input_graph {
	uint64_t id;
	uint64_t parent_id;   /* graph whose node holds it, 0 = none */
	uint32_t parent_node; /* index of that node */
	uint32_t node_count, edge_count;
	bool is_partial; /* it is known to have more than it tells */
};

struct input_node {
	uint64_t graph_id;
	uint64_t handle;   /* HIP's handle, or CUPTI's id */
	uint64_t child_id; /* first graph that it holds, 0 = none */
	uint64_t event;	   /* of event nodes: handle, 0 = not known */
	uint64_t address;  /* of nodes that allocate or free memory; 0 = not known */
	uint64_t agent;	   /* of nodes that allocate: HSA's handle, 0 = not known */
	struct node_signature signature;
	uint32_t index;	   /* among the nodes of its graph */
	uint32_t scope;	   /* row of the scope in which it was added, or TRACE_NONE */
	uint8_t type;	   /* enum record_node_type, from input_node_type() */
	uint8_t direction; /* enum trace_copy_direction */
};

struct input_edge {
	uint64_t graph_id;
	uint32_t from, to; /* node indexes */
	uint8_t type;	   /* enum record_edge_type */
};

struct input_exec {
	uint64_t id;
	uint64_t graph_id;
	uint64_t handle; /* HIP's; CUDA's execs have none */
	uint64_t cid;	 /* of the call that made it */
	bool frees_on_launch;
};

struct input_launch {
	uint64_t exec_id;
	uint64_t replay; /* RECORD_REPLAY_UNCOUNTED until graphs_load */
	uint64_t cid;
};

#define INPUT_BY_HANDLE UINT32_MAX

/* A node of an exec got new parameters. There may be several for each launch. */
struct input_update {
	uint64_t exec_id;
	uint64_t cid;
	uint64_t graph_id; /* child graph that contains the node, 0 = the graph of the exec */
	uint64_t handle;   /* CUPTI's id of the node */
	uint64_t event;	   /* of event record nodes: the new event's handle */
	struct node_signature signature;
	uint32_t index; /* of the node in its graph; INPUT_BY_HANDLE: `handle` names it */
	uint8_t type;	/* enum record_node_type */
};

/* process_load owns the arrays. They grow by trace_add (row_table.h). graphs_load sorts execs by id
 * and launches by (exec, replay), and frees graphs, nodes and edges; naming_load sorts updates by
 * (exec, cid). Rows that are equal in that keep the order in which they were added. */
struct graph_input {
	TRACE_ARRAY(input_graph, graphs);
	TRACE_ARRAY(input_node, nodes);
	TRACE_ARRAY(input_edge, edges);
	TRACE_ARRAY(input_exec, execs);
	/* once sorted, row I is the launch in row first.launches + I */
	TRACE_ARRAY(input_launch, launches);
	TRACE_ARRAY(input_update, updates);
};

/* The type of a node, from a number of a file. */
static inline uint8_t input_node_type(uint32_t type)
{
	return type < RECORD_NODE_OTHER || type == RECORD_NODE_CONDITIONAL ? (uint8_t)type
									   : RECORD_NODE_OTHER;
}

/* Index of the first update of the exec with this id, or of a later exec. Call after naming_load
 * has sorted them. Cost: a bisection. */
uint32_t graph_input_find_updates(const struct graph_input *input, uint64_t exec_id);

/* The update at *AT if it is of the exec with this id, by a call before CID, else NULL. Moves *AT
 * on past it. */
const struct input_update *graph_input_next_update(const struct graph_input *input,
						   uint64_t exec_id, uint64_t cid, uint32_t *at);

/* Frees the arrays and makes them empty. */
void graph_input_release(struct graph_input *input);

/* The same for graphs, nodes and edges alone, of which graphs_load has made rows. */
void graph_input_release_graphs(struct graph_input *input);

#endif
