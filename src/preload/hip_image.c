/* Images of HIP's calls: the call's own structs, and a kernel's arguments as a block with their
 * offsets. */
#include <string.h>

#include "patch/layout.h"
#include "preload/hip_real.h"

static struct hip_driver layouts; /* only what kernels' parameters need */
static pthread_rwlock_t layouts_lock = PTHREAD_RWLOCK_INITIALIZER;
static bool layouts_are_stale; /* there was no memory for new ones */
static uint64_t epoch;	       /* number of unloaded modules; both with the lock */

static const struct patch_driver layouts_driver = {
	.name = "hip",
	.kernel_parameters = hip_kernel_parameters,
};

bool hip_images_open(void)
{
	void *found;

	layouts.device.driver = &layouts_driver;
	layouts.version = hip_inner.version;
	layouts.library = hip_library_open(NULL);
	found = door_find(&hip_doors, "hipKernelNameRef");
	memcpy(&layouts.call.hipKernelNameRef, &found, sizeof(found));
	found = door_find(&hip_doors, "hipKernelNameRefByPtr");
	memcpy(&layouts.call.hipKernelNameRefByPtr, &found, sizeof(found));
	layouts.call.hipGetDevice = hip_inner.hipGetDevice;
	if (!layouts.library || !layouts.call.hipKernelNameRef ||
	    !layouts.call.hipKernelNameRefByPtr || layouts_create(&layouts.device.layouts) < 0)
		return false;
	hip_find_loader(&layouts);
	return true;
}

void hip_images_forget_functions(void)
{
	struct patch_layouts *fresh = NULL;

	pthread_rwlock_wrlock(&layouts_lock);
	layouts_are_stale = layouts_create(&fresh) < 0;
	if (!layouts_are_stale) {
		layouts_destroy(layouts.device.layouts);
		layouts.device.layouts = fresh;
	}
	epoch++;
	pthread_rwlock_unlock(&layouts_lock);
}

/* ---- making calls again ---- */

static int apply_kernel(const struct hip_image *image, void *exec, void *node)
{
	const uint32_t *offsets = (const uint32_t *)(image->block + (image->bytes + 7) / 8);
	struct hip_kernel_params params = image->u.kernel;
	void *pointers[PATCH_PARAMETERS + 1];
	size_t bytes = image->bytes;
	void *extra[] = {HIP_EXTRA_BUFFER_POINTER, (void *)image->block, HIP_EXTRA_BUFFER_SIZE,
			 &bytes, HIP_EXTRA_END};

	for (uint32_t i = 0; i < image->count; i++)
		pointers[i] = (uint8_t *)image->block + offsets[i];
	if (image->is_block)
		params.extra = extra;
	else
		params.arguments = pointers;
	return HIP_REAL(hipGraphExecKernelNodeSetParams)(exec, node, &params);
}

int hip_image_apply(const void *data, void *child, void *exec, void *node)
{
	const struct hip_image *image = data;
	struct hip_copy_params copy;

	switch (image->door) {
	case HIP_DOOR_hipGraphExecKernelNodeSetParams:
		return apply_kernel(image, exec, node);
	case HIP_DOOR_hipGraphExecMemcpyNodeSetParams:
		copy = image->u.copy;
		return HIP_REAL(hipGraphExecMemcpyNodeSetParams)(exec, node, &copy);
	case HIP_DOOR_hipGraphExecMemcpyNodeSetParams1D:
		return HIP_REAL(hipGraphExecMemcpyNodeSetParams1D)(
			exec, node, image->u.copy_1d.dst, image->u.copy_1d.src,
			image->u.copy_1d.bytes, image->u.copy_1d.kind);
	case HIP_DOOR_hipGraphExecMemsetNodeSetParams:
		return HIP_REAL(hipGraphExecMemsetNodeSetParams)(exec, node, &image->u.memset);
	case HIP_DOOR_hipGraphExecHostNodeSetParams:
		return HIP_REAL(hipGraphExecHostNodeSetParams)(exec, node, &image->u.host);
	case HIP_DOOR_hipGraphExecEventRecordNodeSetEvent:
		return HIP_REAL(hipGraphExecEventRecordNodeSetEvent)(exec, node, image->u.event);
	case HIP_DOOR_hipGraphExecEventWaitNodeSetEvent:
		return HIP_REAL(hipGraphExecEventWaitNodeSetEvent)(exec, node, image->u.event);
	case HIP_DOOR_hipGraphExecChildGraphNodeSetParams:
		return HIP_REAL(hipGraphExecChildGraphNodeSetParams)(exec, node, child);
	default:
		return HIP_REAL(hipGraphNodeSetEnabled)(exec, node, image->u.is_enabled);
	}
}

/* ---- kernels ---- */

/* Finds the argument block that `extra` names. */
static const void *find_block(void *const *extra, size_t *ret_bytes)
{
	const void *block = NULL;

	*ret_bytes = 0;
	for (; *extra != HIP_EXTRA_END; extra += 2) {
		if (extra[0] == HIP_EXTRA_BUFFER_POINTER)
			block = extra[1];
		else if (extra[0] == HIP_EXTRA_BUFFER_SIZE)
			*ret_bytes = *(const size_t *)extra[1];
		else
			return NULL;
	}
	return *ret_bytes <= UINT16_MAX ? block : NULL;
}

/* Appends the image of a kernel with these arguments. LAYOUT is NULL if they are in BLOCK. Returns
 * its size, or 0: no memory. */
static uint32_t add_kernel(const struct hip_kernel_params *params,
			   const struct patch_layout *layout, const void *block, size_t bytes,
			   struct bytes *to)
{
	uint32_t count = layout ? layout->count : 0;
	size_t words = (bytes + 7) / 8 + (count + 1) / 2;
	struct hip_image *image = bytes_add(to, sizeof(*image) + 8 * words);
	uint32_t *offsets;

	if (!image)
		return 0;
	image->door = HIP_DOOR_hipGraphExecKernelNodeSetParams;
	image->count = count;
	image->bytes = (uint32_t)bytes;
	image->is_block = !layout;
	image->epoch = epoch;
	image->u.kernel = (struct hip_kernel_params){
		.block = params->block,
		.function = params->function,
		.grid = params->grid,
	};
	image->u.kernel.shared_bytes = params->shared_bytes;
	offsets = (uint32_t *)(image->block + (bytes + 7) / 8);
	if (block)
		memcpy(image->block, block, bytes);
	for (uint32_t i = 0; i < count; i++) {
		offsets[i] = layout->parameters[i].offset;
		memcpy((uint8_t *)image->block + offsets[i], params->arguments[i],
		       layout->parameters[i].bytes);
	}
	return (uint32_t)(sizeof(*image) + 8 * words);
}

uint32_t hip_image_kernel(const struct hip_kernel_params *params, struct bytes *to)
{
	const struct patch_layout *layout;
	const void *block;
	uint32_t size = 0;
	size_t bytes;

	if (!params || (params->arguments && params->extra))
		return 0;
	pthread_rwlock_rdlock(&layouts_lock);
	if (!params->arguments && params->extra) {
		block = find_block(params->extra, &bytes);
		size = block ? add_kernel(params, NULL, block, bytes, to) : 0;
	} else if (!layouts_are_stale) {
		patch_layout_find(&layouts.device, params->function, &layout);
		if (layout && (params->arguments || layout->count == 0))
			size = add_kernel(params, layout, NULL, layout->bytes, to);
	}
	pthread_rwlock_unlock(&layouts_lock);
	return size;
}
