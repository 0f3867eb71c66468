/* Images of CUDA's calls: the call's own structs, and a kernel's arguments as a block with their
 * offsets. */
#include <string.h>

#include "patch/cuda/cuda_driver.h"
#include "patch/layout.h"
#include "preload/cuda_real.h"
#include "preload/graph_versions.h"

static struct cuda_driver layouts; /* only what kernels' parameters need */
/* For changing layouts.base.layouts, and for asking it. A layout that was found while a virtual
 * executable is locked, in the epoch of now, lasts until that is unlocked. */
static pthread_rwlock_t layouts_lock = PTHREAD_RWLOCK_INITIALIZER;
static bool layouts_are_stale; /* there was no memory for new ones; with the lock */
static _Atomic uint64_t epoch; /* 1 + how often functions were destroyed */

static const struct patch_driver layouts_driver = {
	.name = "cuda",
	.kernel_parameters = cuda_kernel_parameters,
};

int cuda_images_open(void)
{
	layouts.base.driver = &layouts_driver;
	layouts.call.cuFuncGetParamInfo = cuda_inner.cuFuncGetParamInfo;
	layouts.call.cuGetErrorName = cuda_inner.cuGetErrorName;
	epoch = 1;
	return layouts_create(&layouts.base.layouts);
}

void cuda_images_forget_functions(void)
{
	struct patch_layouts *before, *fresh = NULL;

	pthread_rwlock_wrlock(&layouts_lock);
	before = layouts.base.layouts;
	layouts_are_stale = layouts_create(&fresh) < 0;
	if (!layouts_are_stale)
		layouts.base.layouts = fresh;
	epoch++;
	pthread_rwlock_unlock(&layouts_lock);
	/* Their kernels are others now. */
	graph_any_changes();
	virtual_synchronize();
	if (fresh)
		layouts_destroy(before);
}

/* ---- making calls again ---- */

static struct cuda_argument *arguments_of(const struct cuda_kernel_image *image)
{
	return (struct cuda_argument *)(image->block + (image->bytes + 7) / 8);
}

static int apply_kernel(const struct cuda_kernel_image *image, cuda_exec exec, cuda_node node)
{
	const struct cuda_argument *arguments = arguments_of(image);
	struct cuda_kernel_node_params params = {
		.func = image->func, .kern = image->kern, .ctx = image->context};
	void *pointers[PATCH_PARAMETERS + 1];
	size_t bytes = image->bytes;
	void *extra[] = {CUDA_EXTRA_BUFFER, (void *)image->block, CUDA_EXTRA_SIZE, &bytes,
			 CUDA_EXTRA_END};

	memcpy(&params.gridDimX, image->dimensions, sizeof(image->dimensions));
	params.sharedMemBytes = image->shared_bytes;
	for (uint32_t i = 0; i < image->count; i++)
		pointers[i] = (uint8_t *)image->block + arguments[i].offset;
	if (image->is_block)
		params.extra = extra;
	else
		params.kernelParams = pointers;
	return CUDA_REAL(cuGraphExecKernelNodeSetParams_v2)(exec, node, &params);
}

int cuda_image_apply(const void *data, void *child, void *exec, void *node)
{
	const struct cuda_image *image = data;

	switch (image->door) {
	case CUDA_DOOR_cuGraphExecKernelNodeSetParams_v2:
		return apply_kernel(data, exec, node);
	case CUDA_DOOR_cuGraphExecMemcpyNodeSetParams:
		return CUDA_REAL(cuGraphExecMemcpyNodeSetParams)(exec, node, &image->u.copy,
								 image->context);
	case CUDA_DOOR_cuGraphExecMemsetNodeSetParams:
		return CUDA_REAL(cuGraphExecMemsetNodeSetParams)(exec, node, &image->u.memset,
								 image->context);
	case CUDA_DOOR_cuGraphExecHostNodeSetParams:
		return CUDA_REAL(cuGraphExecHostNodeSetParams)(exec, node, &image->u.host);
	case CUDA_DOOR_cuGraphExecEventRecordNodeSetEvent:
		return CUDA_REAL(cuGraphExecEventRecordNodeSetEvent)(exec, node, image->u.event);
	case CUDA_DOOR_cuGraphExecEventWaitNodeSetEvent:
		return CUDA_REAL(cuGraphExecEventWaitNodeSetEvent)(exec, node, image->u.event);
	case CUDA_DOOR_cuGraphExecChildGraphNodeSetParams:
		return CUDA_REAL(cuGraphExecChildGraphNodeSetParams)(exec, node, child);
	default:
		return CUDA_REAL(cuGraphNodeSetEnabled)(exec, node, image->u.is_enabled);
	}
}

/* ---- kernels ---- */

/* Finds the argument block that `extra` names. */
static const void *find_block(void **extra, size_t *ret_bytes)
{
	const void *block = NULL;

	*ret_bytes = 0;
	for (; *extra != CUDA_EXTRA_END; extra += 2) {
		if (*extra == CUDA_EXTRA_BUFFER)
			block = extra[1];
		else if (*extra == CUDA_EXTRA_SIZE)
			*ret_bytes = *(const size_t *)extra[1];
		else
			return NULL;
	}
	return *ret_bytes <= UINT16_MAX ? block : NULL;
}

/* Appends the image of a kernel with these arguments. LAYOUT is NULL if they are in BLOCK. Returns
 * its size, or 0: no memory. */
static uint32_t add_kernel(const struct cuda_kernel_node_params *params,
			   const struct patch_layout *layout, const void *block, size_t bytes,
			   uint64_t now, struct bytes *to)
{
	uint32_t count = layout ? layout->count : 0;
	size_t words = (bytes + 7) / 8 + (count * sizeof(struct cuda_argument) + 7) / 8;
	struct cuda_kernel_image *image = bytes_add(to, sizeof(*image) + 8 * words);

	if (!image)
		return 0;
	image->door = CUDA_DOOR_cuGraphExecKernelNodeSetParams_v2;
	image->count = count;
	image->bytes = (uint32_t)bytes;
	image->is_block = !layout;
	image->epoch = now;
	image->func = params->func;
	image->kern = params->kern;
	image->context = params->ctx;
	memcpy(image->dimensions, &params->gridDimX, sizeof(image->dimensions));
	image->shared_bytes = params->sharedMemBytes;
	if (block)
		memcpy(image->block, block, bytes);
	for (uint32_t i = 0; i < count; i++) {
		const struct dagpatch_parameter *at = &layout->parameters[i];

		arguments_of(image)[i] =
			(struct cuda_argument){(uint16_t)at->offset, (uint16_t)at->bytes};
		memcpy((uint8_t *)image->block + at->offset, params->kernelParams[i], at->bytes);
	}
	return (uint32_t)(sizeof(*image) + 8 * words);
}

/* NULL: not known. NOW is the epoch. */
static const struct patch_layout *find_layout(struct virtual *v, cuda_function function,
					      uint64_t now)
{
	struct layout_hint *hint = virtual_hint(v, function);
	const struct patch_layout *layout = NULL;

	if (hint->function == function && hint->epoch == now)
		return hint->layout;
	pthread_rwlock_rdlock(&layouts_lock);
	if (!layouts_are_stale && epoch == now)
		patch_layout_find(&layouts.base, function, &layout);
	pthread_rwlock_unlock(&layouts_lock);
	if (layout)
		*hint = (struct layout_hint){function, layout, now};
	return layout;
}

uint32_t cuda_image_kernel(struct virtual *v, const struct cuda_kernel_node_params *params)
{
	uint64_t now = atomic_load_explicit(&epoch, memory_order_acquire);
	const struct patch_layout *layout;
	cuda_function function = params->func;
	const void *block;
	size_t bytes;

	if ((params->kernelParams && params->extra) ||
	    (!function && cuda_inner.cuKernelGetFunction(&function, params->kern) != CUDA_OK))
		return 0;
	if (!params->kernelParams && params->extra) {
		block = find_block(params->extra, &bytes);
		return block ? add_kernel(params, NULL, block, bytes, now, &v->scratch) : 0;
	}
	layout = find_layout(v, function, now);
	if (!layout || layout->bytes > UINT16_MAX || (!params->kernelParams && layout->count > 0))
		return 0;
	return add_kernel(params, layout, NULL, layout->bytes, now, &v->scratch);
}

static bool has_argument(const uint8_t *at, const void *argument, uint32_t bytes)
{
	/* What most arguments are; compilers make one comparison of each. */
	if (bytes == 8)
		return memcmp(at, argument, 8) == 0;
	if (bytes == 4)
		return memcmp(at, argument, 4) == 0;
	return memcmp(at, argument, bytes) == 0;
}

static bool has_arguments(const struct cuda_kernel_image *image,
			  const struct cuda_kernel_node_params *params)
{
	const struct cuda_argument *arguments = arguments_of(image);
	const void *block;
	size_t bytes;

	if (image->is_block) {
		block = params->extra && !params->kernelParams ? find_block(params->extra, &bytes)
							       : NULL;
		return block && bytes == image->bytes && memcmp(image->block, block, bytes) == 0;
	}
	if (params->extra || (!params->kernelParams && image->count > 0))
		return false;
	for (uint32_t i = 0; i < image->count; i++)
		if (!has_argument((const uint8_t *)image->block + arguments[i].offset,
				  params->kernelParams[i], arguments[i].bytes))
			return false;
	return true;
}

bool cuda_image_is_kernel(const void *data, const struct cuda_kernel_node_params *params)
{
	const struct cuda_kernel_image *image = data;

	return image->door == CUDA_DOOR_cuGraphExecKernelNodeSetParams_v2 &&
	       image->func == params->func && image->kern == params->kern &&
	       image->context == params->ctx && image->shared_bytes == params->sharedMemBytes &&
	       image->epoch == atomic_load_explicit(&epoch, memory_order_acquire) &&
	       memcmp(image->dimensions, &params->gridDimX, sizeof(image->dimensions)) == 0 &&
	       has_arguments(image, params);
}

/* ---- copies and memsets ---- */

static cuda_address address_of(uint32_t memory, const void *host, cuda_address device)
{
	return memory == CUDA_MEMORY_HOST ? (uintptr_t)host : device;
}

cuda_address cuda_copy_src(const struct cuda_memcpy3d *params)
{
	return address_of(params->srcMemoryType, params->srcHost, params->srcDevice);
}

cuda_address cuda_copy_dst(const struct cuda_memcpy3d *params)
{
	return address_of(params->dstMemoryType, params->dstHost, params->dstDevice);
}

/* The parameters with their padding cleared. */
static struct cuda_memcpy3d without_padding(const struct cuda_memcpy3d *params)
{
	struct cuda_memcpy3d copy = *params;

	memset(&copy.srcMemoryType + 1, 0, sizeof(uint32_t));
	memset(&copy.dstMemoryType + 1, 0, sizeof(uint32_t));
	return copy;
}

bool cuda_image_copy(struct virtual *v, const struct cuda_memcpy3d *params, cuda_context context,
		     struct cuda_image *image)
{
	image->door = CUDA_DOOR_cuGraphExecMemcpyNodeSetParams;
	image->u.copy = without_padding(params);
	image->context = context;
	return params->srcMemoryType != CUDA_MEMORY_ARRAY &&
	       params->dstMemoryType != CUDA_MEMORY_ARRAY &&
	       cuda_find_buffer(v, cuda_copy_dst(params), &image->dst) &&
	       cuda_find_buffer(v, cuda_copy_src(params), &image->src);
}

static bool is_in(struct virtual *v, cuda_address address, struct cuda_buffer buffer)
{
	struct cuda_buffer now;

	return cuda_find_buffer(v, address, &now) && now.id == buffer.id;
}

bool cuda_image_is_copy(struct virtual *v, const void *data, const struct cuda_memcpy3d *params,
			cuda_context context)
{
	const struct cuda_image *image = data;
	struct cuda_memcpy3d wanted = without_padding(params);

	return image->door == CUDA_DOOR_cuGraphExecMemcpyNodeSetParams &&
	       image->context == context &&
	       /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-*): no padding */
	       memcmp(&image->u.copy, &wanted, sizeof(wanted)) == 0 &&
	       is_in(v, cuda_copy_dst(params), image->dst) &&
	       is_in(v, cuda_copy_src(params), image->src);
}

bool cuda_image_memset(struct virtual *v, const struct cuda_memset_node_params *params,
		       cuda_context context, struct cuda_image *image)
{
	image->door = CUDA_DOOR_cuGraphExecMemsetNodeSetParams;
	image->u.memset = *params;
	image->context = context;
	return cuda_find_buffer(v, params->dst, &image->dst);
}
