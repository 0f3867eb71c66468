/* Graphs and executable graphs of the CUDA driver as wholes: creation, reading, instantiation,
 * launch. cuda_node.c has their nodes. */
#include <errno.h>
#include <stdlib.h>

#include "patch/cuda/cuda_driver.h"
#include "patch/cuda/cuda_kernels.h"

int cuda_graph_create(struct patch_device *device, struct driver_graph **ret_graph)
{
	struct cuda_driver *cuda = cuda_of(device);

	return CUDA_CALL(cuda, cuGraphCreate, (cuda_graph *)ret_graph, 0);
}

void cuda_graph_destroy(struct patch_device *device, struct driver_graph *graph)
{
	cuda_of(device)->call.cuGraphDestroy((cuda_graph)graph);
}

int cuda_graph_clone(struct patch_device *device, struct driver_graph *graph,
		     struct driver_graph **ret_clone)
{
	struct cuda_driver *cuda = cuda_of(device);

	return CUDA_CALL(cuda, cuGraphClone, (cuda_graph *)ret_clone, (cuda_graph)graph);
}

int cuda_graph_nodes(struct patch_device *device, struct driver_graph *graph,
		     struct driver_node **ret_nodes, uint32_t capacity)
{
	struct cuda_driver *cuda = cuda_of(device);
	size_t count = 0;
	size_t filled = capacity;
	int err = CUDA_CALL(cuda, cuGraphGetNodes, (cuda_graph)graph, NULL, &count);

	if (!err && count && capacity)
		err = CUDA_CALL(cuda, cuGraphGetNodes, (cuda_graph)graph, (cuda_node *)ret_nodes,
				&filled);
	return err ? err : (int)count;
}

int cuda_graph_edges(struct patch_device *device, struct driver_graph *graph,
		     struct driver_node **ret_from, struct driver_node **ret_to, uint32_t capacity)
{
	struct cuda_driver *cuda = cuda_of(device);
	struct cuda_edge_data *data = NULL;
	size_t count = 0;
	size_t filled = capacity;
	int err = CUDA_CALL(cuda, cuGraphGetEdges_v2, (cuda_graph)graph, NULL, NULL, NULL, &count);

	if (err || !count || !capacity)
		return err ? err : (int)count;
	/* Without this array, edges that are more than a plain dependency are an error. */
	data = malloc(capacity * sizeof(*data));
	if (!data)
		return patch_fault(-ENOMEM, "malloc", 0, "no memory for a graph's edges");
	err = CUDA_CALL(cuda, cuGraphGetEdges_v2, (cuda_graph)graph, (cuda_node *)ret_from,
			(cuda_node *)ret_to, data, &filled);
	free(data);
	return err ? err : (int)count;
}

int cuda_child_graph(struct patch_device *device, struct driver_node *node,
		     struct driver_graph **ret_graph)
{
	struct cuda_driver *cuda = cuda_of(device);

	return CUDA_CALL(cuda, cuGraphChildGraphNodeGetGraph, (cuda_node)node,
			 (cuda_graph *)ret_graph);
}

int cuda_condition_create(struct patch_device *device, struct driver_graph *graph,
			  uint64_t *ret_handle)
{
	struct cuda_driver *cuda = cuda_of(device);

	return CUDA_CALL(cuda, cuGraphConditionalHandleCreate, ret_handle, (cuda_graph)graph,
			 cuda->context, 0, 0);
}

int cuda_condition_kernel(struct patch_device *device, void **ret_function)
{
	return cuda_kernel_find(cuda_of(device), CONDITION_KERNEL, (cuda_function *)ret_function);
}

/* ---- executable graphs ---- */

int cuda_instantiate(struct patch_device *device, struct driver_graph *graph, bool by_priorities,
		     struct driver_exec **ret_exec)
{
	struct cuda_driver *cuda = cuda_of(device);
	unsigned long long flags = by_priorities ? CUDA_INSTANTIATE_USE_NODE_PRIORITY : 0;
	unsigned long long table = cuda_table_flags(cuda, (cuda_graph)graph);
	int err;

	cuda_relax(cuda);
	err = cuda_unrelax(cuda, cuda->call.cuGraphInstantiateWithFlags(
					 (cuda_exec *)ret_exec, (cuda_graph)graph, flags | table));
	/* The graph has nodes that a graph for device launches must not have. */
	if (err != CUDA_OK && table) {
		cuda_table_refused(cuda, (cuda_graph)graph);
		return CUDA_RELAXED(cuda, cuGraphInstantiateWithFlags, (cuda_exec *)ret_exec,
				    (cuda_graph)graph, flags);
	}
	return cuda_check(cuda, "cuGraphInstantiateWithFlags", err);
}

/* Replays in flight continue: the driver keeps what they need. */
void cuda_exec_destroy(struct patch_device *device, struct driver_exec *exec)
{
	struct cuda_driver *cuda = cuda_of(device);

	cuda_table_exec_gone(cuda, (cuda_exec)exec);
	cuda_relax(cuda);
	cuda->call.cuGraphExecDestroy((cuda_exec)exec);
	cuda_unrelax(cuda, CUDA_OK);
}

int cuda_exec_update(struct patch_device *device, struct driver_exec *exec,
		     struct driver_graph *graph)
{
	struct cuda_driver *cuda = cuda_of(device);
	struct cuda_update_result result;

	return CUDA_CALL(cuda, cuGraphExecUpdate_v2, (cuda_exec)exec, (cuda_graph)graph, &result);
}

int cuda_launch(struct patch_device *device, struct driver_exec *exec, struct driver_table *table,
		struct driver_stream *stream)
{
	struct cuda_driver *cuda = cuda_of(device);

	if (table)
		return cuda_table_launch(cuda, table, (cuda_exec)exec, (cuda_stream)stream);
	return CUDA_CALL(cuda, cuGraphLaunch, (cuda_exec)exec, (cuda_stream)stream);
}
