/* Nodes of HIP's graphs: reads their parameters into images. hip_node_set.c adds and sets nodes. */
#include <errno.h>
#include <string.h>

#include "patch/hip/hip_driver.h"

enum {
	VERSION_5_3 = 50300000,
	REFUSED = 0,
};

int hip_refuse(const char *call, const char *why)
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
			return hip_refuse("hipGraphKernelNodeGetParams", "an opaque `extra`");
	}
	return *ret_block && *ret_bytes <= UINT16_MAX
		       ? 0
		       : hip_refuse("hipGraphKernelNodeGetParams", "an `extra` without a block");
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
		return hip_refuse("hipGraphKernelNodeGetParams",
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
		return hip_refuse("hipGraphDebugDotPrint", "a copy of a symbol or between arrays");
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
		return hip_refuse("hipGraphMemcpyNodeGetParams", "reads a copy as something else");
	return fill_3d(&params, image);
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
