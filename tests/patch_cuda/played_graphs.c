/* The played driver's graphs and executable graphs as wholes; played_nodes.c has their nodes. */
#include <stdlib.h>
#include <string.h>

#include "patch/cuda/cuda_kernels.h"
#include "played_cuda.h"

int cuGraphCreate(cuda_graph *graph, unsigned int flags)
{
	return played_result(model_graph_create((struct dagpatch_model_graph **)graph));
}

int cuGraphDestroy(cuda_graph graph)
{
	dagpatch_model_graph_destroy(MODEL_GRAPH(graph));
	return CUDA_OK;
}

int cuGraphClone(cuda_graph *clone, cuda_graph graph)
{
	return played_result(
		model_graph_copy(MODEL_GRAPH(graph), (struct dagpatch_model_graph **)clone));
}

static bool is_updater(const struct model_node *node)
{
	return node->kind == PATCH_KERNEL &&
	       played_real_kernel(node) == played_kernel(UPDATER_KERNEL);
}

/* Counts in the order of adding: an updater node, which the model keeps first, was added last. */
static struct model_node *node_at(const struct dagpatch_model_graph *graph, uint32_t index)
{
	if (!is_updater(graph->nodes[0]))
		return graph->nodes[index];
	return graph->nodes[(index + 1) % graph->count];
}

int cuGraphGetNodes(cuda_graph graph, cuda_node *nodes, size_t *count)
{
	uint32_t total = MODEL_GRAPH(graph)->count;

	for (uint32_t i = 0; nodes && i < total && i < *count; i++)
		nodes[i] = (cuda_node)node_at(MODEL_GRAPH(graph), i);
	*count = nodes && *count < total ? *count : total;
	return CUDA_OK;
}

int cuGraphGetRootNodes(cuda_graph graph, cuda_node *nodes, size_t *count)
{
	size_t found = 0;

	for (uint32_t i = 0; i < MODEL_GRAPH(graph)->count; i++) {
		struct model_node *node = MODEL_GRAPH(graph)->nodes[i];

		if (node->after_count)
			continue;
		if (nodes && found < *count)
			nodes[found] = (cuda_node)node;
		found++;
	}
	*count = found;
	return CUDA_OK;
}

int cuGraphGetEdges_v2(cuda_graph graph, cuda_node *from, cuda_node *to,
		       struct cuda_edge_data *data, size_t *count)
{
	size_t found = 0;

	for (uint32_t i = 0; i < MODEL_GRAPH(graph)->count; i++) {
		struct model_node *node = MODEL_GRAPH(graph)->nodes[i];

		for (uint32_t j = 0; j < node->after_count; j++, found++) {
			if (!from || found >= *count)
				continue;
			from[found] = (cuda_node)node->after[j];
			to[found] = (cuda_node)node;
			data[found] = played_edge_data(node->after[j], node);
		}
	}
	*count = found;
	return CUDA_OK;
}

/*
 * The model runs a node after those that were added before it, so a node that others will wait for
 * moves to the front.
 */
static void move_to_front(struct model_node *node)
{
	struct dagpatch_model_graph *graph = node->graph;

	memmove(graph->nodes + 1, graph->nodes, node->index * sizeof(*graph->nodes));
	graph->nodes[0] = node;
	for (uint32_t i = 0; i < graph->count; i++)
		graph->nodes[i]->index = i;
}

int cuGraphAddDependencies_v2(cuda_graph graph, const cuda_node *from, const cuda_node *to,
			      const struct cuda_edge_data *data, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct model_node *node = MODEL_NODE(to[i]);

		node->after = realloc(node->after, (node->after_count + 1) * sizeof(*node->after));
		if (!node->after)
			return CUDA_OUT_OF_MEMORY;
		node->after[node->after_count++] = MODEL_NODE(from[i]);
		if (data && data[i].type == CUDA_EDGE_PROGRAMMATIC)
			node->attributes.programmatic = data[i].from_port;
		if (MODEL_NODE(from[i])->index > node->index)
			move_to_front(MODEL_NODE(from[i]));
	}
	return CUDA_OK;
}

int cuGraphDestroyNode(cuda_node node)
{
	return CUDA_NOT_SUPPORTED;
}

int cuGraphNodeGetType(cuda_node node, uint32_t *type)
{
	static const uint32_t types[PATCH_KINDS] = {
		[PATCH_KERNEL] = CUDA_NODE_KERNEL,
		[PATCH_COPY] = CUDA_NODE_MEMCPY,
		[PATCH_MEMSET] = CUDA_NODE_MEMSET,
		[PATCH_CHILD] = CUDA_NODE_GRAPH,
		[PATCH_EMPTY] = CUDA_NODE_EMPTY,
		[PATCH_HOST] = CUDA_NODE_HOST,
		[PATCH_EVENT_RECORD] = CUDA_NODE_EVENT_RECORD,
		[PATCH_EVENT_WAIT] = CUDA_NODE_WAIT_EVENT,
		[PATCH_CONDITIONAL] = CUDA_NODE_CONDITIONAL,
	};

	*type = types[MODEL_NODE(node)->kind];
	return CUDA_OK;
}

/* ---- executable graphs ---- */

/* A graph that the device can launch must not have host nodes (seen on an H200). */
static bool is_for_device(const struct dagpatch_model_graph *graph)
{
	for (uint32_t i = 0; i < graph->count; i++) {
		enum patch_kind kind = graph->nodes[i]->kind;

		if (kind == PATCH_HOST || kind == PATCH_EVENT_RECORD || kind == PATCH_EVENT_WAIT ||
		    kind == PATCH_CONDITIONAL)
			return false;
		if (kind == PATCH_CHILD && !is_for_device(graph->nodes[i]->inner[0]))
			return false;
	}
	return true;
}

int cuGraphInstantiateWithFlags(cuda_exec *exec, cuda_graph graph, unsigned long long flags)
{
	int result = played_may_disturb();
	int rc;

	played_note_spent(__func__);
	if (result != CUDA_OK)
		return result;
	if (!played_is_current(NULL))
		return CUDA_INVALID_CONTEXT;
	if ((flags & CUDA_INSTANTIATE_DEVICE_LAUNCH) && !is_for_device(MODEL_GRAPH(graph)))
		return CUDA_INVALID_VALUE;
	played_check_functions(MODEL_GRAPH(graph));
	rc = dagpatch_model_instantiate(MODEL_GRAPH(graph), (struct dagpatch_model_exec **)exec);
	if (!rc)
		MODEL_EXEC(*exec)->by_priorities = flags & CUDA_INSTANTIATE_USE_NODE_PRIORITY;
	return played_result(rc);
}

int cuGraphExecDestroy(cuda_exec exec)
{
	int result = played_may_disturb();

	if (result == CUDA_OK)
		dagpatch_model_exec_destroy(MODEL_EXEC(exec));
	return result;
}

/* Copies of more than one dimension, which CUDA instantiates but does not update. */
static bool has_wide_copy(const struct dagpatch_model_graph *graph)
{
	for (uint32_t i = 0; i < graph->count; i++) {
		const struct model_node *node = graph->nodes[i];
		const struct patch_copy *copy = (const struct patch_copy *)node->image;

		if (node->kind == PATCH_CHILD && has_wide_copy(node->inner[0]))
			return true;
		if (node->kind == PATCH_COPY && (copy->height > 1 || copy->depth > 1))
			return true;
	}
	return false;
}

int cuGraphExecUpdate_v2(cuda_exec exec, cuda_graph graph, struct cuda_update_result *result)
{
	if (!played_is_current(exec))
		return CUDA_INVALID_CONTEXT;
	if (MODEL_GRAPH(graph)->has_table)
		return CUDA_NOT_SUPPORTED;
	if (has_wide_copy(MODEL_GRAPH(graph)))
		return CUDA_GRAPH_EXEC_UPDATE_FAILURE;
	return played_result(
		model_exec_take(MODEL_EXEC(exec), NULL, MODEL_GRAPH(graph), UINT32_MAX));
}

/* A disabled kernel node calls another kernel, which does nothing. */
int cuGraphNodeSetEnabled(cuda_exec exec, cuda_node node, unsigned int enabled)
{
	struct model_node *at = MODEL_NODE(node);
	struct patch_image image = {.kind = PATCH_KERNEL};
	struct patch_params params;
	int rc = patch_image_resize(&image, at->size);

	if (!played_is_current(exec))
		return CUDA_INVALID_CONTEXT;
	if (rc)
		return played_result(rc);
	memcpy(image.bytes, at->image, at->size);
	((struct patch_kernel *)image.bytes)->form = PATCH_BY_BLOCK;
	if (!enabled)
		((struct patch_kernel *)image.bytes)->function = &played_nothing;
	params = (struct patch_params){
		.kind = PATCH_KERNEL, .size = image.size, .image = image.bytes};
	rc = model_exec_write(MODEL_EXEC(exec), at, &params);
	patch_image_release(&image);
	return played_result(rc);
}

/* Takes effect after the replays in flight. */
int cuGraphUpload(cuda_exec exec, cuda_stream stream)
{
	struct dagpatch_model_stream *last = MODEL_EXEC(exec)->order->last;
	int rc = last ? dagpatch_model_stream_synchronize(last) : 0;

	if (!played_is_current(exec))
		return CUDA_INVALID_CONTEXT;
	played_upload();
	return played_result(rc);
}

int cuGraphLaunch(cuda_exec exec, cuda_stream stream)
{
	int result = played_launch_into(stream);

	played_note_spent(__func__);
	if (result != CUDA_OK)
		return result;
	if (!played_is_current(exec))
		return CUDA_INVALID_CONTEXT;
	return played_result(dagpatch_model_exec_launch(MODEL_EXEC(exec), played_stream(stream)));
}
