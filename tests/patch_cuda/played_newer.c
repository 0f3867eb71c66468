/*
 * The played driver's functions that are newer than CUDA 13.0, and from which version on
 * cuGetProcAddress returns them. Those that are called "later" are of no CUDA that there is.
 */
#include <string.h>

#include "played_cuda.h"

int cuGraphAddNode_v3(cuda_node *node, cuda_graph graph, const cuda_node *after,
		      const struct cuda_edge_data *data, size_t count,
		      struct cuda_node_params *params)
{
	return cuGraphAddNode_v2(node, graph, after, data, count, params);
}

/* Of kernels only, whose parameters are those of cuGraphKernelNodeSetParams_v2. */
int cuGraphNodeSetParams_v2(cuda_node node, struct cuda_node_params *params)
{
	struct cuda_kernel_node_params kernel;

	if (params->type != CUDA_NODE_KERNEL)
		return CUDA_NOT_SUPPORTED;
	memcpy(&kernel, &params->u, sizeof(kernel));
	return cuGraphKernelNodeSetParams_v2(node, &kernel);
}

/* Later. */
int cuGraphKernelNodeSetParams_v3(cuda_node node, const struct cuda_kernel_node_params *params)
{
	return cuGraphKernelNodeSetParams_v2(node, params);
}

/* Later: the order of the parameters is another one. */
int cuGraphExecKernelNodeSetParams_v3(cuda_exec exec, const struct cuda_kernel_node_params *params,
				      cuda_node node)
{
	return cuGraphExecKernelNodeSetParams_v2(exec, node, params);
}

void *played_newer(const char *name, int version)
{
	static const struct {
		const char *name;
		int version;
		void *function;
	} rows[] = {
		{"cuStreamBeginRecaptureToGraph", 13030, (void *)cuStreamBeginRecaptureToGraph},
		{"cuGraphAddNode", 13040, (void *)cuGraphAddNode_v3},
		{"cuGraphNodeSetParams", 13040, (void *)cuGraphNodeSetParams_v2},
		{"cuGraphExecKernelNodeSetParams", 14000,
		 (void *)cuGraphExecKernelNodeSetParams_v3},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (version >= rows[i].version && strcmp(name, rows[i].name) == 0)
			return rows[i].function;
	return NULL;
}
