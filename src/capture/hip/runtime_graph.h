/* Questions to the HIP runtime about a graph. The calls leave no record. Ask only about graphs
 * and nodes that the runtime has just accepted: it does not check the handles, and a call that
 * fails would change the program's hipGetLastError.
 *
 * Any thread. All functions return 0 or a negative errno (-ENOSYS: the runtime has no such
 * function; -EINVAL: the runtime's call failed). */
#ifndef DAGTAP_CAPTURE_HIP_RUNTIME_GRAPH_H
#define DAGTAP_CAPTURE_HIP_RUNTIME_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "record/record.h"
#include "vendor/hip_types.h"

/* The deepest nesting of child graphs that is followed: a guard against a runtime that answers
 * in circles. */
#define RUNTIME_GRAPH_DEPTH 16

/* Returns the nodes in the order in which they were added. The caller frees RET_NODES. */
int runtime_graph_nodes(uint64_t graph, uint64_t **ret_nodes, size_t *ret_count);

/* Edge i leads from from[i] to to[i]. */
struct runtime_edges {
	uint64_t *from, *to; /* one allocation: the caller frees FROM */
	size_t count;
};

/* Returns the edges in the runtime's order. */
int runtime_graph_edges(uint64_t graph, struct runtime_edges *ret_edges);
/* Gets the graph that a child node holds; it is the runtime's. */
int runtime_graph_child(uint64_t node, uint64_t *ret_graph);
/* The numbers of node types differ between versions of HIP; an unknown one is RECORD_NODE_OTHER. */
int runtime_graph_type(uint64_t node, enum record_node_type *ret_type);
/* The parameters of a kernel node and of a memset node; their arrays are the runtime's. */
int runtime_graph_kernel(uint64_t node, struct hip_kernel_params *ret_params);
int runtime_graph_memset(uint64_t node, struct hip_memset_params *ret_params);

/* The parameters of an allocation node, and the address that a free node releases. */
int runtime_graph_allocation(uint64_t node, struct hip_alloc_params *ret_params);
int runtime_graph_freed(uint64_t node, uint64_t *ret_address);

/* Gets the event that a node records or waits for. TYPE is its type, RECORD_NODE_EVENT_RECORD or
 * RECORD_NODE_EVENT_WAIT. */
int runtime_graph_event(uint64_t node, enum record_node_type type, uint64_t *ret_event);

/* Not for one-dimensional copies. Before HIP 5.3 their node type tells them apart, and the
 * function returns -ENOTSUP for them. */
int runtime_graph_copy(uint64_t node, struct hip_copy_params *ret_params);

#endif
