/* The played driver's nodes: converts CUDA's structs to the model's images and back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/cuda/cuda_kernels.h"
#include "played_cuda.h"

/* Memory in which an image is built; the parts of variable size are from malloc. */
struct scratch {
	struct patch_params params;
	struct patch_image kernel;
	union {
		struct patch_copy copy;
		struct patch_memset memset;
		struct patch_host host;
		struct patch_event event;
		struct patch_child child;
	} u;
};

static struct patch_params *use(struct scratch *scratch, enum patch_kind kind, size_t size)
{
	scratch->params =
		(struct patch_params){.kind = kind, .size = (uint32_t)size, .image = &scratch->u};
	return &scratch->params;
}

/* ---- kernels ---- */

/*
 * The model takes any argument block as it is; the form in which the arguments came is noted
 * afterwards.
 */
static int image_of_kernel(const struct cuda_kernel_node_params *from, struct scratch *scratch)
{
	const struct dagpatch_model_kernel *function = (void *)from->func;
	uint32_t bytes =
		from->kernelParams ? function->bytes : (uint32_t) * (size_t *)from->extra[3];
	struct patch_kernel *to;

	memset(scratch, 0, sizeof(*scratch));
	if (patch_image_resize(&scratch->kernel, (uint32_t)sizeof(*to) + bytes))
		return -ENOMEM;
	to = (struct patch_kernel *)scratch->kernel.bytes;
	to->function = from->func;
	memcpy(to->grid, &from->gridDimX, sizeof(to->grid));
	memcpy(to->block, &from->blockDimX, sizeof(to->block));
	to->shared_bytes = from->sharedMemBytes;
	to->argument_bytes = (uint16_t)bytes;
	to->form = PATCH_BY_BLOCK;
	if (!from->kernelParams)
		memcpy(to->arguments, from->extra[1], bytes);
	for (uint32_t i = 0; from->kernelParams && i < function->count; i++)
		memcpy(to->arguments + function->parameters[i].offset, from->kernelParams[i],
		       function->parameters[i].bytes);
	return 0;
}

static struct patch_params *kernel_params(struct scratch *scratch)
{
	scratch->params = (struct patch_params){
		.kind = PATCH_KERNEL, .size = scratch->kernel.size, .image = scratch->kernel.bytes};
	return &scratch->params;
}

int cuGraphAddKernelNode_v2(cuda_node *node, cuda_graph graph, const cuda_node *after, size_t count,
			    const struct cuda_kernel_node_params *params)
{
	struct scratch scratch;
	int rc = image_of_kernel(params, &scratch);

	if (!played_is_current(NULL))
		return CUDA_INVALID_CONTEXT;
	if (!rc)
		rc = model_node_add(MODEL_GRAPH(graph), kernel_params(&scratch),
				    (struct model_node *const *)after, (uint32_t)count,
				    (struct model_node **)node);
	if (!rc && params->kernelParams)
		((struct patch_kernel *)MODEL_NODE(*node)->image)->form = PATCH_BY_POINTERS;
	patch_image_release(&scratch.kernel);
	return played_result(rc);
}

/* Returns pointers into the node, valid until the thread calls this again. */
int cuGraphKernelNodeGetParams_v2(cuda_node node, struct cuda_kernel_node_params *params)
{
	static _Thread_local void *pointers[PATCH_PARAMETERS], *extra[5];
	static _Thread_local size_t bytes;
	const struct patch_kernel *from = (const struct patch_kernel *)MODEL_NODE(node)->image;
	const struct dagpatch_model_kernel *function = played_real_kernel(MODEL_NODE(node));
	uint32_t size;
	char *arguments = (char *)played_arguments(MODEL_NODE(node), &size);

	*params = (struct cuda_kernel_node_params){
		.func = (cuda_function)function,
		.sharedMemBytes = from->shared_bytes,
	};
	memcpy(&params->gridDimX, from->grid, sizeof(from->grid));
	memcpy(&params->blockDimX, from->block, sizeof(from->block));
	bytes = size;
	memcpy(extra,
	       (void *[]){CUDA_EXTRA_BUFFER, arguments, CUDA_EXTRA_SIZE, &bytes, CUDA_EXTRA_END},
	       sizeof(extra));
	for (uint32_t i = 0; i < function->count; i++)
		pointers[i] = arguments + function->parameters[i].offset;
	if (from->form == PATCH_BY_BLOCK)
		params->extra = extra;
	else
		params->kernelParams = pointers;
	return CUDA_OK;
}

static int wrapped_image(const struct model_node *node,
			 const struct cuda_kernel_node_params *params, struct scratch *scratch)
{
	struct played_device_node *device_node = played_device_node(node);
	int rc = image_of_kernel(params, scratch);

	if (!rc && device_node)
		rc = played_wrap(device_node, &scratch->kernel);
	return rc;
}

int cuGraphKernelNodeSetParams_v2(cuda_node node, const struct cuda_kernel_node_params *params)
{
	struct scratch scratch;
	uint16_t form = ((struct patch_kernel *)MODEL_NODE(node)->image)->form;
	int rc = wrapped_image(MODEL_NODE(node), params, &scratch);

	if (!rc)
		rc = model_node_set(MODEL_NODE(node), kernel_params(&scratch));
	((struct patch_kernel *)MODEL_NODE(node)->image)->form = form;
	patch_image_release(&scratch.kernel);
	return played_result(rc);
}

int cuGraphExecKernelNodeSetParams_v2(cuda_exec exec, cuda_node node,
				      const struct cuda_kernel_node_params *params)
{
	struct scratch scratch;
	int rc;

	played_note_spent(__func__);
	if (!played_is_current(exec))
		return CUDA_INVALID_CONTEXT;
	rc = wrapped_image(MODEL_NODE(node), params, &scratch);
	if (!rc)
		rc = model_exec_write(MODEL_EXEC(exec), MODEL_NODE(node), kernel_params(&scratch));
	if (!rc && played_device_node(MODEL_NODE(node)))
		played_forget_params(played_device_node(MODEL_NODE(node)));
	patch_image_release(&scratch.kernel);
	return played_result(rc);
}

/* ---- the other kinds ---- */

static struct patch_params *copy_params(const struct cuda_memcpy3d *from, struct scratch *scratch)
{
	bool host_dst = from->dstMemoryType == CUDA_MEMORY_HOST;
	bool host_src = from->srcMemoryType == CUDA_MEMORY_HOST;

	scratch->u.copy = (struct patch_copy){
		.dst_address = host_dst ? (uintptr_t)from->dstHost : from->dstDevice,
		.src_address = host_src ? (uintptr_t)from->srcHost : from->srcDevice,
		.dst = {0, from->dstPitch, from->dstHeight, from->dstXInBytes, from->dstY,
			from->dstZ, from->dstMemoryType, from->dstLOD},
		.src = {0, from->srcPitch, from->srcHeight, from->srcXInBytes, from->srcY,
			from->srcZ, from->srcMemoryType, from->srcLOD},
		.width_bytes = from->WidthInBytes,
		.height = from->Height,
		.depth = from->Depth,
		.dimensions = from->Depth > 1	 ? 3
			      : from->Height > 1 ? 2
						 : 1,
	};
	return use(scratch, PATCH_COPY, sizeof(scratch->u.copy));
}

static struct patch_params *memset_params(const struct cuda_memset_node_params *from,
					  struct scratch *scratch)
{
	scratch->u.memset = (struct patch_memset){from->dst,	from->pitch, from->width,
						  from->height, from->value, from->elementSize};
	return use(scratch, PATCH_MEMSET, sizeof(scratch->u.memset));
}

static struct patch_params *host_params(const struct cuda_host_node_params *from,
					struct scratch *scratch)
{
	scratch->u.host = (struct patch_host){from->fn, from->userData};
	return use(scratch, PATCH_HOST, sizeof(scratch->u.host));
}

static struct patch_params *event_params(cuda_event event, enum patch_kind kind,
					 struct scratch *scratch)
{
	scratch->u.event = (struct patch_event){event};
	return use(scratch, kind, sizeof(scratch->u.event));
}

static int add(cuda_node *node, cuda_graph graph, const cuda_node *after, size_t count,
	       const struct patch_params *params)
{
	return played_result(model_node_add(MODEL_GRAPH(graph), params,
					    (struct model_node *const *)after, (uint32_t)count,
					    (struct model_node **)node));
}

static int set(cuda_node node, const struct patch_params *params)
{
	return played_result(model_node_set(MODEL_NODE(node), params));
}

static int set_exec(cuda_exec exec, cuda_node node, const struct patch_params *params)
{
	return played_result(model_exec_write(MODEL_EXEC(exec), MODEL_NODE(node), params));
}

int cuGraphAddMemcpyNode(cuda_node *node, cuda_graph graph, const cuda_node *after, size_t count,
			 const struct cuda_memcpy3d *params, cuda_context context)
{
	struct scratch scratch;

	if (params->srcHeight < params->srcY + params->Height ||
	    params->dstHeight < params->dstY + params->Height)
		return CUDA_INVALID_VALUE;

	return add(node, graph, after, count, copy_params(params, &scratch));
}

int cuGraphMemcpyNodeGetParams(cuda_node node, struct cuda_memcpy3d *params)
{
	const struct patch_copy *from = (const struct patch_copy *)MODEL_NODE(node)->image;

	*params = (struct cuda_memcpy3d){
		.srcXInBytes = from->src.x_bytes,
		.srcY = from->src.y,
		.srcZ = from->src.z,
		.srcMemoryType = from->src.memory,
		.srcHost = (void *)from->src_address,
		.srcDevice = from->src_address,
		.srcPitch = from->src.pitch,
		.srcHeight = from->src.rows,
		.dstXInBytes = from->dst.x_bytes,
		.dstY = from->dst.y,
		.dstZ = from->dst.z,
		.dstMemoryType = from->dst.memory,
		.dstHost = (void *)from->dst_address,
		.dstDevice = from->dst_address,
		.dstPitch = from->dst.pitch,
		.dstHeight = from->dst.rows,
		.WidthInBytes = from->width_bytes,
		.Height = from->height,
		.Depth = from->depth,
	};
	return CUDA_OK;
}

int cuGraphMemcpyNodeSetParams(cuda_node node, const struct cuda_memcpy3d *params)
{
	struct scratch scratch;

	return set(node, copy_params(params, &scratch));
}

int cuGraphExecMemcpyNodeSetParams(cuda_exec exec, cuda_node node,
				   const struct cuda_memcpy3d *params, cuda_context context)
{
	struct scratch scratch;

	if (!played_is_current(exec))
		return CUDA_INVALID_CONTEXT;
	if (params->Height > 1 || params->Depth > 1)
		return CUDA_INVALID_VALUE;
	if (played_may_copy &&
	    (!played_may_copy(params->srcDevice) || !played_may_copy(params->dstDevice)))
		return CUDA_INVALID_VALUE;
	return set_exec(exec, node, copy_params(params, &scratch));
}

int cuGraphAddMemsetNode(cuda_node *node, cuda_graph graph, const cuda_node *after, size_t count,
			 const struct cuda_memset_node_params *params, cuda_context context)
{
	struct scratch scratch;

	return add(node, graph, after, count, memset_params(params, &scratch));
}

int cuGraphMemsetNodeGetParams(cuda_node node, struct cuda_memset_node_params *params)
{
	const struct patch_memset *from = (const struct patch_memset *)MODEL_NODE(node)->image;

	*params = (struct cuda_memset_node_params){
		.dst = from->address,
		.pitch = from->pitch,
		.value = from->value,
		.elementSize = from->element_bytes,
		.width = from->width,
		.height = from->height,
	};
	return CUDA_OK;
}

int cuGraphMemsetNodeSetParams(cuda_node node, const struct cuda_memset_node_params *params)
{
	struct scratch scratch;

	return set(node, memset_params(params, &scratch));
}

int cuGraphExecMemsetNodeSetParams(cuda_exec exec, cuda_node node,
				   const struct cuda_memset_node_params *params,
				   cuda_context context)
{
	struct scratch scratch;

	if (!played_is_current(exec))
		return CUDA_INVALID_CONTEXT;
	return set_exec(exec, node, memset_params(params, &scratch));
}

int cuGraphAddHostNode(cuda_node *node, cuda_graph graph, const cuda_node *after, size_t count,
		       const struct cuda_host_node_params *params)
{
	struct scratch scratch;

	return add(node, graph, after, count, host_params(params, &scratch));
}

int cuGraphHostNodeGetParams(cuda_node node, struct cuda_host_node_params *params)
{
	const struct patch_host *from = (const struct patch_host *)MODEL_NODE(node)->image;

	*params = (struct cuda_host_node_params){from->function, from->user};
	return CUDA_OK;
}

int cuGraphHostNodeSetParams(cuda_node node, const struct cuda_host_node_params *params)
{
	struct scratch scratch;

	return set(node, host_params(params, &scratch));
}

int cuGraphExecHostNodeSetParams(cuda_exec exec, cuda_node node,
				 const struct cuda_host_node_params *params)
{
	struct scratch scratch;

	if (!played_is_current(exec))
		return CUDA_INVALID_CONTEXT;
	return set_exec(exec, node, host_params(params, &scratch));
}

#define PLAYED_EVENT_NODE(Name, kind)                                                              \
	int cuGraphAdd##Name##Node(cuda_node *node, cuda_graph graph, const cuda_node *after,      \
				   size_t count, cuda_event event)                                 \
	{                                                                                          \
		struct scratch scratch;                                                            \
                                                                                                   \
		return add(node, graph, after, count, event_params(event, kind, &scratch));        \
	}                                                                                          \
	int cuGraph##Name##NodeGetEvent(cuda_node node, cuda_event *event)                         \
	{                                                                                          \
		*event = ((const struct patch_event *)MODEL_NODE(node)->image)->event;             \
		return CUDA_OK;                                                                    \
	}                                                                                          \
	int cuGraph##Name##NodeSetEvent(cuda_node node, cuda_event event)                          \
	{                                                                                          \
		struct scratch scratch;                                                            \
                                                                                                   \
		return set(node, event_params(event, kind, &scratch));                             \
	}                                                                                          \
	int cuGraphExec##Name##NodeSetEvent(cuda_exec exec, cuda_node node, cuda_event event)      \
	{                                                                                          \
		struct scratch scratch;                                                            \
                                                                                                   \
		return set_exec(exec, node, event_params(event, kind, &scratch));                  \
	}

PLAYED_EVENT_NODE(EventRecord, PATCH_EVENT_RECORD)
PLAYED_EVENT_NODE(EventWait, PATCH_EVENT_WAIT)

int cuGraphAddEmptyNode(cuda_node *node, cuda_graph graph, const cuda_node *after, size_t count)
{
	struct scratch scratch;

	return add(node, graph, after, count, use(&scratch, PATCH_EMPTY, 0));
}

/* ---- child graphs, conditionals ---- */

int cuGraphAddChildGraphNode(cuda_node *node, cuda_graph graph, const cuda_node *after,
			     size_t count, cuda_graph child)
{
	struct scratch scratch;

	scratch.u.child = (struct patch_child){(struct driver_graph *)child};
	return add(node, graph, after, count, use(&scratch, PATCH_CHILD, sizeof(scratch.u.child)));
}

int cuGraphChildGraphNodeGetGraph(cuda_node node, cuda_graph *graph)
{
	*graph = (cuda_graph)MODEL_NODE(node)->inner[0];
	return CUDA_OK;
}

int cuGraphExecChildGraphNodeSetParams(cuda_exec exec, cuda_node node, cuda_graph graph)
{
	if (!played_is_current(exec))
		return CUDA_INVALID_CONTEXT;
	return played_result(model_exec_take(MODEL_EXEC(exec), MODEL_NODE(node), MODEL_GRAPH(graph),
					     UINT32_MAX));
}

int cuGraphConditionalHandleCreate(cuda_conditional *handle, cuda_graph graph, cuda_context context,
				   unsigned int value, unsigned int flags)
{
	*handle = model_condition_handle();
	return CUDA_OK;
}

/* Adds a child graph that is not copied: its nodes keep their handles, and the node owns it. */
static int add_moved(cuda_node *node, cuda_graph graph, const cuda_node *after, size_t count,
		     cuda_graph child)
{
	struct dagpatch_model_graph **inner;
	int result = cuGraphAddChildGraphNode(node, graph, after, count, child);

	if (result != CUDA_OK)
		return result;
	inner = &MODEL_NODE(*node)->inner[0];
	dagpatch_model_graph_destroy(*inner);
	*inner = MODEL_GRAPH(child);
	return CUDA_OK;
}

static int add_conditional(cuda_node *node, cuda_graph graph, const cuda_node *after, size_t count,
			   struct cuda_conditional_node_params *conditional)
{
	static const enum dagpatch_condition conditions[] = {
		[CUDA_CONDITIONAL_IF] = DAGPATCH_IF,
		[CUDA_CONDITIONAL_WHILE] = DAGPATCH_WHILE,
		[CUDA_CONDITIONAL_SWITCH] = DAGPATCH_CASE,
	};
	struct model_node *made;
	int rc = model_conditional_add(MODEL_GRAPH(graph), conditions[conditional->type],
				       conditional->size, (struct model_node *const *)after,
				       (uint32_t)count, &made);

	if (rc)
		return played_result(rc);
	made->handle = conditional->handle;
	conditional->phGraph_out = (cuda_graph *)made->inner;
	*node = (cuda_node)made;
	return CUDA_OK;
}

int cuGraphAddNode_v2(cuda_node *node, cuda_graph graph, const cuda_node *after,
		      const struct cuda_edge_data *data, size_t count,
		      struct cuda_node_params *params)
{
	if (params->type == CUDA_NODE_CONDITIONAL)
		return add_conditional(node, graph, after, count, &params->u.conditional);
	if (params->type == CUDA_NODE_GRAPH && params->u.child.ownership == CUDA_CHILD_MOVE)
		return add_moved(node, graph, after, count, params->u.child.graph);
	return CUDA_NOT_SUPPORTED;
}
