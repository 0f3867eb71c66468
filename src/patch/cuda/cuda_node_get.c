/* Reading of nodes of CUDA graphs: converts CUDA's parameters into images (driver.h). cuda_node.c
 * has the other direction. */
#include <errno.h>
#include <string.h>

#include "patch/cuda/cuda_driver.h"

static int make_image(struct patch_image *image, enum patch_kind kind, uint32_t size)
{
	int err = patch_image_resize(image, 0);

	if (!err)
		err = patch_image_resize(image, size);
	image->kind = kind;
	image->layout = NULL;
	return err;
}

/* Returns the argument block that `extra` names, or NULL if there is none. */
static const void *find_block(void **extra, size_t *ret_bytes)
{
	const void *block = NULL;

	*ret_bytes = 0;
	for (void **at = extra; at && *at != CUDA_EXTRA_END; at += 2) {
		if (*at == CUDA_EXTRA_BUFFER)
			block = at[1];
		else if (*at == CUDA_EXTRA_SIZE)
			*ret_bytes = *(const size_t *)at[1];
		else
			return NULL;
	}
	return block;
}

static int fill_kernel(const struct cuda_kernel_node_params *from,
		       const struct patch_layout *layout, struct patch_image *image)
{
	size_t bytes = layout ? layout->bytes : 0;
	const void *block = from->kernelParams ? NULL : find_block(from->extra, &bytes);
	struct patch_kernel *kernel;
	int err;

	if (bytes > UINT16_MAX || (!block && !layout))
		return patch_fault(-ENOTSUP, "cuGraphKernelNodeGetParams", 0,
				   "the layout of its parameters is not known");
	err = make_image(image, PATCH_KERNEL,
			 (uint32_t)(offsetof(struct patch_kernel, arguments) + bytes));
	if (err)
		return err;
	image->layout = layout;
	kernel = (struct patch_kernel *)image->bytes;
	kernel->function = from->func;
	memcpy(kernel->grid, &from->gridDimX, sizeof(kernel->grid));
	memcpy(kernel->block, &from->blockDimX, sizeof(kernel->block));
	kernel->shared_bytes = from->sharedMemBytes;
	kernel->argument_bytes = (uint16_t)bytes;
	kernel->form = block ? PATCH_BY_BLOCK : PATCH_BY_POINTERS;
	if (block)
		memcpy(kernel->arguments, block, bytes);
	for (uint32_t i = 0; from->kernelParams && i < layout->count; i++)
		memcpy(kernel->arguments + layout->parameters[i].offset, from->kernelParams[i],
		       layout->parameters[i].bytes);
	return 0;
}

static int get_kernel(struct cuda_driver *cuda, cuda_node node, struct patch_image *image)
{
	const struct patch_layout *layout;
	struct cuda_kernel_node_params params;
	int err = CUDA_CALL(cuda, cuGraphKernelNodeGetParams_v2, node, &params);

	if (!err && !params.func)
		err = CUDA_CALL(cuda, cuKernelGetFunction, &params.func, params.kern);
	if (err)
		return err;
	err = patch_layout_find(&cuda->base, params.func, &layout);
	if (err && err != -ENOTSUP)
		return err;
	return fill_kernel(&params, layout, image);
}

static uint64_t address_of_end(uint32_t memory, const void *host, cuda_address device)
{
	if (memory == PATCH_HOST_MEMORY)
		return (uintptr_t)host;
	return memory == PATCH_ARRAY ? 0 : device;
}

static int get_copy(struct cuda_driver *cuda, cuda_node node, struct patch_image *image)
{
	struct cuda_memcpy3d p;
	struct patch_copy *copy;
	int err = CUDA_CALL(cuda, cuGraphMemcpyNodeGetParams, node, &p);

	if (!err)
		err = make_image(image, PATCH_COPY, sizeof(*copy));
	if (err)
		return err;
	copy = (struct patch_copy *)image->bytes;
	copy->dst_address = address_of_end(p.dstMemoryType, p.dstHost, p.dstDevice);
	copy->src_address = address_of_end(p.srcMemoryType, p.srcHost, p.srcDevice);
	copy->dst = (struct patch_end){
		(uintptr_t)p.dstArray, p.dstPitch, p.dstHeight, p.dstXInBytes, p.dstY, p.dstZ,
		p.dstMemoryType,       p.dstLOD,
	};
	copy->src = (struct patch_end){
		(uintptr_t)p.srcArray, p.srcPitch, p.srcHeight, p.srcXInBytes, p.srcY, p.srcZ,
		p.srcMemoryType,       p.srcLOD,
	};
	if (p.dstMemoryType != CUDA_MEMORY_ARRAY)
		copy->dst.array = 0;
	if (p.srcMemoryType != CUDA_MEMORY_ARRAY)
		copy->src.array = 0;
	copy->width_bytes = p.WidthInBytes;
	copy->height = p.Height ? p.Height : 1;
	copy->depth = p.Depth ? p.Depth : 1;
	copy->dimensions = copy->depth > 1 ? 3 : copy->height > 1 ? 2 : 1;
	return 0;
}

static int get_memset(struct cuda_driver *cuda, cuda_node node, struct patch_image *image)
{
	struct cuda_memset_node_params params;
	int err = CUDA_CALL(cuda, cuGraphMemsetNodeGetParams, node, &params);

	if (!err)
		err = make_image(image, PATCH_MEMSET, sizeof(struct patch_memset));
	if (!err)
		*(struct patch_memset *)image->bytes = (struct patch_memset){
			.address = params.dst,
			.pitch = params.pitch,
			.width = params.width,
			.height = params.height,
			.value = params.value,
			.element_bytes = params.elementSize,
		};
	return err;
}

/* ---- other nodes ---- */

static int get_host(struct cuda_driver *cuda, cuda_node node, struct patch_image *image)
{
	struct cuda_host_node_params params;
	int err = CUDA_CALL(cuda, cuGraphHostNodeGetParams, node, &params);

	if (!err)
		err = make_image(image, PATCH_HOST, sizeof(struct patch_host));
	if (!err)
		*(struct patch_host *)image->bytes =
			(struct patch_host){params.fn, params.userData};
	return err;
}

static int get_event(struct cuda_driver *cuda, cuda_node node, enum patch_kind kind,
		     struct patch_image *image)
{
	cuda_event event;
	int err = kind == PATCH_EVENT_RECORD
			  ? CUDA_CALL(cuda, cuGraphEventRecordNodeGetEvent, node, &event)
			  : CUDA_CALL(cuda, cuGraphEventWaitNodeGetEvent, node, &event);

	if (!err)
		err = make_image(image, kind, sizeof(struct patch_event));
	if (!err)
		*(struct patch_event *)image->bytes = (struct patch_event){event};
	return err;
}

static int get_child(struct cuda_driver *cuda, cuda_node node, struct patch_image *image)
{
	cuda_graph graph;
	int err = CUDA_CALL(cuda, cuGraphChildGraphNodeGetGraph, node, &graph);

	if (!err)
		err = make_image(image, PATCH_CHILD, sizeof(struct patch_child));
	if (!err)
		*(struct patch_child *)image->bytes =
			(struct patch_child){(struct driver_graph *)graph};
	return err;
}

int cuda_node_get(struct patch_device *device, struct driver_graph *graph, struct driver_node *node,
		  struct patch_image *image)
{
	struct cuda_driver *cuda = cuda_of(device);
	cuda_node from = (cuda_node)node;
	uint32_t type;
	int err = CUDA_CALL(cuda, cuGraphNodeGetType, from, &type);

	if (err)
		return err;
	switch (type) {
	case CUDA_NODE_KERNEL:
		return get_kernel(cuda, from, image);
	case CUDA_NODE_MEMCPY:
		return get_copy(cuda, from, image);
	case CUDA_NODE_MEMSET:
		return get_memset(cuda, from, image);
	case CUDA_NODE_HOST:
		return get_host(cuda, from, image);
	case CUDA_NODE_GRAPH:
		return get_child(cuda, from, image);
	case CUDA_NODE_EMPTY:
		return make_image(image, PATCH_EMPTY, 0);
	case CUDA_NODE_EVENT_RECORD:
		return get_event(cuda, from, PATCH_EVENT_RECORD, image);
	case CUDA_NODE_WAIT_EVENT:
		return get_event(cuda, from, PATCH_EVENT_WAIT, image);
	default:
		return make_image(image, PATCH_OPAQUE, 0);
	}
}
