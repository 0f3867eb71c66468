/* Fills GRAPH_NODE records with what HIP's structs and calls say of a node. Any thread. */
#ifndef DAGTAP_CAPTURE_HIP_GRAPH_DESCRIBE_H
#define DAGTAP_CAPTURE_HIP_GRAPH_DESCRIBE_H

#include <stdbool.h>

#include "capture/hip/graph_copy.h"
#include "record/record.h"
#include "vendor/hip_types.h"

/* Sets all fields but the header, the graph's id and the child's id, to what the runtime and
 * graph_node.h know of NODE now. Unknown fields are 0; the kind of an unknown copy is
 * RECORD_COPY_KIND_UNKNOWN. Calls the runtime, so NODE must be alive (runtime_graph.h). */
void graph_describe_node(uint64_t node, struct record_graph_node *ret_record);

/* Returns whether A and B describe the same work: all fields but the header, the ids and the
 * handle are equal. */
bool graph_describe_is_same(const struct record_graph_node *a, const struct record_graph_node *b);

/* Sets the type and the fields of a kernel node from PARAMS; all other fields stay as they are. */
void graph_describe_kernel(const struct hip_kernel_params *params,
			   struct record_graph_node *record);
/* The same for a memset node. */
void graph_describe_memset(const struct hip_memset_params *params,
			   struct record_graph_node *record);
/* The same for a copy node. */
void graph_describe_copy(const struct hip_copy_params *params, struct record_graph_node *record);
/* The same for an allocation node. Asks the runtime for the device's agent. */
void graph_describe_allocation(const struct hip_alloc_params *params,
			       struct record_graph_node *record);
/* The same for a one-dimensional copy. */
void graph_describe_copy_1d(const struct graph_copy *copy, struct record_graph_node *record);

#endif
