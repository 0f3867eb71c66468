/* Types of graph nodes in CUDA: CUgraphNodeType, which the driver's functions and CUPTI use.
 * Numbers are the interface's own. */
#ifndef DAGTAP_VENDOR_CUDA_NODES_H
#define DAGTAP_VENDOR_CUDA_NODES_H

enum cuda_node_type {
	CUDA_NODE_UNTOLD = -1, /* dagtap's own: the type is not known */
	CUDA_NODE_KERNEL = 0,
	CUDA_NODE_MEMCPY = 1,
	CUDA_NODE_MEMSET = 2,
	CUDA_NODE_HOST = 3,
	CUDA_NODE_GRAPH = 4,
	CUDA_NODE_EMPTY = 5,
	CUDA_NODE_WAIT_EVENT = 6,
	CUDA_NODE_EVENT_RECORD = 7,
	CUDA_NODE_MEM_ALLOC = 10,
	CUDA_NODE_MEM_FREE = 11,
	CUDA_NODE_CONDITIONAL = 13,
};

#endif
