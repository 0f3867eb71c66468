/* Layouts of the records of graphs: templates with their nodes and edges, executable graphs, and
 * launches. Part of record.h, which says what all records have in common. */
#ifndef DAGTAP_RECORD_GRAPH_H
#define DAGTAP_RECORD_GRAPH_H

#include <stdint.h>

#include "record/record_types.h"

/* A graph (the template) as it was when an exec was instantiated from it. Its GRAPH_NODE and
 * GRAPH_EDGE records have the same graph_id. */
struct record_graph {
	struct record_header header;
	uint64_t graph_id;
	uint64_t handle;
	uint64_t ns;
	uint32_t node_count;
	uint32_t edge_count;
	uint64_t parent_graph_id; /* of a child graph: the graph that contains it; else 0 */
	uint64_t parent_node;	  /* index of the child node in that graph */
};

enum record_node_type {
	RECORD_NODE_KERNEL,
	RECORD_NODE_MEMCPY,
	RECORD_NODE_MEMSET,
	RECORD_NODE_HOST,
	RECORD_NODE_CHILD,
	RECORD_NODE_EMPTY,
	RECORD_NODE_EVENT_WAIT,
	RECORD_NODE_EVENT_RECORD,
	RECORD_NODE_MEM_ALLOC,
	RECORD_NODE_MEM_FREE,
	RECORD_NODE_OTHER,
	RECORD_NODE_UNTOLD,	 /* CUPTI did not tell the type; in CUDA_GRAPH records only */
	RECORD_NODE_CONDITIONAL, /* CUDA only: the device decides how often its bodies run */
};

#define RECORD_COPY_KIND_UNKNOWN UINT32_MAX

/* A node of a graph, or, as GRAPH_EXEC_UPDATE, the new parameters of a node of an exec (graph_id is
 * then the exec's id). Fields that do not apply to the type are 0. */
struct record_graph_node {
	struct record_header header; /* tag: node index in the order of the runtime's node list */
	uint64_t graph_id;
	uint64_t handle;
	uint32_t type;	    /* enum record_node_type */
	uint32_t copy_kind; /* copies: hipMemcpyKind, or RECORD_COPY_KIND_UNKNOWN */
	union {
		uint64_t function; /* kernels: the handle of a FUNCTION record */
		uint64_t event;	   /* event nodes: the event's handle, 0 = not known */
		uint64_t agent;	   /* allocation nodes: whose memory (hsa_agent_t), 0 = unknown */
	};
	uint32_t grid[3];      /* blocks, as the API has them */
	uint32_t block[3];     /* threads */
	uint64_t shared_bytes; /* dynamic */
	uint64_t bytes;	       /* copies and memsets: total; allocations: what they ask for */
	uint64_t dst;	       /* also the address that an allocation or free node is about */
	uint64_t src;
	uint32_t width, height, depth; /* copies: extent; memsets: elements and rows */
	uint32_t element_bytes;	       /* memsets */
	uint64_t child_graph_id; /* child nodes: the child graph; updates: the child graph that
				    contains the node, 0 = the exec's own graph */
	uint64_t cid;		 /* updates: the call that made the update */
	uint64_t ns;
};

enum record_edge_type {
	RECORD_EDGE_PLAIN,	 /* the second node begins when the first has ended */
	RECORD_EDGE_PROGRAMMATIC /* kernels: when the first triggers it, or has ended */
};

/* A dependency between two nodes of a graph. */
struct record_graph_edge {
	struct record_header header; /* tag: enum record_edge_type */
	uint64_t graph_id;
	uint32_t from; /* node indexes */
	uint32_t to;
};

/* The exec's launches begin with the release of what earlier ones allocated and did not free. */
#define RECORD_GRAPH_EXEC_FREES_ON_LAUNCH 1

/* An exec was instantiated from the graph. */
struct record_graph_exec {
	struct record_header header; /* tag: 0 or RECORD_GRAPH_EXEC_FREES_ON_LAUNCH */
	uint64_t exec_id;
	uint64_t graph_id;
	uint64_t handle; /* hipGraphExec_t */
	uint64_t cid;	 /* the call that instantiated it */
	uint64_t ns;
};

/* The exec was destroyed. */
struct record_graph_exec_gone {
	struct record_header header;
	uint64_t exec_id;
	uint64_t ns;
};

/* The replay number of a launch for which the capture side had no counter left. The loader numbers
 * such launches of an exec in the order of their cids. */
#define RECORD_REPLAY_UNCOUNTED UINT64_MAX

/* One replay of an exec. */
struct record_graph_launch {
	struct record_header header;
	uint64_t exec_id;
	uint64_t replay; /* from 0, per exec, or RECORD_REPLAY_UNCOUNTED */
	uint64_t cid;	 /* the launch call */
	uint64_t stream; /* handle */
};

/* A call added a node to a graph, or was captured into one: gives the scope of the node. Of a
 * captured call the record comes before its API record. */
struct record_node_recorded {
	struct record_header header;
	uint64_t node;	/* handle, 0: the call was captured, and its node is not known */
	uint64_t graph; /* handle, 0 = unknown */
	uint64_t cid;
	uint64_t scope;
	uint64_t ns;
};

#endif
