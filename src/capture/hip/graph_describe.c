/* Describes graph nodes as records; see graph_describe.h. */
#include "capture/hip/graph_describe.h"

#include <stddef.h>
#include <string.h>

#include "capture/hip/graph_node.h"
#include "capture/hip/hip_device.h"
#include "capture/hip/runtime_graph.h"

void graph_describe_kernel(const struct hip_kernel_params *params, struct record_graph_node *record)
{
	record->type = RECORD_NODE_KERNEL;
	record->function = (uintptr_t)params->function;
	record->grid[0] = params->grid.x;
	record->grid[1] = params->grid.y;
	record->grid[2] = params->grid.z;
	record->block[0] = params->block.x;
	record->block[1] = params->block.y;
	record->block[2] = params->block.z;
	record->shared_bytes = params->shared_bytes;
}

void graph_describe_memset(const struct hip_memset_params *params, struct record_graph_node *record)
{
	record->type = RECORD_NODE_MEMSET;
	record->dst = (uintptr_t)params->dst;
	record->width = (uint32_t)params->width;
	record->height = (uint32_t)params->height;
	record->depth = 1;
	record->element_bytes = params->element_bytes;
	record->bytes = (uint64_t)params->width * params->height * params->element_bytes;
}

void graph_describe_copy(const struct hip_copy_params *params, struct record_graph_node *record)
{
	record->type = RECORD_NODE_MEMCPY;
	record->copy_kind = (uint32_t)params->kind;
	record->src = (uintptr_t)(params->src_array ? params->src_array : params->src.ptr);
	record->dst = (uintptr_t)(params->dst_array ? params->dst_array : params->dst.ptr);
	record->width = (uint32_t)params->extent.width;
	record->height = (uint32_t)params->extent.height;
	record->depth = (uint32_t)params->extent.depth;
	record->bytes = params->extent.width * params->extent.height * params->extent.depth;
}

void graph_describe_copy_1d(const struct graph_copy *copy, struct record_graph_node *record)
{
	record->type = RECORD_NODE_MEMCPY;
	record->copy_kind = copy->kind;
	record->src = copy->src;
	record->dst = copy->dst;
	record->bytes = copy->bytes;
	record->width = (uint32_t)copy->bytes;
	record->height = record->depth = 1;
}

void graph_describe_allocation(const struct hip_alloc_params *params,
			       struct record_graph_node *record)
{
	record->type = RECORD_NODE_MEM_ALLOC;
	record->dst = (uintptr_t)params->address;
	record->bytes = params->bytes;
	if (params->location.type == HIP_LOCATION_DEVICE)
		record->agent = device_agent(params->location.id);
}

/* graph_node.h knows one-dimensional copies, the runtime all others. */
static void describe_any_copy(uint64_t node, struct record_graph_node *record)
{
	struct graph_copy copy;
	struct hip_copy_params params;

	if (graph_node_find_copy(node, &copy))
		graph_describe_copy_1d(&copy, record);
	else if (!runtime_graph_copy(node, &params))
		graph_describe_copy(&params, record);
	else
		record->copy_kind = RECORD_COPY_KIND_UNKNOWN;
}

void graph_describe_node(uint64_t node, struct record_graph_node *ret_record)
{
	enum record_node_type type = RECORD_NODE_OTHER;
	struct hip_kernel_params kernel;
	struct hip_memset_params memset;
	struct hip_alloc_params allocation;

	runtime_graph_type(node, &type);
	*ret_record = (struct record_graph_node){.handle = node, .type = type};
	if (type == RECORD_NODE_KERNEL && !runtime_graph_kernel(node, &kernel))
		graph_describe_kernel(&kernel, ret_record);
	else if (type == RECORD_NODE_MEMSET && !runtime_graph_memset(node, &memset))
		graph_describe_memset(&memset, ret_record);
	else if (type == RECORD_NODE_MEMCPY)
		describe_any_copy(node, ret_record);
	else if (type == RECORD_NODE_EVENT_RECORD || type == RECORD_NODE_EVENT_WAIT)
		runtime_graph_event(node, type, &ret_record->event);
	else if (type == RECORD_NODE_MEM_ALLOC && !runtime_graph_allocation(node, &allocation))
		graph_describe_allocation(&allocation, ret_record);
	else if (type == RECORD_NODE_MEM_FREE)
		runtime_graph_freed(node, &ret_record->dst);
}

bool graph_describe_is_same(const struct record_graph_node *a, const struct record_graph_node *b)
{
	enum {
		FIRST = offsetof(struct record_graph_node, type),
		END = offsetof(struct record_graph_node, child_graph_id),
	};

	return !memcmp((const char *)a + FIRST, (const char *)b + FIRST, END - FIRST);
}
