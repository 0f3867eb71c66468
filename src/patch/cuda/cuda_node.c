/* Nodes of CUDA graphs: converts images (driver.h) into CUDA's parameters, adds and sets nodes.
 * cuda_node_get.c has the other direction. */
#include "patch/cuda/cuda_driver.h"

#include <errno.h>
#include <string.h>

_Static_assert((int)PATCH_HOST_MEMORY == (int)CUDA_MEMORY_HOST &&
		       (int)PATCH_DEVICE_MEMORY == (int)CUDA_MEMORY_DEVICE &&
		       (int)PATCH_ARRAY == (int)CUDA_MEMORY_ARRAY &&
		       (int)PATCH_UNIFIED == (int)CUDA_MEMORY_UNIFIED,
	       "kinds of memory have CUDA's numbers");

/* ---- kernels ---- */

/* A kernel node's parameters, and the arrays that they point to while the driver reads them. */
struct kernel_call {
	struct cuda_kernel_node_params params;
	void *extra[5];
	size_t bytes;
	void *pointers[PATCH_PARAMETERS]; /* last, so that what is used lies close together */
};

/* What a kernel is launched as begins an image as it begins CUDA's parameters. */
enum { LAUNCH_BYTES = offsetof(struct patch_kernel, argument_bytes) };
_Static_assert(offsetof(struct patch_kernel, function) == 0 &&
		       offsetof(struct patch_kernel, grid) ==
			       offsetof(struct cuda_kernel_node_params, gridDimX) &&
		       offsetof(struct patch_kernel, block) ==
			       offsetof(struct cuda_kernel_node_params, blockDimX) &&
		       offsetof(struct patch_kernel, shared_bytes) ==
			       offsetof(struct cuda_kernel_node_params, sharedMemBytes),
	       "copied as bytes");

static inline void kernel_of_image(const struct patch_params *params, struct kernel_call *call)
{
	const struct patch_kernel *kernel = params->image;
	struct cuda_kernel_node_params *to = &call->params;

	memcpy(to, kernel, LAUNCH_BYTES);
	to->kernelParams = NULL;
	to->extra = NULL;
	to->kern = NULL;
	to->ctx = NULL;
	if (kernel->form == PATCH_BY_POINTERS) {
		patch_kernel_pointers(kernel, params->layout, call->pointers);
		to->kernelParams = call->pointers;
		return;
	}
	call->bytes = kernel->argument_bytes;
	call->extra[0] = CUDA_EXTRA_BUFFER;
	call->extra[1] = (void *)kernel->arguments;
	call->extra[2] = CUDA_EXTRA_SIZE;
	call->extra[3] = &call->bytes;
	call->extra[4] = CUDA_EXTRA_END;
	to->extra = call->extra;
}

/* ---- copies and memsets ---- */

/* CUDA requires at least as many rows as are copied, even for a single slice, where the number has
 * no effect. */
static size_t rows_of_end(const struct patch_end *end, const struct patch_copy *image)
{
	size_t copied = end->y + image->height;

	return image->depth == 1 && end->rows < copied ? copied : end->rows;
}

static struct cuda_memcpy3d copy_of_image(const struct patch_copy *image)
{
	const struct patch_end *src = &image->src;
	const struct patch_end *dst = &image->dst;

	return (struct cuda_memcpy3d){
		.srcXInBytes = src->x_bytes,
		.srcY = src->y,
		.srcZ = src->z,
		.srcLOD = src->level,
		.srcMemoryType = src->memory,
		.srcHost = src->memory == PATCH_HOST_MEMORY ? (void *)image->src_address : NULL,
		.srcDevice = src->memory == PATCH_HOST_MEMORY ? 0 : image->src_address,
		.srcArray = (cuda_array)src->array,
		.srcPitch = src->pitch,
		.srcHeight = rows_of_end(src, image),
		.dstXInBytes = dst->x_bytes,
		.dstY = dst->y,
		.dstZ = dst->z,
		.dstLOD = dst->level,
		.dstMemoryType = dst->memory,
		.dstHost = dst->memory == PATCH_HOST_MEMORY ? (void *)image->dst_address : NULL,
		.dstDevice = dst->memory == PATCH_HOST_MEMORY ? 0 : image->dst_address,
		.dstArray = (cuda_array)dst->array,
		.dstPitch = dst->pitch,
		.dstHeight = rows_of_end(dst, image),
		.WidthInBytes = image->width_bytes,
		.Height = image->height,
		.Depth = image->depth,
	};
}

static struct cuda_memset_node_params memset_of_image(const struct patch_memset *image)
{
	return (struct cuda_memset_node_params){
		.dst = image->address,
		.pitch = image->pitch,
		.value = image->value,
		.elementSize = image->element_bytes,
		.width = image->width,
		.height = image->height,
	};
}

/* ---- from images to nodes ---- */

/* The parameters in the form that the driver reads. */
union node_params {
	struct kernel_call kernel;
	struct cuda_memcpy3d copy;
	struct cuda_memset_node_params memset;
	struct cuda_host_node_params host;
	cuda_event event;
	cuda_graph graph;
};

/* Copies and memsets need a context: *RET_CONTEXT is set for them only. */
static int params_of_image(struct cuda_driver *cuda, const struct patch_params *params,
			   union node_params *to, cuda_context *ret_context)
{
	const struct patch_host *host = params->image;

	switch (params->kind) {
	case PATCH_KERNEL:
		kernel_of_image(params, &to->kernel);
		return 0;
	case PATCH_COPY:
		to->copy = copy_of_image(params->image);
		*ret_context = cuda->context;
		return 0;
	case PATCH_MEMSET:
		to->memset = memset_of_image(params->image);
		*ret_context = cuda->context;
		return 0;
	case PATCH_HOST:
		to->host = (struct cuda_host_node_params){host->function, host->user};
		return 0;
	case PATCH_EVENT_RECORD:
	case PATCH_EVENT_WAIT:
		to->event = ((const struct patch_event *)params->image)->event;
		return 0;
	case PATCH_CHILD:
		to->graph = (cuda_graph)((const struct patch_child *)params->image)->graph;
		return 0;
	case PATCH_EMPTY:
		return 0;
	default:
		return patch_fault(-ENOTSUP, "cuGraphAddNode", 0, "not a kind that can be set");
	}
}

static int add_kernel(struct cuda_driver *cuda, cuda_node *node, cuda_graph graph,
		      const cuda_node *after, uint32_t count, const struct patch_params *params,
		      const struct kernel_call *call)
{
	const struct dagpatch_attributes *attributes = params->attributes;
	bool is_programmatic = attributes && (attributes->given & DAGPATCH_PROGRAMMATIC) &&
			       attributes->programmatic != DAGPATCH_ON_END && count > 0;
	int err = CUDA_CALL(cuda, cuGraphAddKernelNode_v2, node, graph, after,
			    is_programmatic ? 0 : count, &call->params);

	return err || !is_programmatic
		       ? err
		       : cuda_add_programmatic(cuda, *node, graph, after, count, attributes);
}

int cuda_node_add(struct patch_device *device, struct driver_graph *graph,
		  const struct patch_params *params, struct driver_node *const *after,
		  uint32_t after_count, struct driver_node **ret_node)
{
	struct cuda_driver *cuda = cuda_of(device);
	const cuda_node *from = (const cuda_node *)after;
	cuda_graph to = (cuda_graph)graph;
	cuda_node *node = (cuda_node *)ret_node;
	union node_params p;
	cuda_context context;
	int err = params_of_image(cuda, params, &p, &context);

	if (err)
		return err;
	switch (params->kind) {
	case PATCH_KERNEL:
		return add_kernel(cuda, node, to, from, after_count, params, &p.kernel);
	case PATCH_COPY:
		return CUDA_CALL(cuda, cuGraphAddMemcpyNode, node, to, from, after_count, &p.copy,
				 context);
	case PATCH_MEMSET:
		return CUDA_CALL(cuda, cuGraphAddMemsetNode, node, to, from, after_count, &p.memset,
				 context);
	case PATCH_HOST:
		return CUDA_CALL(cuda, cuGraphAddHostNode, node, to, from, after_count, &p.host);
	case PATCH_EVENT_RECORD:
		return CUDA_CALL(cuda, cuGraphAddEventRecordNode, node, to, from, after_count,
				 p.event);
	case PATCH_EVENT_WAIT:
		return CUDA_CALL(cuda, cuGraphAddEventWaitNode, node, to, from, after_count,
				 p.event);
	case PATCH_CHILD:
		return CUDA_CALL(cuda, cuGraphAddChildGraphNode, node, to, from, after_count,
				 p.graph);
	default:
		return CUDA_CALL(cuda, cuGraphAddEmptyNode, node, to, from, after_count);
	}
}

int cuda_node_set(struct patch_device *device, struct driver_node *node,
		  const struct patch_params *params)
{
	struct cuda_driver *cuda = cuda_of(device);
	cuda_node to = (cuda_node)node;
	union node_params p;
	cuda_context context;
	int err = params_of_image(cuda, params, &p, &context);

	if (err)
		return err;
	switch (params->kind) {
	case PATCH_KERNEL:
		return CUDA_CALL(cuda, cuGraphKernelNodeSetParams_v2, to, &p.kernel.params);
	case PATCH_COPY:
		return CUDA_CALL(cuda, cuGraphMemcpyNodeSetParams, to, &p.copy);
	case PATCH_MEMSET:
		return CUDA_CALL(cuda, cuGraphMemsetNodeSetParams, to, &p.memset);
	case PATCH_HOST:
		return CUDA_CALL(cuda, cuGraphHostNodeSetParams, to, &p.host);
	case PATCH_EVENT_RECORD:
		return CUDA_CALL(cuda, cuGraphEventRecordNodeSetEvent, to, p.event);
	case PATCH_EVENT_WAIT:
		return CUDA_CALL(cuda, cuGraphEventWaitNodeSetEvent, to, p.event);
	default:
		return patch_fault(-ENOTSUP, "cuGraphNodeSetParams", 0,
				   "an embedded graph is set node by node");
	}
}

/* The driver returns CUDA_INVALID_VALUE for what only a new executable graph can do: copies of
 * more than one dimension, addresses in another kind of memory, and functions that cannot replace
 * the node's function. */
static int refused(struct cuda_driver *cuda, const char *call, int result)
{
	int err = cuda_check(cuda, call, result);

	return result == CUDA_INVALID_VALUE ? -ENOTSUP : err;
}

/* The most frequent of all calls. Not inlined, so that it saves no registers for set_other. */
__attribute__((noinline)) static int set_kernel(struct cuda_driver *cuda, cuda_exec exec,
						cuda_node node, const struct patch_params *params)
{
	struct kernel_call call;
	int err = __atomic_load_n(&cuda->tables, __ATOMIC_RELAXED) ? cuda_table_give_way(cuda, exec)
								   : 0;

	if (err)
		return err;
	kernel_of_image(params, &call);
	err = cuda->call.cuGraphExecKernelNodeSetParams_v2(exec, node, &call.params);
	return err ? refused(cuda, "cuGraphExecKernelNodeSetParams_v2", err) : 0;
}

__attribute__((noinline)) static int set_other(struct cuda_driver *cuda, cuda_exec in, cuda_node to,
					       const struct patch_params *params)
{
	union node_params p;
	cuda_context context;
	int err = params_of_image(cuda, params, &p, &context);

	if (err)
		return err;
	switch (params->kind) {
	case PATCH_COPY:
		return refused(cuda, "cuGraphExecMemcpyNodeSetParams",
			       cuda->call.cuGraphExecMemcpyNodeSetParams(in, to, &p.copy, context));
	case PATCH_MEMSET:
		return refused(
			cuda, "cuGraphExecMemsetNodeSetParams",
			cuda->call.cuGraphExecMemsetNodeSetParams(in, to, &p.memset, context));
	case PATCH_HOST:
		return CUDA_CALL(cuda, cuGraphExecHostNodeSetParams, in, to, &p.host);
	case PATCH_EVENT_RECORD:
		return CUDA_CALL(cuda, cuGraphExecEventRecordNodeSetEvent, in, to, p.event);
	case PATCH_EVENT_WAIT:
		return CUDA_CALL(cuda, cuGraphExecEventWaitNodeSetEvent, in, to, p.event);
	case PATCH_CHILD:
		return CUDA_CALL(cuda, cuGraphExecChildGraphNodeSetParams, in, to, p.graph);
	default:
		return 0; /* an empty node has nothing to set */
	}
}

int cuda_exec_set(struct patch_device *device, struct driver_exec *exec, struct driver_node *node,
		  const struct patch_params *params)
{
	struct cuda_driver *cuda = cuda_of(device);

	return params->kind == PATCH_KERNEL
		       ? set_kernel(cuda, (cuda_exec)exec, (cuda_node)node, params)
		       : set_other(cuda, (cuda_exec)exec, (cuda_node)node, params);
}

/* ---- conditionals ---- */

static uint32_t conditional_type(enum dagpatch_condition condition)
{
	return condition == DAGPATCH_IF	     ? CUDA_CONDITIONAL_IF
	       : condition == DAGPATCH_WHILE ? CUDA_CONDITIONAL_WHILE
					     : CUDA_CONDITIONAL_SWITCH;
}

int cuda_conditional_add(struct patch_device *device, struct driver_graph *graph, uint64_t handle,
			 enum dagpatch_condition condition, uint32_t body_count,
			 struct driver_node *const *after, uint32_t after_count,
			 struct driver_node **ret_node, struct driver_graph **ret_bodies)
{
	struct cuda_driver *cuda = cuda_of(device);
	struct cuda_node_params params = {.type = CUDA_NODE_CONDITIONAL};
	struct cuda_conditional_node_params *conditional = &params.u.conditional;
	int err;

	conditional->ctx = cuda->context;
	conditional->type = conditional_type(condition);
	conditional->handle = handle;
	conditional->size = body_count;
	err = CUDA_CALL(cuda, cuGraphAddNode_v2, (cuda_node *)ret_node, (cuda_graph)graph,
			(const cuda_node *)after, NULL, after_count, &params);
	if (!err)
		memcpy(ret_bodies, conditional->phGraph_out, body_count * sizeof(*ret_bodies));
	return err;
}
