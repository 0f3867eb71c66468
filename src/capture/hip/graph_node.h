/* What was seen of graph nodes when they were made: by which call, under which scope, and what the
 * runtime does not tell afterwards (1D copies). Writes the NODE_RECORDED records.
 *
 * A lock, taken while graphs are built and never when they are launched. Any thread. */
#ifndef DAGTAP_CAPTURE_HIP_GRAPH_NODE_H
#define DAGTAP_CAPTURE_HIP_GRAPH_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/hip/wrap.h"

struct graph_copy {
	uint64_t dst, src, bytes;
	uint32_t kind; /* hipMemcpyKind */
};

/* The one-dimensional copy that a call describes: hipMemcpyAsync, AddMemcpyNode1D, ... */
bool graph_copy_of_call(uint32_t op, const uint64_t *args, struct graph_copy *ret_copy);

/* The copy that NODE was last set to; false for anything but a known 1D copy. */
bool graph_node_find_copy(uint64_t node, struct graph_copy *ret_copy);

void graph_node_captured(struct hip_call *call, uint64_t node, uint64_t graph,
			 const uint64_t *args);
/* The call was captured, and what node it became cannot be told. */
void graph_node_captured_unknown(struct hip_call *call);
void graph_node_graph_made(uint64_t graph);

/* Hooks. The Add functions have their node and graph as first and second argument. */
void graph_node_added(struct hip_call *call, int result, const uint64_t *args);
void graph_node_child_added(struct hip_call *call, int result, const uint64_t *args);
void graph_node_params_set(struct hip_call *call, int result, const uint64_t *args);
void graph_node_graph_created(struct hip_call *call, int result, const uint64_t *args);
void graph_node_graph_cloned(struct hip_call *call, int result, const uint64_t *args);
void graph_node_graph_going(struct hip_call *call, const uint64_t *args);
void graph_node_gone(struct hip_call *call, int result, const uint64_t *args);

void graph_node_reset(void);

#endif
