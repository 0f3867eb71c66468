/* Nodes of HIP's graphs: converts images into HIP's parameters and back. */
#include <errno.h>
#include <string.h>

#include "patch/hip/hip_driver.h"

enum {
	VERSION_5_3 = 50300000,
	VERSION_6_3 = 60300000,
	VERSION_6_4 = 60400000,
	REFUSED = 0,
};

static int refuse(const char *call, const char *why)
{
	return patch_fault(-ENOTSUP, call, REFUSED, why);
}

/* ---- kinds of nodes, whose numbers differ between releases ---- */

static enum patch_kind kind_of(const struct hip_driver *hip, unsigned int number)
{
	static const uint8_t kinds[] = {PATCH_KERNEL,	  PATCH_COPY,	     PATCH_MEMSET,
					PATCH_HOST,	  PATCH_CHILD,	     PATCH_EMPTY,
					PATCH_EVENT_WAIT, PATCH_EVENT_RECORD};

	/* Before 5.3 the numbers begin at 1. */
	if (hip->version < VERSION_5_3)
		number--;
	return number < sizeof(kinds) ? kinds[number] : PATCH_OPAQUE;
}

struct driver_graph *hip_child_graph(struct hip_driver *hip, struct driver_node *node)
{
	unsigned int number = 0;
	void *graph = NULL;

	if (hip->call.hipGraphNodeGetType(node, &number) != HIP_OK ||
	    kind_of(hip, number) != PATCH_CHILD ||
	    hip->call.hipGraphChildGraphNodeGetGraph(node, &graph) != HIP_OK)
		return NULL;
	return graph;
}

/* ---- kernels ---- */

/* Finds the argument block that `extra` names. */
static int read_extra(void *const *extra, const void **ret_block, size_t *ret_bytes)
{
	*ret_block = NULL;
	*ret_bytes = 0;
	for (; *extra != HIP_EXTRA_END; extra += 2) {
		if (extra[0] == HIP_EXTRA_BUFFER_POINTER)
			*ret_block = extra[1];
		else if (extra[0] == HIP_EXTRA_BUFFER_SIZE)
			*ret_bytes = *(const size_t *)extra[1];
		else
			return refuse("hipGraphKernelNodeGetParams", "an opaque `extra`");
	}
	return *ret_block && *ret_bytes <= UINT16_MAX
		       ? 0
		       : refuse("hipGraphKernelNodeGetParams", "an `extra` without a block");
}

static void read_dimensions(const struct hip_kernel_params *params, struct patch_kernel *kernel)
{
	kernel->function = params->function;
	memcpy(kernel->grid, &params->grid, sizeof(kernel->grid));
	memcpy(kernel->block, &params->block, sizeof(kernel->block));
	kernel->shared_bytes = params->shared_bytes;
}

static int read_kernel(struct hip_driver *hip, void *node, struct patch_image *image)
{
	struct hip_kernel_params params = {0};
	struct patch_kernel *kernel;
	const void *block = NULL;
	size_t bytes;
	int err = HIP_CALL(hip, hipGraphKernelNodeGetParams, node, &params);

	if (err < 0)
		return err;
	err = patch_layout_find(&hip->device, params.function, &image->layout);
	if (err < 0 && err != -ENOTSUP)
		return err;
	if (!params.arguments && params.extra) {
		err = read_extra(params.extra, &block, &bytes);
		if (err < 0)
			return err;
	} else if (!image->layout) {
		return refuse("hipGraphKernelNodeGetParams",
			      "kernel's parameters unknown: see dagpatch_kernel_describe");
	} else {
		bytes = image->layout->bytes;
	}
	err = patch_image_resize(image, (uint32_t)(sizeof(*kernel) + bytes));
	if (err < 0)
		return err;
	kernel = (struct patch_kernel *)image->bytes;
	read_dimensions(&params, kernel);
	kernel->argument_bytes = (uint16_t)bytes;
	kernel->form = params.arguments ? PATCH_BY_POINTERS : PATCH_BY_BLOCK;
	if (kernel->form == PATCH_BY_BLOCK)
		memcpy(kernel->arguments, block, bytes);
	for (uint32_t i = 0; params.arguments && i < image->layout->count; i++)
		memcpy(kernel->arguments + image->layout->parameters[i].offset, params.arguments[i],
		       image->layout->parameters[i].bytes);
	return 0;
}

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

/* ---- copies ---- */

static uint32_t memory_of(int kind, bool is_dst)
{
	if (kind == HIP_COPY_DEFAULT)
		return PATCH_UNIFIED;
	if (is_dst)
		return kind == HIP_COPY_HOST_TO_HOST || kind == HIP_COPY_DEVICE_TO_HOST
			       ? PATCH_HOST_MEMORY
			       : PATCH_DEVICE_MEMORY;
	return kind == HIP_COPY_HOST_TO_HOST || kind == HIP_COPY_HOST_TO_DEVICE
		       ? PATCH_HOST_MEMORY
		       : PATCH_DEVICE_MEMORY;
}

static void read_end(const struct hip_pitched *pitched, const struct hip_position *position,
		     const void *array, struct patch_end *end, uint64_t *address)
{
	*address = (uintptr_t)pitched->ptr;
	*end = (struct patch_end){
		.array = (uintptr_t)array,
		.pitch = pitched->pitch,
		.rows = pitched->ysize,
		.x_bytes = position->x,
		.y = position->y,
		.z = position->z,
		.memory = array ? PATCH_ARRAY : end->memory,
	};
}

static int fill_1d(const struct hip_text_copy *text, struct patch_image *image)
{
	struct patch_copy *copy;
	int err;

	if (!text->dst || !text->src || text->extent.height != 1 || text->extent.depth != 1)
		return refuse("hipGraphDebugDotPrint", "a copy of a symbol or between arrays");
	err = patch_image_resize(image, sizeof(*copy));
	if (err < 0)
		return err;
	copy = (struct patch_copy *)image->bytes;
	copy->dst_address = (uintptr_t)text->dst;
	copy->src_address = (uintptr_t)text->src;
	copy->width_bytes = text->extent.width;
	copy->height = copy->depth = 1;
	copy->dimensions = 1;
	/* HIP finds out the kind of memory from the addresses. */
	copy->dst =
		(struct patch_end){.pitch = copy->width_bytes, .rows = 1, .memory = PATCH_UNIFIED};
	copy->src = copy->dst;
	return 0;
}

static int fill_3d(const struct hip_copy_params *params, struct patch_image *image)
{
	struct patch_copy *copy;
	int err = patch_image_resize(image, sizeof(*copy));

	if (err < 0)
		return err;
	copy = (struct patch_copy *)image->bytes;
	copy->dst.memory = memory_of(params->kind, true);
	copy->src.memory = memory_of(params->kind, false);
	read_end(&params->dst, &params->dst_position, params->dst_array, &copy->dst,
		 &copy->dst_address);
	read_end(&params->src, &params->src_position, params->src_array, &copy->src,
		 &copy->src_address);
	copy->width_bytes = params->extent.width;
	copy->height = params->extent.height;
	copy->depth = params->extent.depth;
	copy->dimensions = 3;
	return 0;
}

static bool is_same_copy(const struct hip_text_copy *text, const struct hip_copy_params *params)
{
	return text->dst == params->dst.ptr && text->src == params->src.ptr &&
	       text->dst_pitch == params->dst.pitch && text->src_pitch == params->src.pitch &&
	       memcmp(&text->extent, &params->extent, sizeof(text->extent)) == 0;
}

/* Up to 5.2, hipGraphMemcpyNodeGetParams shows that a copy is one-dimensional by failing. Later
 * releases do not show it. */
static int read_copy(struct hip_driver *hip, void *graph, void *node, struct patch_image *image)
{
	struct hip_copy_params params = {0};
	struct hip_text_copy text;
	bool has_text = hip->version >= VERSION_5_3;
	int err = has_text ? hip_text_copy(hip, graph, node, &text) : 0;

	if (err < 0)
		return err;
	if (has_text && text.dst_pitch == 0 && text.src_pitch == 0)
		return fill_1d(&text, image);
	err = HIP_CALL(hip, hipGraphMemcpyNodeGetParams, node, &params);
	if (err < 0)
		return err;
	if (has_text && !is_same_copy(&text, &params))
		return refuse("hipGraphMemcpyNodeGetParams", "reads a copy as something else");
	return fill_3d(&params, image);
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

/* ---- memsets and other nodes ---- */

static int read_memset(struct hip_driver *hip, void *node, struct patch_image *image)
{
	struct hip_memset_params params = {0};
	int err = HIP_CALL(hip, hipGraphMemsetNodeGetParams, node, &params);

	if (err == 0)
		err = patch_image_resize(image, sizeof(struct patch_memset));
	if (err < 0)
		return err;
	*(struct patch_memset *)image->bytes = (struct patch_memset){
		.address = (uintptr_t)params.dst,
		.pitch = params.pitch,
		.width = params.width,
		.height = params.height,
		.value = params.value,
		.element_bytes = params.element_bytes,
	};
	return 0;
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

static int read_small(struct hip_driver *hip, void *node, struct patch_image *image)
{
	static const uint32_t sizes[PATCH_KINDS] = {
		[PATCH_CHILD] = sizeof(struct patch_child),
		[PATCH_HOST] = sizeof(struct patch_host),
		[PATCH_EVENT_RECORD] = sizeof(struct patch_event),
		[PATCH_EVENT_WAIT] = sizeof(struct patch_event),
	};
	int err = patch_image_resize(image, sizes[image->kind]);

	if (err < 0)
		return err;
	switch (image->kind) {
	case PATCH_CHILD:
		return HIP_CALL(hip, hipGraphChildGraphNodeGetGraph, node, (void **)image->bytes);
	case PATCH_HOST:
		return HIP_CALL(hip, hipGraphHostNodeGetParams, node,
				(struct hip_host_params *)image->bytes);
	case PATCH_EVENT_RECORD:
		return HIP_CALL(hip, hipGraphEventRecordNodeGetEvent, node, (void **)image->bytes);
	case PATCH_EVENT_WAIT:
		return HIP_CALL(hip, hipGraphEventWaitNodeGetEvent, node, (void **)image->bytes);
	default:
		return 0;
	}
}

int hip_node_get(struct patch_device *device, struct driver_graph *graph, struct driver_node *node,
		 struct patch_image *image)
{
	struct hip_driver *hip = hip_of(device);
	unsigned int number = 0;
	int err = HIP_CALL(hip, hipGraphNodeGetType, node, &number);

	if (err < 0)
		return err;
	image->kind = kind_of(hip, number);
	image->layout = NULL;
	image->size = 0;
	switch (image->kind) {
	case PATCH_KERNEL:
		return read_kernel(hip, node, image);
	case PATCH_COPY:
		return read_copy(hip, graph, node, image);
	case PATCH_MEMSET:
		return read_memset(hip, node, image);
	default:
		return read_small(hip, node, image);
	}
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
		return refuse("hipGraphAdd", "no such node");
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
		return refuse("hipGraphKernelNodeSetParams", "frees its caller's memory in 6.3");
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
		return refuse("hipGraphExecChildGraphNodeSetParams", "cannot be relied on");
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
	return refuse(call, "took no effect when the context was made");
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
