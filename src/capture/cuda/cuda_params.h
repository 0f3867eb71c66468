/* Reads from a call's parameters what CUPTI's callbacks do not tell of graphs: which graphs a
 * new node holds, of what type an edge is, whether a launch may start before its stream's last
 * kernel has ended. Any thread; the parameters are the program's and valid during the call. */
#ifndef DAGTAP_CAPTURE_CUDA_PARAMS_H
#define DAGTAP_CAPTURE_CUDA_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "vendor/cupti_types.h"

/* A call: its domain and number in CUPTI's lists, and the parameters that CUPTI passes. */
struct cuda_told_call {
	uint32_t domain; /* enum cupti_domain */
	uint32_t cbid;	 /* 0: no call */
	const void *params;
};

/* A node that a call adds to a graph with the parameters of any kind of node (cudaGraphAddNode). */
struct cuda_added {
	const cuda_node *node; /* where the call stores the node; valid when it has returned */
	cuda_graph graph;
	const struct cuda_node_params *params;
};

/* Sets RET_ADDED if CALL adds such a node. Returns false if it does not. */
bool cuda_params_added(struct cuda_told_call call, struct cuda_added *ret_added);

/* Returns the data of the edge that CALL makes from FROM to TO; all zero for a plain edge, and
 * when the call has no data. CUPTI reports the edges of a call in the order of its parameters,
 * so the search begins after *PLACE, where the last edge of the same call was found; *PLACE is
 * updated. */
struct cuda_edge_data cuda_params_edge(struct cuda_told_call call, const void *from, const void *to,
				       size_t *place);

/* Returns whether CONFIG, of a runtime or driver launch, has programmatic stream serialization.
 * NULL has none. */
bool cuda_params_is_programmatic(const struct cuda_launch_config *config);

#endif
