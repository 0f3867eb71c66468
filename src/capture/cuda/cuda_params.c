/* What the parameters of CUDA calls say of graphs; see cuda_params.h. */
#include "capture/cuda/cuda_params.h"

#define NO_CALL 0 /* CUPTI's number of no function */

enum kind { OTHER_CALL, ADD_NODE, ADD_NODE_WITH_DATA, ADD_EDGES, LAUNCH };

static enum kind kind_of(const struct cuda_told_call *call)
{
	static const struct {
		uint16_t driver, runtime;
		enum kind kind;
	} kinds[] = {
		{CUPTI_cuGraphAddNode_v2, CUPTI_cudaGraphAddNode_v12030, ADD_NODE_WITH_DATA},
		{CUPTI_cuGraphAddNode_v3, NO_CALL, ADD_NODE_WITH_DATA},
		{CUPTI_cuGraphAddNode, CUPTI_cudaGraphAddNode_v12020, ADD_NODE},
		{CUPTI_cuGraphAddDependencies_v2, CUPTI_cudaGraphAddDependencies_v12030, ADD_EDGES},
		{CUPTI_cuLaunchKernelEx, CUPTI_cudaLaunchKernelExC, LAUNCH},
		{CUPTI_cuLaunchKernelEx_ptsz, CUPTI_cudaLaunchKernelExC_ptsz, LAUNCH},
	};

	for (size_t i = 0; call->params && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (call->cbid ==
		    (call->domain == CUPTI_DOMAIN_DRIVER ? kinds[i].driver : kinds[i].runtime))
			return kinds[i].kind;
	}
	return OTHER_CALL;
}

bool cuda_params_added(struct cuda_told_call call, struct cuda_added *ret_added)
{
	const struct cupti_add_node_params *first = call.params;
	const struct cupti_add_node_v2_params *second = call.params;

	switch (kind_of(&call)) {
	case ADD_NODE:
		*ret_added = (struct cuda_added){first->node, first->graph, first->parameters};
		return first->parameters;
	case ADD_NODE_WITH_DATA:
		*ret_added = (struct cuda_added){second->node, second->graph, second->parameters};
		return second->parameters;
	default:
		return false;
	}
}

bool cuda_params_is_programmatic(const struct cuda_launch_config *config)
{
	for (unsigned int i = 0; config && config->attrs && i < config->numAttrs; i++) {
		const struct cuda_launch_attribute *attribute = &config->attrs[i];

		if (attribute->id == CUDA_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
			return attribute->value.programmaticStreamSerializationAllowed;
	}
	return false;
}

/* The edges that a call lists; those with the same index belong together. */
struct listed {
	const cuda_node *from;
	const cuda_node *to; /* NULL: all edges lead to the node that the call adds */
	const struct cuda_edge_data *data;
	size_t count;
};

static struct listed listed_of(const struct cuda_told_call *call, enum kind kind)
{
	const struct cupti_add_node_v2_params *node = call->params;
	const struct cupti_add_dependencies_params *edges = call->params;

	if (kind == ADD_NODE_WITH_DATA)
		return (struct listed){node->dependencies, NULL, node->data, node->count};
	if (kind == ADD_EDGES)
		return (struct listed){edges->from, edges->to, edges->data, edges->count};
	return (struct listed){0};
}

static bool is_at(const struct listed *listed, size_t at, const void *from, const void *to)
{
	return (const void *)listed->from[at] == from &&
	       (!listed->to || (const void *)listed->to[at] == to);
}

/* A captured launch with the attribute has such an edge from the kernel before it in its stream
 * (H200, CUDA 13.0). */
static struct cuda_edge_data edge_of_launch(const struct cupti_launch_ex_params *launch)
{
	if (!cuda_params_is_programmatic(launch->config))
		return (struct cuda_edge_data){0};
	return (struct cuda_edge_data){.from_port = CUDA_PORT_PROGRAMMATIC,
				       .type = CUDA_EDGE_PROGRAMMATIC};
}

struct cuda_edge_data cuda_params_edge(struct cuda_told_call call, const void *from, const void *to,
				       size_t *place)
{
	enum kind kind = kind_of(&call);
	struct listed listed = listed_of(&call, kind);

	if (kind == LAUNCH)
		return edge_of_launch(call.params);
	for (size_t tried = 0; listed.from && listed.data && tried < listed.count; tried++) {
		size_t at = (*place + tried) % listed.count;

		if (!is_at(&listed, at, from, to))
			continue;
		*place = at + 1;
		return listed.data[at];
	}
	return (struct cuda_edge_data){0};
}
