/*
 * The floors of CUDA, by its own calls, and of the model, by dagpatch's driver table
 * (src/patch/driver.h). HIP's is in patch_floor_hip.c.
 */
#include "patch_floor.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../tests/patch/bed_cuda.h"
#include "patch/context.h"
#include "patch/driver.h"

/* ---- CUDA ---- */

static cuda_function cuda_mark;

static int cuda_nodes(void *graph, void **ret_nodes, uint32_t count)
{
	size_t filled = count;

	cuda_mark = bed_cuda.function(BED_MARK); /* a program has its functions at hand, too */
	return bed_cuda_calls.cuGraphGetNodes(graph, (cuda_node *)ret_nodes, &filled);
}

static int cuda_update(void *exec, void *graph)
{
	struct cuda_update_result result;

	return bed_cuda_calls.cuGraphExecUpdate_v2(exec, graph, &result);
}

static int cuda_set(void *exec, void *node, void *at)
{
	uint32_t value = MARK_VALUE;
	void *pointers[] = {&at, &value};
	struct cuda_kernel_node_params params = {
		.func = cuda_mark,
		.gridDimX = 1,
		.gridDimY = 1,
		.gridDimZ = 1,
		.blockDimX = MARK_BLOCK,
		.blockDimY = 1,
		.blockDimZ = 1,
		.kernelParams = pointers,
	};

	return bed_cuda_calls.cuGraphExecKernelNodeSetParams_v2(exec, node, &params);
}

static const struct patch_floor cuda_floor = {
	.bed = &bed_cuda,
	.nodes = cuda_nodes,
	.update = cuda_update,
	.set = cuda_set,
};

/* ---- the model ---- */

static struct patch_device *device;
static struct patch_image mark; /* equal for all nodes except for the address */

static int driver_open(struct dagpatch_context *context)
{
	device = context->device;
	return 0;
}

static void driver_close(void)
{
	patch_image_release(&mark);
}

static int driver_nodes(void *graph, void **ret_nodes, uint32_t count)
{
	const struct patch_driver *driver = device->driver;
	int found = driver->graph_nodes(device, graph, (struct driver_node **)ret_nodes, count);

	if (found < 0)
		return found;
	if ((uint32_t)found != count)
		return -EINVAL;
	return driver->node_get(device, graph, ret_nodes[0], &mark);
}

static int driver_update(void *exec, void *graph)
{
	return device->driver->exec_update(device, exec, graph);
}

static int driver_set(void *exec, void *node, void *at)
{
	struct patch_params params = {
		.kind = mark.kind, .size = mark.size, .image = mark.bytes, .layout = mark.layout};

	memcpy(((struct patch_kernel *)mark.bytes)->arguments, &at, sizeof(at));
	return device->driver->exec_set(device, exec, node, &params);
}

static const struct patch_floor model_floor = {
	.bed = &bed_model,
	.open = driver_open,
	.close = driver_close,
	.nodes = driver_nodes,
	.update = driver_update,
	.set = driver_set,
};

/* ---- HIP ---- */

/* Looks for the HIP module's floor among the process's global symbols. */
static const struct patch_floor *open_hip(void)
{
	void *module = dlopen("patch-floor-hip.so", RTLD_NOW | RTLD_GLOBAL);

	if (!module)
		fprintf(stderr, "dagtap-bench: patch: %s\n", dlerror());
	return module ? dlsym(module, "patch_floor_hip") : NULL;
}

const struct patch_floor *patch_floor_find(const char *driver)
{
	if (!strcmp(driver, model_floor.bed->driver))
		return &model_floor;
	if (!strcmp(driver, cuda_floor.bed->driver))
		return &cuda_floor;
	return strcmp(driver, "hip") ? NULL : open_hip();
}
