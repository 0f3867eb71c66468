/* Graph nodes as they were seen when they were added or captured: the call, the scope, and what
 * the runtime does not tell afterwards (one-dimensional copies). Writes the NODE_RECORDED
 * records.
 *
 * Threading: any thread. A lock is taken while graphs are built, never when they are launched. */
#ifndef DAGTAP_CAPTURE_HIP_GRAPH_NODE_H
#define DAGTAP_CAPTURE_HIP_GRAPH_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/hip/graph_copy.h"
#include "capture/hip/hip_wrapped_call.h"

/* Returns the copy that NODE was last set to. False when NODE is not known to be a
 * one-dimensional copy. */
bool graph_node_find_copy(uint64_t node, struct graph_copy *ret_copy);

/* CALL was captured and became NODE of GRAPH. ARGS are the call's arguments. */
void graph_node_captured(struct hip_call *call, uint64_t node, uint64_t graph,
			 const uint64_t *args);
/* CALL was captured, but the node that it became is not known: writes a record with node 0. */
void graph_node_captured_unknown(struct hip_call *call);
/* GRAPH was created; graph_node_graph_going asks the runtime only about graphs that are known
 * here. */
void graph_node_graph_made(uint64_t graph);

/* Hooks of hooks.c; see struct hip_hook. hipGraphAdd...Node: the node and the graph are the
 * first and the second argument. */
void graph_node_added(struct hip_call *call, int result, const uint64_t *args);
/* hipGraphAddChildGraphNode: the nodes of the embedded copy inherit the calls of the child's
 * nodes. */
void graph_node_child_added(struct hip_call *call, int result, const uint64_t *args);
/* hipGraphMemcpyNodeSetParams1D and its variants for symbols. */
void graph_node_params_set(struct hip_call *call, int result, const uint64_t *args);
/* hipGraphCreate. */
void graph_node_graph_created(struct hip_call *call, int result, const uint64_t *args);
/* hipGraphClone: the clone's nodes inherit the calls of the original's nodes. */
void graph_node_graph_cloned(struct hip_call *call, int result, const uint64_t *args);
/* hipGraphDestroy, before the call: forgets the graph's nodes. */
void graph_node_graph_going(struct hip_call *call, const uint64_t *args);
/* hipGraphDestroyNode. */
void graph_node_gone(struct hip_call *call, int result, const uint64_t *args);

/* In a fork child: forgets all nodes and graphs, since HIP does not survive a fork. */
void graph_node_reset(void);

#endif
