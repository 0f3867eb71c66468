/* What the HIP runtime says of a graph, asked through its own functions and without leaving a
 * record. Only for graphs and nodes that the runtime has just accepted: it does not check them.
 *
 * All return 0 or -errno (-ENOSYS: this runtime has no such function). */
#ifndef DAGTAP_CAPTURE_HIP_RUNTIME_GRAPH_H
#define DAGTAP_CAPTURE_HIP_RUNTIME_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "record/record.h"
#include "vendor/hip_types.h"

/* Graphs in graphs, at most: against a runtime that answers in circles. */
#define RUNTIME_GRAPH_DEPTH 16

/* In the order in which they were added. The caller frees. */
int runtime_graph_nodes(uint64_t graph, uint64_t **ret_nodes, size_t *ret_count);

struct runtime_edges {
	uint64_t *from, *to; /* one allocation: free FROM */
	size_t count;
};

int runtime_graph_edges(uint64_t graph, struct runtime_edges *ret_edges);
int runtime_graph_child(uint64_t node, uint64_t *ret_graph);
int runtime_graph_type(uint64_t node, enum record_node_type *ret_type);
int runtime_graph_kernel(uint64_t node, struct hip_kernel_params *ret_params);
int runtime_graph_memset(uint64_t node, struct hip_memset_params *ret_params);

/* The event of a node of TYPE, which records or waits for it. */
int runtime_graph_event(uint64_t node, enum record_node_type type, uint64_t *ret_event);

/* Not for 1D copies: before HIP 5.3 those say so by their type and are -ENOTSUP. */
int runtime_graph_copy(uint64_t node, struct hip_copy_params *ret_params);

#endif
