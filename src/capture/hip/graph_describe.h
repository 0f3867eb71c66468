/* Fills GRAPH_NODE records from what HIP's structs and calls say of a node. */
#ifndef DAGTAP_CAPTURE_HIP_GRAPH_DESCRIBE_H
#define DAGTAP_CAPTURE_HIP_GRAPH_DESCRIBE_H

#include <stdbool.h>

#include "capture/hip/graph_node.h"
#include "record/record.h"
#include "vendor/hip_types.h"

/* Everything but the header, the graph's id and the child's id, as the runtime has it now. What
 * it does not tell stays 0; RECORD_COPY_KIND_UNKNOWN for the kind of an unknown copy. */
void graph_describe_node(uint64_t node, struct record_graph_node *ret_record);

/* Whether all that has filled in is the same but for the handle. */
bool graph_describe_is_same(const struct record_graph_node *a, const struct record_graph_node *b);

void graph_describe_kernel(const struct hip_kernel_params *params,
			   struct record_graph_node *record);
void graph_describe_memset(const struct hip_memset_params *params,
			   struct record_graph_node *record);
void graph_describe_copy(const struct hip_copy_params *params, struct record_graph_node *record);
void graph_describe_copy_1d(const struct graph_copy *copy, struct record_graph_node *record);

#endif
