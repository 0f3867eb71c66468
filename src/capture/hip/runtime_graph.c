/* Asks the HIP runtime about graphs; see runtime_graph.h. */
#include "capture/hip/runtime_graph.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/hip/hip_runtime.h"

/* HIP_VERSION: major * 10^7 + minor * 10^5 + patch. */
#define VERSION(major, minor) ((major)*10000000 + (minor)*100000)

typedef int (*list_function)(void *graph, void *nodes, size_t *count);
typedef int (*edges_function)(void *graph, void *from, void *to, size_t *count);
typedef int (*get_function)(void *node, void *params);

/* Calls one of the runtime's functions that take a node and a pointer for the answer. */
static int ask(enum hip_function function, uint64_t node, void *answer)
{
	get_function get = hip_next(function);
	struct frame frame;
	int err;

	if (!get)
		return -ENOSYS;
	hip_mute(&frame);
	err = get((void *)node, answer);
	hip_unmute(&frame);
	return err == HIP_OK ? 0 : -EINVAL;
}

int runtime_graph_nodes(uint64_t graph, uint64_t **ret_nodes, size_t *ret_count)
{
	list_function list = hip_next(HIP_hipGraphGetNodes);
	size_t count = 0;
	uint64_t *nodes = NULL;
	struct frame frame;
	int status = -EINVAL;

	if (!list)
		return -ENOSYS;
	hip_mute(&frame);
	if (list((void *)graph, NULL, &count) == HIP_OK) {
		nodes = calloc(count + 1, sizeof(*nodes));
		status = nodes ? 0 : -ENOMEM;
	}
	if (!status && count && list((void *)graph, nodes, &count) != HIP_OK)
		status = -EINVAL;
	hip_unmute(&frame);
	if (status) {
		free(nodes);
		return status;
	}
	*ret_nodes = nodes;
	*ret_count = count;
	return 0;
}

int runtime_graph_edges(uint64_t graph, struct runtime_edges *ret_edges)
{
	edges_function list = hip_next(HIP_hipGraphGetEdges);
	size_t room = 0, count = 0;
	uint64_t *ends = NULL;
	struct frame frame;
	int status = -EINVAL;

	if (!list)
		return -ENOSYS;
	hip_mute(&frame);
	if (list((void *)graph, NULL, NULL, &room) == HIP_OK) {
		ends = calloc(2 * room + 1, sizeof(*ends));
		status = ends ? 0 : -ENOMEM;
	}
	count = room;
	if (!status && count && list((void *)graph, ends, ends + room, &count) != HIP_OK)
		status = -EINVAL;
	hip_unmute(&frame);
	if (status) {
		free(ends);
		return status;
	}
	*ret_edges = (struct runtime_edges){.from = ends, .to = ends + room, .count = count};
	return 0;
}

int runtime_graph_child(uint64_t node, uint64_t *ret_graph)
{
	return ask(HIP_hipGraphChildGraphNodeGetGraph, node, ret_graph);
}

int runtime_graph_kernel(uint64_t node, struct hip_kernel_params *ret_params)
{
	return ask(HIP_hipGraphKernelNodeGetParams, node, ret_params);
}

int runtime_graph_memset(uint64_t node, struct hip_memset_params *ret_params)
{
	return ask(HIP_hipGraphMemsetNodeGetParams, node, ret_params);
}

int runtime_graph_allocation(uint64_t node, struct hip_alloc_params *ret_params)
{
	return ask(HIP_hipGraphMemAllocNodeGetParams, node, ret_params);
}

int runtime_graph_freed(uint64_t node, uint64_t *ret_address)
{
	return ask(HIP_hipGraphMemFreeNodeGetParams, node, ret_address);
}

int runtime_graph_event(uint64_t node, enum record_node_type type, uint64_t *ret_event)
{
	return ask(type == RECORD_NODE_EVENT_RECORD ? HIP_hipGraphEventRecordNodeGetEvent
						    : HIP_hipGraphEventWaitNodeGetEvent,
		   node, ret_event);
}

/* The numbers of node types changed twice: HIP 5.3 begins with 0, HIP 5.5 inserts memory nodes
 * before the copies to and from symbols. */
static const enum record_node_type types_5_2[] = {
	RECORD_NODE_OTHER,	  RECORD_NODE_KERNEL, RECORD_NODE_MEMCPY, RECORD_NODE_MEMSET,
	RECORD_NODE_HOST,	  RECORD_NODE_CHILD,  RECORD_NODE_EMPTY,  RECORD_NODE_EVENT_WAIT,
	RECORD_NODE_EVENT_RECORD, RECORD_NODE_MEMCPY, RECORD_NODE_MEMCPY, RECORD_NODE_MEMCPY,
};
static const enum record_node_type types_5_3[] = {
	RECORD_NODE_KERNEL, RECORD_NODE_MEMCPY, RECORD_NODE_MEMSET,	RECORD_NODE_HOST,
	RECORD_NODE_CHILD,  RECORD_NODE_EMPTY,	RECORD_NODE_EVENT_WAIT, RECORD_NODE_EVENT_RECORD,
	RECORD_NODE_OTHER,  RECORD_NODE_OTHER,	RECORD_NODE_MEMCPY,	RECORD_NODE_MEMCPY,
};
static const enum record_node_type types_5_5[] = {
	RECORD_NODE_KERNEL, RECORD_NODE_MEMCPY, RECORD_NODE_MEMSET,	RECORD_NODE_HOST,
	RECORD_NODE_CHILD,  RECORD_NODE_EMPTY,	RECORD_NODE_EVENT_WAIT, RECORD_NODE_EVENT_RECORD,
	RECORD_NODE_OTHER,  RECORD_NODE_OTHER,	RECORD_NODE_MEM_ALLOC,	RECORD_NODE_MEM_FREE,
	RECORD_NODE_MEMCPY, RECORD_NODE_MEMCPY,
};

#define LOOKUP(table, number)                                                                      \
	((number) < sizeof(table) / sizeof(*(table)) ? (table)[number] : RECORD_NODE_OTHER)

int runtime_graph_type(uint64_t node, enum record_node_type *ret_type)
{
	unsigned int number = 0;
	int status = ask(HIP_hipGraphNodeGetType, node, &number), version = hip_version();

	if (status)
		return status;
	if (version < VERSION(5, 3))
		*ret_type = LOOKUP(types_5_2, number);
	else if (version < VERSION(5, 5))
		*ret_type = LOOKUP(types_5_3, number);
	else
		*ret_type = LOOKUP(types_5_5, number);
	return 0;
}

int runtime_graph_copy(uint64_t node, struct hip_copy_params *ret_params)
{
	enum { MEMCPY_3D_BEFORE_5_3 = 2 };
	unsigned int number = 0;
	int status = ask(HIP_hipGraphNodeGetType, node, &number);

	if (status)
		return status;
	if (hip_version() < VERSION(5, 3) && number != MEMCPY_3D_BEFORE_5_3)
		return -ENOTSUP;
	return ask(HIP_hipGraphMemcpyNodeGetParams, node, ret_params);
}
