/*
 * Functions that end with their module or context. The played driver has two modules: one
 * with most functions, and that of the image "ending" with two that end when it is unloaded or the
 * context is reset: the handle of `bed_again` then
 * means a function with wider parameters, and `bed_gone` may not be used any more.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "played_cuda.h"

static char permanent, ending; /* the modules */
static struct dagpatch_model_kernel *again, *gone;
static _Atomic bool is_gone;

/* Of one size, because the model does not change that of a node's arguments. */
struct narrow_again {
	uint32_t *at;
	uint32_t unused, value;
};

static void run_narrow(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct narrow_again *args = block;

	args->at[0] += args->value;
}

struct wide_again {
	uint32_t *at;
	uint32_t values[2];
};

static void run_wide(const void *block, const uint32_t grid[3], const uint32_t size[3])
{
	const struct wide_again *args = block;

	args->at[0] += args->values[0];
	args->at[1] += args->values[1];
}

static void make_kernels(void)
{
	const struct dagpatch_parameter narrow[] = {{.offset = 0, .bytes = 8},
						    {.offset = 12, .bytes = 4}};
	const struct dagpatch_parameter mark[] = {{.offset = 0, .bytes = 8},
						  {.offset = 8, .bytes = 4}};

	if (dagpatch_model_kernel_create(run_narrow, narrow, 2, &again) ||
	    dagpatch_model_kernel_create(played_nothing.function, mark, 2, &gone))
		abort();
	dagpatch_model_kernel_name(again, "bed_again");
	dagpatch_model_kernel_name(gone, "bed_gone");
}

struct dagpatch_model_kernel *played_lifetime_kernel(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_kernels);
	if (!strcmp(name, "bed_again"))
		return again;
	return strcmp(name, "bed_gone") ? NULL : gone;
}

/* The memory of the function's handle is used again for another function. */
static void end_functions(void)
{
	played_lifetime_kernel("bed_again");
	again->function = run_wide;
	again->parameters[1] = (struct dagpatch_parameter){.offset = 8, .bytes = 8};
	is_gone = true;
}

void played_check_functions(const struct dagpatch_model_graph *graph)
{
	for (uint32_t i = 0; i < graph->count && is_gone; i++) {
		const struct model_node *node = graph->nodes[i];

		if (node->kind == PATCH_CHILD)
			played_check_functions(node->inner[0]);
		if (node->kind == PATCH_KERNEL && played_real_kernel(node) == gone) {
			fprintf(stderr, "a graph with a function of an unloaded module is used\n");
			abort();
		}
	}
}

int cuModuleLoadData(void **module, const void *image)
{
	*module = image && strcmp(image, "ending") == 0 ? &ending : &permanent;
	return CUDA_OK;
}

int cuFuncGetModule(void **module, cuda_function function)
{
	const void *kernel = function;

	*module = kernel == again || kernel == gone ? &ending : &permanent;
	return CUDA_OK;
}

int cuModuleUnload(void *module)
{
	if (module != &ending)
		return CUDA_OK;
	end_functions();
	if (played_unloading)
		played_unloading();
	return CUDA_OK;
}

int cuDevicePrimaryCtxReset_v2(cuda_device device)
{
	end_functions();
	return CUDA_OK;
}

int cuCtxDestroy_v2(cuda_context context)
{
	end_functions();
	return CUDA_OK;
}

int cuCtxDetach(cuda_context context)
{
	end_functions();
	return CUDA_OK;
}

int cuGreenCtxDestroy(void *context)
{
	end_functions();
	return CUDA_OK;
}
