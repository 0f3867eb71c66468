/*
 * The played driver's launch attributes, and edges with data. The model stores them with its nodes
 * and does not act on them.
 */
#include <string.h>

#include "played_cuda.h"

static int make_updatable(struct model_node *node, union cuda_attribute_value *value)
{
	struct played_device_node *made;
	int rc;

	if (!value->deviceUpdatableKernelNode.deviceUpdatable)
		return CUDA_INVALID_VALUE;
	rc = played_make_updatable(node, &made);
	if (rc)
		return played_result(rc);
	node->graph->has_table = true;
	value->deviceUpdatableKernelNode.devNode = (cuda_device_node)made;
	return CUDA_OK;
}

int cuGraphKernelNodeSetAttribute(cuda_node node, uint32_t attribute,
				  union cuda_attribute_value *value)
{
	struct dagpatch_attributes *attributes = &MODEL_NODE(node)->attributes;

	switch (attribute) {
	case CUDA_ATTRIBUTE_DEVICE_UPDATABLE:
		return make_updatable(MODEL_NODE(node), value);
	case CUDA_ATTRIBUTE_PRIORITY:
		attributes->priority = value->priority;
		return CUDA_OK;
	case CUDA_ATTRIBUTE_COOPERATIVE:
		attributes->cooperative = value->cooperative;
		return CUDA_OK;
	case CUDA_ATTRIBUTE_CLUSTER_DIMENSION:
		memcpy(attributes->cluster, &value->clusterDim, sizeof(attributes->cluster));
		return CUDA_OK;
	default:
		return CUDA_INVALID_VALUE;
	}
}

int cuGraphKernelNodeGetAttribute(cuda_node node, uint32_t attribute,
				  union cuda_attribute_value *value)
{
	const struct dagpatch_attributes *attributes = &MODEL_NODE(node)->attributes;

	switch (attribute) {
	case CUDA_ATTRIBUTE_PRIORITY:
		value->priority = attributes->priority;
		return CUDA_OK;
	case CUDA_ATTRIBUTE_COOPERATIVE:
		value->cooperative = attributes->cooperative;
		return CUDA_OK;
	case CUDA_ATTRIBUTE_CLUSTER_DIMENSION:
		memcpy(&value->clusterDim, attributes->cluster, sizeof(attributes->cluster));
		return CUDA_OK;
	default:
		return CUDA_INVALID_VALUE;
	}
}

struct cuda_edge_data played_edge_data(const struct model_node *from, const struct model_node *to)
{
	bool is_plain = from->kind != PATCH_KERNEL || !to->attributes.programmatic;

	return (struct cuda_edge_data){
		.from_port = is_plain ? 0 : (unsigned char)to->attributes.programmatic,
		.type = is_plain ? CUDA_EDGE_PLAIN : CUDA_EDGE_PROGRAMMATIC,
	};
}

int cuGraphNodeGetDependencies_v2(cuda_node node, cuda_node *from, struct cuda_edge_data *data,
				  size_t *count)
{
	const struct model_node *to = MODEL_NODE(node);

	for (uint32_t i = 0; from && i < to->after_count && i < *count; i++) {
		from[i] = (cuda_node)to->after[i];
		data[i] = played_edge_data(to->after[i], to);
	}
	*count = to->after_count;
	return CUDA_OK;
}

int cuGraphExecGetFlags(cuda_exec exec, unsigned long long *flags)
{
	const struct dagpatch_model_exec *made = (struct dagpatch_model_exec *)exec;

	*flags = made->by_priorities ? CUDA_INSTANTIATE_USE_NODE_PRIORITY : 0;
	return CUDA_OK;
}

int cuStreamCreateWithPriority(cuda_stream *stream, unsigned int flags, int priority)
{
	int result = cuStreamCreate(stream, flags);

	if (result == CUDA_OK)
		model_stream_prioritise((struct dagpatch_model_stream *)*stream, priority);
	return result;
}
