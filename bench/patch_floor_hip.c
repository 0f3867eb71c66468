/* The floor of HIP, by its own calls. A loadable module, so that dagtap-bench runs without HIP. */
#include "patch_floor.h"

#include "example.h"

static int nodes(void *graph, void **ret_nodes, uint32_t count)
{
	size_t filled = count;

	return hipGraphGetNodes(graph, (hipGraphNode_t *)ret_nodes, &filled);
}

static int update(void *exec, void *graph)
{
	hipGraphExecUpdateResult result;
	hipGraphNode_t node;

	return hipGraphExecUpdate(exec, graph, &node, &result);
}

static int set(void *exec, void *node, void *at)
{
	uint32_t value = MARK_VALUE;
	void *pointers[] = {&at, &value};
	const hipKernelNodeParams params = {
		.func = bed_hip.function(BED_MARK),
		.gridDim = {1, 1, 1},
		.blockDim = {MARK_BLOCK, 1, 1},
		.kernelParams = pointers,
	};

	return hipGraphExecKernelNodeSetParams(exec, node, &params);
}

__attribute__((visibility("default"))) const struct patch_floor patch_floor_hip = {
	.bed = &bed_hip,
	.nodes = nodes,
	.update = update,
	.set = set,
};
