/* Nodes of HIP's graphs: adds them, and sets their parameters in graphs and executable graphs.
 * hip_node.c reads them. */
#include <errno.h>
#include <string.h>

#include "patch/hip/hip_driver.h"

enum { VERSION_6_3 = 60300000, VERSION_6_4 = 60400000 };

/* What HIP is given for a kernel. HIP copies all of it during the call. */
struct kernel_call {
	struct hip_kernel_params params;
	void *extra[5];
	size_t bytes;
	void *pointers[PATCH_PARAMETERS]; /* last, so that what is used lies close together */
};

static void prepare_kernel(const struct patch_params *params, struct kernel_call *call)
{
	const struct patch_kernel *kernel = params->image;

	call->params = (struct hip_kernel_params){
		.function = kernel->function,
		.shared_bytes = kernel->shared_bytes,
	};
	memcpy(&call->params.grid, kernel->grid, sizeof(kernel->grid));
	memcpy(&call->params.block, kernel->block, sizeof(kernel->block));
	if (kernel->form == PATCH_BY_POINTERS) {
		patch_kernel_pointers(kernel, params->layout, call->pointers);
		call->params.arguments = call->pointers;
		return;
	}
	call->bytes = kernel->argument_bytes;
	call->extra[0] = HIP_EXTRA_BUFFER_POINTER;
	call->extra[1] = (void *)kernel->arguments;
	call->extra[2] = HIP_EXTRA_BUFFER_SIZE;
	call->extra[3] = &call->bytes;
	call->extra[4] = HIP_EXTRA_END;
	call->params.extra = call->extra;
}

static int copy_kind(const struct patch_copy *copy)
{
	bool to_host = copy->dst.memory == PATCH_HOST_MEMORY;
	bool from_host = copy->src.memory == PATCH_HOST_MEMORY;

	if (copy->dst.memory == PATCH_UNIFIED || copy->src.memory == PATCH_UNIFIED)
		return HIP_COPY_DEFAULT;
	if (from_host)
		return to_host ? HIP_COPY_HOST_TO_HOST : HIP_COPY_HOST_TO_DEVICE;
	return to_host ? HIP_COPY_DEVICE_TO_HOST : HIP_COPY_DEVICE_TO_DEVICE;
}

static struct hip_pitched pitched_end(uint64_t address, const struct patch_end *end,
				      const struct patch_copy *copy)
{
	return (struct hip_pitched){
		.ptr = (void *)(uintptr_t)address,
		.pitch = end->pitch,
		.xsize = copy->width_bytes,
		.ysize = end->rows,
	};
}

static struct hip_copy_params prepare_copy(const struct patch_copy *copy)
{
	return (struct hip_copy_params){
		.src_array = (void *)(uintptr_t)copy->src.array,
		.src_position = {copy->src.x_bytes, copy->src.y, copy->src.z},
		.src = pitched_end(copy->src_address, &copy->src, copy),
		.dst_array = (void *)(uintptr_t)copy->dst.array,
		.dst_position = {copy->dst.x_bytes, copy->dst.y, copy->dst.z},
		.dst = pitched_end(copy->dst_address, &copy->dst, copy),
		.extent = {copy->width_bytes, copy->height, copy->depth},
		.kind = copy_kind(copy),
	};
}

static struct hip_memset_params prepare_memset(const struct patch_memset *memset)
{
	return (struct hip_memset_params){
		.dst = (void *)(uintptr_t)memset->address,
		.element_bytes = memset->element_bytes,
		.height = memset->height,
		.pitch = memset->pitch ? memset->pitch : memset->width * memset->element_bytes,
		.value = memset->value,
		.width = memset->width,
	};
}

/* ---- adding ---- */

/* Where a node is added. */
struct place {
	void **node;
	void *graph;
	void *const *after;
	size_t count;
};

static int add_copy(struct hip_driver *hip, const struct patch_copy *copy,
		    const struct place *place)
{
	struct hip_copy_params params;

	if (copy->dimensions == 1)
		return HIP_CALL(hip, hipGraphAddMemcpyNode1D, place->node, place->graph,
				place->after, place->count, (void *)(uintptr_t)copy->dst_address,
				(void *)(uintptr_t)copy->src_address, copy->width_bytes,
				copy_kind(copy));
	params = prepare_copy(copy);
	return HIP_CALL(hip, hipGraphAddMemcpyNode, place->node, place->graph, place->after,
			place->count, &params);
}

static int add_kernel(struct hip_driver *hip, const struct patch_params *params,
		      const struct place *place)
{
	struct kernel_call call;

	prepare_kernel(params, &call);
	return HIP_CALL(hip, hipGraphAddKernelNode, place->node, place->graph, place->after,
			place->count, &call.params);
}

static int add_memset(struct hip_driver *hip, const struct patch_memset *memset,
		      const struct place *place)
{
	struct hip_memset_params params = prepare_memset(memset);

	return HIP_CALL(hip, hipGraphAddMemsetNode, place->node, place->graph, place->after,
			place->count, &params);
}

int hip_node_add(struct patch_device *device, struct driver_graph *graph,
		 const struct patch_params *params, struct driver_node *const *after,
		 uint32_t after_count, struct driver_node **ret_node)
{
	struct hip_driver *hip = hip_of(device);
	struct place at = {(void **)ret_node, graph, after_count ? (void *const *)after : NULL,
			   after_count};

	switch (params->kind) {
	case PATCH_KERNEL:
		return add_kernel(hip, params, &at);
	case PATCH_COPY:
		return add_copy(hip, params->image, &at);
	case PATCH_MEMSET:
		return add_memset(hip, params->image, &at);
	case PATCH_EMPTY:
		return HIP_CALL(hip, hipGraphAddEmptyNode, at.node, at.graph, at.after, at.count);
	case PATCH_HOST:
		return HIP_CALL(hip, hipGraphAddHostNode, at.node, at.graph, at.after, at.count,
				params->image);
	case PATCH_CHILD:
		return HIP_CALL(hip, hipGraphAddChildGraphNode, at.node, at.graph, at.after,
				at.count, ((const struct patch_child *)params->image)->graph);
	case PATCH_EVENT_RECORD:
		return HIP_CALL(hip, hipGraphAddEventRecordNode, at.node, at.graph, at.after,
				at.count, ((const struct patch_event *)params->image)->event);
	case PATCH_EVENT_WAIT:
		return HIP_CALL(hip, hipGraphAddEventWaitNode, at.node, at.graph, at.after,
				at.count, ((const struct patch_event *)params->image)->event);
	default:
		return hip_refuse("hipGraphAdd", "no such node");
	}
}

int hip_node_inherit(struct patch_device *device, struct driver_node *from, struct driver_node *to)
{
	struct hip_driver *hip = hip_of(device);

	if (!hip->hipGraphKernelNodeCopyAttributes)
		return 0;
	return hip_check(hip, "hipGraphKernelNodeCopyAttributes",
			 hip->hipGraphKernelNodeCopyAttributes(from, to));
}

/* ---- launch attributes ---- */

/* 6.4.3 and 7.2.4 refuse every priority, and a captured node has none of its stream's. So the only
 * attribute of a node is whether it is cooperative. */
int hip_attributes_set(struct patch_device *device, struct driver_node *node,
		       const struct dagpatch_attributes *attributes)
{
	struct hip_driver *hip = hip_of(device);
	const union hip_attribute_value value = {.cooperative = attributes->cooperative != 0};

	if (!(attributes->given & DAGPATCH_COOPERATIVE))
		return 0;
	return hip_check(
		hip, "hipGraphKernelNodeSetAttribute",
		hip->hipGraphKernelNodeSetAttribute(node, HIP_ATTRIBUTE_COOPERATIVE, &value));
}

/* ---- setting ---- */

/* The kind of copy of an executable node must stay what the node was made with, and no call
 * returns it for captured nodes. With another kind the call fails and does nothing, so all kinds
 * are tried. */
static int exec_set_unified(struct hip_driver *hip, void *exec, void *node,
			    const struct patch_copy *copy)
{
	static const int kinds[] = {HIP_COPY_DEFAULT, HIP_COPY_DEVICE_TO_DEVICE,
				    HIP_COPY_HOST_TO_DEVICE, HIP_COPY_DEVICE_TO_HOST,
				    HIP_COPY_HOST_TO_HOST};
	int result = HIP_INVALID_VALUE;

	for (uint32_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && result == HIP_INVALID_VALUE; i++)
		result = hip->call.hipGraphExecMemcpyNodeSetParams1D(
			exec, node, (void *)(uintptr_t)copy->dst_address,
			(const void *)(uintptr_t)copy->src_address, copy->width_bytes, kinds[i]);
	return hip_check(hip, "hipGraphExecMemcpyNodeSetParams1D", result);
}

static int set_copy(struct hip_driver *hip, void *exec, void *node, const struct patch_copy *copy)
{
	void *dst = (void *)(uintptr_t)copy->dst_address;
	const void *src = (const void *)(uintptr_t)copy->src_address;
	struct hip_copy_params params;

	if (exec && copy->dimensions == 1 && copy->dst.memory == PATCH_UNIFIED)
		return exec_set_unified(hip, exec, node, copy);
	if (copy->dimensions == 1)
		return exec ? HIP_CALL(hip, hipGraphExecMemcpyNodeSetParams1D, exec, node, dst, src,
				       copy->width_bytes, copy_kind(copy))
			    : HIP_CALL(hip, hipGraphMemcpyNodeSetParams1D, node, dst, src,
				       copy->width_bytes, copy_kind(copy));
	params = prepare_copy(copy);
	return exec ? HIP_CALL(hip, hipGraphExecMemcpyNodeSetParams, exec, node, &params)
		    : HIP_CALL(hip, hipGraphMemcpyNodeSetParams, node, &params);
}

static int set_kernel(struct hip_driver *hip, void *exec, void *node,
		      const struct patch_params *params)
{
	struct kernel_call call;

	/* ROCm/clr#138: 6.3 keeps the caller's pointers and frees them. */
	if (hip->version >= VERSION_6_3 && hip->version < VERSION_6_4)
		return hip_refuse("hipGraphKernelNodeSetParams",
				  "frees its caller's memory in 6.3");
	prepare_kernel(params, &call);
	return exec ? HIP_CALL(hip, hipGraphExecKernelNodeSetParams, exec, node, &call.params)
		    : HIP_CALL(hip, hipGraphKernelNodeSetParams, node, &call.params);
}

static int set_memset(struct hip_driver *hip, void *exec, void *node,
		      const struct patch_memset *memset)
{
	struct hip_memset_params params = prepare_memset(memset);

	return exec ? HIP_CALL(hip, hipGraphExecMemsetNodeSetParams, exec, node, &params)
		    : HIP_CALL(hip, hipGraphMemsetNodeSetParams, node, &params);
}

static int set_event(struct hip_driver *hip, void *exec, void *node,
		     const struct patch_params *params)
{
	void *event = ((const struct patch_event *)params->image)->event;

	if (params->kind == PATCH_EVENT_RECORD)
		return exec ? HIP_CALL(hip, hipGraphExecEventRecordNodeSetEvent, exec, node, event)
			    : HIP_CALL(hip, hipGraphEventRecordNodeSetEvent, node, event);
	return exec ? HIP_CALL(hip, hipGraphExecEventWaitNodeSetEvent, exec, node, event)
		    : HIP_CALL(hip, hipGraphEventWaitNodeSetEvent, node, event);
}

/* EXEC NULL: sets the node of the graph. */
static int set(struct hip_driver *hip, void *exec, void *node, const struct patch_params *params)
{
	switch (params->kind) {
	case PATCH_KERNEL:
		return set_kernel(hip, exec, node, params);
	case PATCH_COPY:
		return set_copy(hip, exec, node, params->image);
	case PATCH_MEMSET:
		return set_memset(hip, exec, node, params->image);
	case PATCH_HOST:
		return exec ? HIP_CALL(hip, hipGraphExecHostNodeSetParams, exec, node,
				       params->image)
			    : HIP_CALL(hip, hipGraphHostNodeSetParams, node, params->image);
	case PATCH_EVENT_RECORD:
	case PATCH_EVENT_WAIT:
		return set_event(hip, exec, node, params);
	case PATCH_CHILD:
		/* 5.2 takes the child's graph for an executable graph here and crashes; newer
		 * releases reach only one level. */
		return hip_refuse("hipGraphExecChildGraphNodeSetParams", "cannot be relied on");
	default:
		return 0;
	}
}

int hip_node_set(struct patch_device *device, struct driver_node *node,
		 const struct patch_params *params)
{
	return set(hip_of(device), NULL, node, params);
}

/* A copy keeps the number of dimensions and the kinds of memory that it was made with. */
static bool is_same_shape(const struct patch_copy *from, const struct patch_copy *to)
{
	return (from->dimensions == 1) == (to->dimensions == 1) &&
	       from->dst.memory == to->dst.memory && from->src.memory == to->src.memory;
}

static bool is_same_call(const struct patch_kernel *from, const struct patch_kernel *to)
{
	return from->function == to->function && from->form == to->form;
}

bool hip_can_set(struct patch_device *device, const struct patch_params *from,
		 const struct patch_params *to)
{
	if (from->kind == PATCH_KERNEL)
		return hip_of(device)->works.functions || is_same_call(from->image, to->image);
	return from->kind != PATCH_COPY || is_same_shape(from->image, to->image);
}

static int refuse_without_effect(const char *call)
{
	return hip_refuse(call, "took no effect when the context was made");
}

/* A call that was not seen to take effect is not used: a new graph always takes effect. */
int hip_exec_set(struct patch_device *device, struct driver_exec *exec, struct driver_node *node,
		 const struct patch_params *params)
{
	struct hip_driver *hip = hip_of(device);

	if (params->kind == PATCH_KERNEL && !hip->works.set_kernel)
		return refuse_without_effect("hipGraphExecKernelNodeSetParams");
	if (params->kind == PATCH_COPY && !hip->works.set_copy)
		return refuse_without_effect("hipGraphExecMemcpyNodeSetParams");
	if (params->kind == PATCH_MEMSET && !hip->works.set_memset)
		return refuse_without_effect("hipGraphExecMemsetNodeSetParams");
	return set(hip, exec, node, params);
}

int hip_exec_update(struct patch_device *device, struct driver_exec *exec,
		    struct driver_graph *graph)
{
	struct hip_driver *hip = hip_of(device);
	unsigned int err = 0;
	void *node = NULL;

	if (!hip->works.update)
		return patch_fault(-ENOTSUP, "hipGraphExecUpdate", 0,
				   "took no effect when the context was made");
	return HIP_CALL(hip, hipGraphExecUpdate, exec, graph, &node, &err);
}
