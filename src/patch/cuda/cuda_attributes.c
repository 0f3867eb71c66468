/* Launch attributes of CUDA's kernel nodes, and programmatic dependencies, which are a property of
 * edges. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/cuda/cuda_driver.h"

_Static_assert((int)DAGPATCH_ON_TRIGGER == (int)CUDA_PORT_PROGRAMMATIC &&
		       (int)DAGPATCH_ON_START == (int)CUDA_PORT_LAUNCH_ORDER,
	       "as CUDA numbers a kernel's ports");

/* ---- setting ---- */

static int set(struct cuda_driver *cuda, struct driver_node *node, uint32_t attribute,
	       union cuda_attribute_value *value)
{
	return CUDA_CALL(cuda, cuGraphKernelNodeSetAttribute, (cuda_node)node, attribute, value);
}

int cuda_attributes_set(struct patch_device *device, struct driver_node *node,
			const struct dagpatch_attributes *attributes)
{
	struct cuda_driver *cuda = cuda_of(device);
	union cuda_attribute_value value;
	int err = 0;

	memset(&value, 0, sizeof(value));
	if (attributes->given & DAGPATCH_PRIORITY) {
		value.priority = attributes->priority;
		err = set(cuda, node, CUDA_ATTRIBUTE_PRIORITY, &value);
	}
	if (!err && (attributes->given & DAGPATCH_COOPERATIVE)) {
		value.cooperative = attributes->cooperative != 0;
		err = set(cuda, node, CUDA_ATTRIBUTE_COOPERATIVE, &value);
	}
	if (!err && (attributes->given & DAGPATCH_CLUSTER)) {
		value.clusterDim.x = attributes->cluster[0];
		value.clusterDim.y = attributes->cluster[1];
		value.clusterDim.z = attributes->cluster[2];
		err = set(cuda, node, CUDA_ATTRIBUTE_CLUSTER_DIMENSION, &value);
	}
	return err;
}

int cuda_add_programmatic(struct cuda_driver *cuda, cuda_node node, cuda_graph graph,
			  const cuda_node *after, uint32_t count,
			  const struct dagpatch_attributes *attributes)
{
	struct cuda_edge_data *data = calloc(count, sizeof(*data));
	cuda_node *to = calloc(count, sizeof(*to));
	int err = data && to ? 0 : patch_fault(-ENOMEM, "calloc", 0, "no memory for edges");

	for (uint32_t i = 0; !err && i < count; i++) {
		uint32_t type;

		to[i] = node;
		err = CUDA_CALL(cuda, cuGraphNodeGetType, after[i], &type);
		if (!err && type == CUDA_NODE_KERNEL)
			data[i] = (struct cuda_edge_data){
				.from_port = (unsigned char)attributes->programmatic,
				.type = CUDA_EDGE_PROGRAMMATIC,
			};
	}
	if (!err)
		err = CUDA_CALL(cuda, cuGraphAddDependencies_v2, graph, after, to, data, count);
	free(data);
	free(to);
	return err;
}

/* ---- priorities ---- */

static int has_priority(struct cuda_driver *cuda, cuda_node node)
{
	union cuda_attribute_value value;
	cuda_graph child;
	uint32_t type;
	int err = CUDA_CALL(cuda, cuGraphNodeGetType, node, &type);

	if (!err && type == CUDA_NODE_GRAPH) {
		err = CUDA_CALL(cuda, cuGraphChildGraphNodeGetGraph, node, &child);
		return err ? err
			   : cuda_graph_has_priority(&cuda->base, (struct driver_graph *)child);
	}
	if (err || type != CUDA_NODE_KERNEL)
		return err;
	memset(&value, 0, sizeof(value));
	err = CUDA_CALL(cuda, cuGraphKernelNodeGetAttribute, node, CUDA_ATTRIBUTE_PRIORITY, &value);
	return err ? err : value.priority != 0;
}

int cuda_graph_has_priority(struct patch_device *device, struct driver_graph *graph)
{
	struct cuda_driver *cuda = cuda_of(device);
	size_t count = 0;
	cuda_node *nodes;
	int err = CUDA_CALL(cuda, cuGraphGetNodes, (cuda_graph)graph, NULL, &count);

	if (err || !count)
		return err;
	nodes = malloc(count * sizeof(*nodes));
	if (!nodes)
		return patch_fault(-ENOMEM, "malloc", 0, "no memory for a graph's nodes");
	err = CUDA_CALL(cuda, cuGraphGetNodes, (cuda_graph)graph, nodes, &count);
	for (size_t i = 0; err == 0 && i < count; i++)
		err = has_priority(cuda, nodes[i]);
	free(nodes);
	return err;
}
