/* What a call's parameters say of graphs, and CUPTI's callbacks do not: which graphs a new node
 * holds, of what type an edge is, whether a launch may start before its stream's last kernel has
 * ended. */
#ifndef DAGTAP_CAPTURE_CUDA_PARAMS_H
#define DAGTAP_CAPTURE_CUDA_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "vendor/cupti_types.h"

/* A call by its number in CUPTI's list, and the parameters that CUPTI hands over. */
struct cuda_told_call {
	uint32_t domain; /* enum cupti_domain */
	uint32_t cbid;	 /* 0: none */
	const void *params;
};

/* A node that a call adds to a graph by the parameters of any kind of node. */
struct cuda_added {
	const cuda_node *node; /* set when the call returns */
	cuda_graph graph;
	const struct cuda_node_params *params;
};

/* False: the call is none of those. */
bool cuda_params_added(struct cuda_told_call call, struct cuda_added *ret_added);

/* The data of the edge that the call makes from FROM to TO. *PLACE is where the last edge of the
 * same call was found; edges come in the order of the parameters, so the search begins behind it.
 * All zero: a plain one, or nothing is said. */
struct cuda_edge_data cuda_params_edge(struct cuda_told_call call, const void *from, const void *to,
				       size_t *place);

/* Whether the configuration of a launch, the runtime's or the driver's, has programmatic stream
 * serialization. */
bool cuda_params_is_programmatic(const struct cuda_launch_config *config);

#endif
