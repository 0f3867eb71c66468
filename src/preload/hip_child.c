/* Images of calls that set child graphs: struct hip_image, then all that the graph contains, node
 * by node. Two graphs with equal images do the same when they are put into an executable. What
 * cannot be read (copies, events) makes the image equal to no other one. */
#include <stdlib.h>
#include <string.h>

#include "preload/hip_real.h"

enum {
	MOST_LEVELS = 32,
	ATTRIBUTE_BYTES = 64,
	/* Before, a call of this kind crashes, or nothing is known of it. */
	SETS_CHILDREN_FROM = 60400000,
};

/* hipGraphNodeType, from 5.3 on */
enum {
	NODE_KERNEL = 0,
	NODE_MEMSET = 2,
	NODE_HOST = 3,
	NODE_GRAPH = 4,
	NODE_EMPTY = 5,
};

struct reading {
	struct bytes *to;
	bool has_addresses; /* that HIP checks by what is allocated at this moment */
	bool has_failed;    /* a call of HIP */
};

static bool read_graph(struct reading *reading, void *graph, uint32_t level);

/* Whether a call of HIP succeeded. */
static bool is_ok(struct reading *reading, int result)
{
	reading->has_failed |= result != HIP_OK;
	return result == HIP_OK;
}

/* A node's launch attributes, as far as HIP tells them. */
static bool read_attributes(struct reading *reading, void *node)
{
	/* hipLaunchAttributeAccessPolicyWindow, Cooperative, Priority */
	static const int attributes[] = {1, 2, 8};

	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
		uint64_t value[ATTRIBUTE_BYTES / 8] = {0};

		if (hip_inner.hipGraphKernelNodeGetAttribute &&
		    is_ok(reading,
			  hip_inner.hipGraphKernelNodeGetAttribute(node, attributes[i], value)) &&
		    !bytes_append(reading->to, value, sizeof(value)))
			return false;
	}
	return true;
}

static bool read_kernel(struct reading *reading, void *node)
{
	struct hip_kernel_params params = {0};

	if (!is_ok(reading, hip_inner.hipGraphKernelNodeGetParams(node, &params)) ||
	    hip_image_kernel(&params, reading->to) == 0)
		return bytes_append_unknown(reading->to);
	return read_attributes(reading, node);
}

static bool read_memset(struct reading *reading, void *node)
{
	struct hip_memset_params params = {0}, told = {0};

	if (hip_forgets_memsets() ||
	    !is_ok(reading, hip_inner.hipGraphMemsetNodeGetParams(node, &told)))
		return bytes_append_unknown(reading->to);
	/* without what is in the padding */
	params.dst = told.dst;
	params.element_bytes = told.element_bytes;
	params.height = told.height;
	params.pitch = told.pitch;
	params.value = told.value;
	params.width = told.width;
	reading->has_addresses = true;
	return bytes_append(reading->to, &params, sizeof(params));
}

static bool read_host(struct reading *reading, void *node)
{
	struct hip_host_params params = {0};

	if (!is_ok(reading, hip_inner.hipGraphHostNodeGetParams(node, &params)))
		return bytes_append_unknown(reading->to);
	return bytes_append(reading->to, &params, sizeof(params));
}

static bool read_child(struct reading *reading, void *node, uint32_t level)
{
	void *child;

	if (level == MOST_LEVELS ||
	    !is_ok(reading, hip_inner.hipGraphChildGraphNodeGetGraph(node, &child)))
		return bytes_append_unknown(reading->to);
	return read_graph(reading, child, level + 1);
}

/* No call tells which of its forms a copy has; events may be destroyed and their handles used
 * again. */
static bool read_node(struct reading *reading, void *node, uint32_t level)
{
	uint32_t type;

	if (!is_ok(reading, hip_inner.hipGraphNodeGetType(node, &type)))
		return bytes_append_unknown(reading->to);
	if (!bytes_append(reading->to, &type, sizeof(type)))
		return false;
	switch (type) {
	case NODE_KERNEL:
		return read_kernel(reading, node);
	case NODE_MEMSET:
		return read_memset(reading, node);
	case NODE_HOST:
		return read_host(reading, node);
	case NODE_GRAPH:
		return read_child(reading, node, level);
	case NODE_EMPTY:
		return true;
	default:
		reading->has_addresses = true;
		return bytes_append_unknown(reading->to);
	}
}

/* The edges, by the places of their nodes. ENDS has room for 2 x COUNT nodes. */
static bool read_edges(struct reading *reading, void *graph, void *const *nodes, size_t node_count,
		       void **ends, size_t count)
{
	if (!is_ok(reading, hip_inner.hipGraphGetEdges(graph, ends, ends + count, &count)))
		return bytes_append_unknown(reading->to);
	for (size_t i = 0; i < count; i++) {
		uint64_t edge[] = {node_place(nodes, node_count, ends[i]),
				   node_place(nodes, node_count, ends[count + i])};

		if (!bytes_append(reading->to, edge, sizeof(edge)))
			return false;
	}
	return true;
}

static bool read_graph(struct reading *reading, void *graph, uint32_t level)
{
	size_t count = 0, edge_count = 0;
	bool is_listed = is_ok(reading, hip_inner.hipGraphGetNodes(graph, NULL, &count)) &&
			 is_ok(reading, hip_inner.hipGraphGetEdges(graph, NULL, NULL, &edge_count));
	void **nodes = calloc(count + 2 * edge_count + 1, sizeof(*nodes));
	uint64_t counts[] = {count, edge_count};
	bool is_read = nodes && bytes_append(reading->to, counts, sizeof(counts));

	if (is_read &&
	    (!is_listed ||
	     (count > 0 && !is_ok(reading, hip_inner.hipGraphGetNodes(graph, nodes, &count)))))
		is_read = bytes_append_unknown(reading->to);
	for (size_t i = 0; is_read && is_listed && i < count; i++)
		is_read = read_node(reading, nodes[i], level);
	if (is_read && is_listed && edge_count > 0)
		is_read = read_edges(reading, graph, nodes, count, nodes + count, edge_count);
	free(nodes);
	return is_read;
}

bool hip_sets_children(void)
{
	return hip_inner.version >= SETS_CHILDREN_FROM && hip_inner.hipGraphGetEdges &&
	       hip_inner.hipGraphKernelNodeGetParams && hip_inner.hipGraphMemsetNodeGetParams &&
	       hip_inner.hipGraphHostNodeGetParams && hip_inner.hipGraphChildGraphNodeGetGraph;
}

uint32_t hip_image_child(void *graph, struct bytes *to, bool *ret_has_addresses)
{
	struct hip_image *image = bytes_add(to, sizeof(*image));
	struct reading reading = {.to = to};
	bool is_read;

	if (!image)
		return 0;
	image->door = HIP_DOOR_hipGraphExecChildGraphNodeSetParams;
	is_read = read_graph(&reading, graph, 0);
	if (reading.has_failed)
		hip_vendor.forget_error();
	if (!is_read || to->count > UINT32_MAX)
		return 0;
	PRELOAD_COUNT(child_reads);
	*ret_has_addresses = reading.has_addresses;
	return (uint32_t)to->count;
}
