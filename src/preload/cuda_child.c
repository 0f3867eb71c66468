/* Images of calls that set child graphs: struct cuda_image, then all that the graph contains, node
 * by node. Two graphs with equal images do the same when they are put into an executable. A graph
 * whose version was read is not read again. */
#include <stdlib.h>
#include <string.h>

#include "preload/cuda_real.h"
#include "preload/graph_versions.h"

enum { MOST_ATTRIBUTES = 20, MOST_LEVELS = 32 };

struct reading {
	struct virtual *v;
	struct bytes *to;
	bool is_known; /* the driver tells what all addresses belong to */
	bool is_read;  /* all was read, and all buffers are in `seen` */
	struct seen_child *seen;
};

static bool read_graph(struct reading *reading, cuda_graph graph, uint32_t level);

/* What is here is not known. */
static bool add_unknown(struct reading *reading)
{
	reading->is_read = false;
	return bytes_append_unknown(reading->to);
}

/* Notes what an address belonged to when it was read. */
static void add_buffer(struct reading *reading, cuda_address address, uint64_t id)
{
	struct seen_child *seen = reading->seen;

	if (seen->buffer_count == SEEN_BUFFERS) {
		reading->is_read = false;
		return;
	}
	seen->buffers[seen->buffer_count].address = address;
	seen->buffers[seen->buffer_count++].id = id;
}

/* A node's launch attributes, as far as the driver tells them. */
static bool read_attributes(struct reading *reading, cuda_node node)
{
	for (uint32_t i = 1; i <= MOST_ATTRIBUTES; i++) {
		union cuda_attribute_value value = {0};

		if (cuda_inner.cuGraphKernelNodeGetAttribute(node, i, &value) == CUDA_OK &&
		    !(bytes_append(reading->to, &i, sizeof(i)) &&
		      bytes_append(reading->to, &value, sizeof(value))))
			return false;
	}
	return true;
}

static bool read_kernel(struct reading *reading, cuda_node node)
{
	struct cuda_kernel_node_params params = {0};

	if (cuda_inner.cuGraphKernelNodeGetParams_v2(node, &params) != CUDA_OK ||
	    cuda_image_kernel(reading->v, &params) == 0)
		return add_unknown(reading);
	return read_attributes(reading, node);
}

static bool read_copy(struct reading *reading, cuda_node node)
{
	struct cuda_image image = {0};
	struct cuda_memcpy3d params;

	if (cuda_inner.cuGraphMemcpyNodeGetParams(node, &params) != CUDA_OK)
		return add_unknown(reading);
	reading->is_known &= cuda_image_copy(reading->v, &params, NULL, &image);
	add_buffer(reading, cuda_copy_src(&params), image.src.id);
	add_buffer(reading, cuda_copy_dst(&params), image.dst.id);
	return bytes_append(reading->to, &image, sizeof(image));
}

static bool read_memset(struct reading *reading, cuda_node node)
{
	struct cuda_image image = {0};
	struct cuda_memset_node_params params;

	if (cuda_inner.cuGraphMemsetNodeGetParams(node, &params) != CUDA_OK)
		return add_unknown(reading);
	reading->is_known &= cuda_image_memset(reading->v, &params, NULL, &image);
	add_buffer(reading, params.dst, image.dst.id);
	return bytes_append(reading->to, &image, sizeof(image));
}

static bool read_host(struct reading *reading, cuda_node node)
{
	struct cuda_host_node_params params = {0};

	if (cuda_inner.cuGraphHostNodeGetParams(node, &params) != CUDA_OK)
		return add_unknown(reading);
	return bytes_append(reading->to, &params, sizeof(params));
}

static bool read_child(struct reading *reading, cuda_node node, uint32_t level)
{
	cuda_graph child;

	if (level == MOST_LEVELS ||
	    cuda_inner.cuGraphChildGraphNodeGetGraph(node, &child) != CUDA_OK)
		return add_unknown(reading);
	return read_graph(reading, child, level + 1);
}

/* Events are not known: they may be destroyed and their handles used again. */
static bool read_node(struct reading *reading, cuda_node node, uint32_t level)
{
	uint32_t type;

	if (cuda_inner.cuGraphNodeGetType(node, &type) != CUDA_OK)
		return add_unknown(reading);
	if (!bytes_append(reading->to, &type, sizeof(type)))
		return false;
	switch (type) {
	case CUDA_NODE_KERNEL:
		return read_kernel(reading, node);
	case CUDA_NODE_MEMCPY:
		return read_copy(reading, node);
	case CUDA_NODE_MEMSET:
		return read_memset(reading, node);
	case CUDA_NODE_HOST:
		return read_host(reading, node);
	case CUDA_NODE_GRAPH:
		return read_child(reading, node, level);
	case CUDA_NODE_EMPTY:
		return true;
	default:
		return add_unknown(reading);
	}
}

/* The edges, by the places of their nodes. ENDS has room for 2 x COUNT nodes. */
static bool read_edges(struct reading *reading, cuda_graph graph, const cuda_node *nodes,
		       size_t node_count, cuda_node *ends, struct cuda_edge_data *data,
		       size_t count)
{
	if (cuda_inner.cuGraphGetEdges_v2(graph, ends, ends + count, data, &count) != CUDA_OK)
		return add_unknown(reading);
	for (size_t i = 0; i < count; i++) {
		uint64_t edge[] = {node_place(nodes, node_count, ends[i]),
				   node_place(nodes, node_count, ends[count + i]), 0};

		memcpy(&edge[2], &data[i], sizeof(data[i]));
		if (!bytes_append(reading->to, edge, sizeof(edge)))
			return false;
	}
	return true;
}

static bool read_graph(struct reading *reading, cuda_graph graph, uint32_t level)
{
	size_t count = 0, edge_count = 0;
	bool is_listed =
		cuda_inner.cuGraphGetNodes(graph, NULL, &count) == CUDA_OK &&
		cuda_inner.cuGraphGetEdges_v2(graph, NULL, NULL, NULL, &edge_count) == CUDA_OK;
	cuda_node *nodes = calloc(count + 2 * edge_count + 1, sizeof(cuda_node));
	struct cuda_edge_data *data = calloc(edge_count + 1, sizeof(*data));
	uint64_t counts[] = {count, edge_count};
	bool is_read = nodes && data && bytes_append(reading->to, counts, sizeof(counts));

	if (is_read && (!is_listed ||
			(count > 0 && cuda_inner.cuGraphGetNodes(graph, nodes, &count) != CUDA_OK)))
		is_read = add_unknown(reading);
	for (size_t i = 0; is_read && is_listed && i < count; i++)
		is_read = read_node(reading, nodes[i], level);
	if (is_read && edge_count > 0)
		is_read = read_edges(reading, graph, nodes, count, nodes + count, data, edge_count);
	free(nodes);
	free(data);
	return is_read;
}

uint32_t cuda_image_child(struct virtual *v, cuda_graph graph, struct seen_child *ret_seen,
			  bool *ret_is_known)
{
	struct bytes *bytes = virtual_scratch(v);
	struct cuda_image *image = bytes_add(bytes, sizeof(*image));
	struct reading reading = {v, bytes, true, true, ret_seen};

	if (!image)
		return 0;
	image->door = CUDA_DOOR_cuGraphExecChildGraphNodeSetParams;
	/* Before it is read: what changes meanwhile is another version. */
	ret_seen->version = graph_version(graph);
	if (!read_graph(&reading, graph, 0) || bytes->count > UINT32_MAX)
		return 0;
	PRELOAD_COUNT(child_reads);
	*ret_is_known = reading.is_known;
	if (reading.is_known && reading.is_read && ret_seen->version)
		ret_seen->graph = graph;
	return (uint32_t)bytes->count;
}

const struct seen_child *cuda_child_seen(struct virtual *v, cuda_node node, cuda_graph graph)
{
	const struct seen_child *seen = virtual_seen(v, node, graph);
	struct cuda_buffer buffer;

	if (!seen || seen->version != graph_version(graph))
		return NULL;
	for (uint32_t i = 0; i < seen->buffer_count; i++)
		if (!cuda_find_buffer(v, seen->buffers[i].address, &buffer) ||
		    buffer.id != seen->buffers[i].id)
			return NULL;
	return seen;
}
