/* The played driver but for graphs (played_graphs.c). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "played_cuda.h"

#define DRIVER_VERSION 13000

static int context; /* there is one, and every thread has it */

int played_result(int rc)
{
	switch (rc) {
	case 0:
		return CUDA_OK;
	case -ENOMEM:
		return CUDA_OUT_OF_MEMORY;
	case -ENOTSUP:
		return CUDA_NOT_SUPPORTED;
	default:
		return CUDA_INVALID_VALUE;
	}
}

static struct dagpatch_model_stream *stream_of(cuda_stream stream)
{
	return (struct dagpatch_model_stream *)stream;
}

static struct dagpatch_model_event *event_of(cuda_event event)
{
	return (struct dagpatch_model_event *)event;
}

int cuInit(unsigned int flags)
{
	return CUDA_OK;
}

int cuDriverGetVersion(int *version)
{
	*version = DRIVER_VERSION;
	return CUDA_OK;
}

int cuGetErrorName(int error, const char **name)
{
	*name = "CUDA_ERROR_PLAYED";
	return CUDA_OK;
}

int cuDeviceGet(cuda_device *device, int ordinal)
{
	*device = ordinal;
	return CUDA_OK;
}

int cuDevicePrimaryCtxRetain(cuda_context *ret_context, cuda_device device)
{
	*ret_context = (cuda_context)&context;
	return CUDA_OK;
}

int cuDevicePrimaryCtxRelease_v2(cuda_device device)
{
	return CUDA_OK;
}

int cuCtxGetCurrent(cuda_context *ret_context)
{
	*ret_context = (cuda_context)&context;
	return CUDA_OK;
}

int cuCtxSetCurrent(cuda_context unused)
{
	return CUDA_OK;
}

/* ---- memory ---- */

static int allocate(void **ret_address, size_t bytes)
{
	*ret_address = dagpatch_model_alloc(bytes);
	return *ret_address ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

int cuMemAlloc_v2(cuda_address *address, size_t bytes)
{
	return allocate((void **)address, bytes);
}

int cuMemFree_v2(cuda_address address)
{
	dagpatch_model_free((void *)address);
	return CUDA_OK;
}

int cuMemHostAlloc(void **address, size_t bytes, unsigned int flags)
{
	return allocate(address, bytes);
}

int cuMemFreeHost(void *address)
{
	dagpatch_model_free(address);
	return CUDA_OK;
}

int cuMemcpyAsync(cuda_address dst, cuda_address src, size_t bytes, cuda_stream stream)
{
	struct dagpatch_model_copy copy = {
		.dst = (void *)dst,
		.src = (void *)src,
		.width_bytes = bytes,
		.height = 1,
		.depth = 1,
	};

	return played_result(dagpatch_model_copy_async(stream_of(stream), &copy));
}

int cuMemcpy3DAsync_v2(const struct cuda_memcpy3d *params, cuda_stream stream)
{
	struct dagpatch_model_copy copy = {
		.dst = (void *)params->dstDevice,
		.src = (void *)params->srcDevice,
		.dst_pitch = params->dstPitch,
		.dst_rows = params->dstHeight,
		.src_pitch = params->srcPitch,
		.src_rows = params->srcHeight,
		.width_bytes = params->WidthInBytes,
		.height = params->Height,
		.depth = params->Depth,
	};

	if (params->srcHeight < params->Height || params->dstHeight < params->Height)
		return CUDA_INVALID_VALUE;
	return played_result(dagpatch_model_copy_async(stream_of(stream), &copy));
}

static int set_memory(cuda_address dst, uint32_t value, uint32_t element_bytes, size_t count,
		      cuda_stream stream)
{
	return played_result(dagpatch_model_memset_async(stream_of(stream), (void *)dst, value,
							 element_bytes, count));
}

int cuMemsetD8Async(cuda_address dst, unsigned char value, size_t bytes, cuda_stream stream)
{
	return set_memory(dst, value, 1, bytes, stream);
}

int cuMemsetD16Async(cuda_address dst, unsigned short value, size_t count, cuda_stream stream)
{
	return set_memory(dst, value, 2, count, stream);
}

int cuMemsetD32Async(cuda_address dst, unsigned int value, size_t count, cuda_stream stream)
{
	return set_memory(dst, value, 4, count, stream);
}

/* ---- streams and events ---- */

int cuStreamCreate(cuda_stream *stream, unsigned int flags)
{
	return played_result(dagpatch_model_stream_create(DAGPATCH_MODEL_THREADED,
							  (struct dagpatch_model_stream **)stream));
}

int cuStreamDestroy_v2(cuda_stream stream)
{
	dagpatch_model_stream_destroy(stream_of(stream));
	return CUDA_OK;
}

int cuStreamSynchronize(cuda_stream stream)
{
	return played_result(dagpatch_model_stream_synchronize(stream_of(stream)));
}

int cuStreamGetId(cuda_stream stream, unsigned long long *id)
{
	*id = (uintptr_t)stream;
	return CUDA_OK;
}

/* Asked only whether the device is well. */
int cuStreamQuery(cuda_stream stream)
{
	return CUDA_NOT_READY;
}

int cuLaunchHostFunc(cuda_stream stream, cuda_host_function *function, void *data)
{
	return played_result(dagpatch_model_host_async(stream_of(stream), function, data));
}

int cuEventCreate(cuda_event *event, unsigned int flags)
{
	return played_result(dagpatch_model_event_create((struct dagpatch_model_event **)event));
}

int cuEventDestroy_v2(cuda_event event)
{
	dagpatch_model_event_destroy(event_of(event));
	return CUDA_OK;
}

int cuEventRecord(cuda_event event, cuda_stream stream)
{
	return played_result(dagpatch_model_event_record(stream_of(stream), event_of(event), 0));
}

int cuStreamWaitEvent(cuda_stream stream, cuda_event event, unsigned int flags)
{
	return played_result(dagpatch_model_event_wait(stream_of(stream), event_of(event), 0));
}

int cuEventQuery(cuda_event event)
{
	return dagpatch_model_event_count(event_of(event)) ? CUDA_OK : CUDA_NOT_READY;
}

/* ---- kernels ---- */

int cuModuleLoadData(void **module, const void *image)
{
	*module = &context;
	return CUDA_OK;
}

int cuModuleUnload(void *module)
{
	return CUDA_OK;
}

int cuModuleGetFunction(cuda_function *function, void *module, const char *name)
{
	*function = (cuda_function)played_kernel(name);
	return *function ? CUDA_OK : CUDA_INVALID_VALUE;
}

int cuLibraryLoadData(cuda_library *library, const void *code, void *jit_options, void **jit_values,
		      unsigned int jit_count, void *options, void **values, unsigned int count)
{
	*library = (cuda_library)&context;
	return CUDA_OK;
}

int cuLibraryUnload(cuda_library library)
{
	return CUDA_OK;
}

int cuLibraryGetKernel(cuda_kernel *kernel, cuda_library library, const char *name)
{
	*kernel = (cuda_kernel)played_kernel(name);
	return *kernel ? CUDA_OK : CUDA_INVALID_VALUE;
}

int cuKernelGetFunction(cuda_function *function, cuda_kernel kernel)
{
	*function = (cuda_function)kernel;
	return CUDA_OK;
}

int cuFuncGetParamInfo(cuda_function function, size_t index, size_t *offset, size_t *bytes)
{
	const struct dagpatch_model_kernel *kernel = (struct dagpatch_model_kernel *)function;

	if (index >= kernel->count)
		return CUDA_INVALID_VALUE;
	*offset = kernel->parameters[index].offset;
	*bytes = kernel->parameters[index].bytes;
	return CUDA_OK;
}

int cuLaunchKernel(cuda_function function, unsigned int gx, unsigned int gy, unsigned int gz,
		   unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
		   cuda_stream stream, void **parameters, void **extra)
{
	struct dagpatch_model_kernel *kernel = (struct dagpatch_model_kernel *)function;
	uint32_t grid[] = {gx, gy, gz};
	uint32_t block[] = {bx, by, bz};
	int rc = parameters
			 ? dagpatch_model_launch(stream_of(stream), kernel, grid, block, parameters)
			 : dagpatch_model_launch_block(stream_of(stream), kernel, grid, block,
						       extra[1], (uint32_t) * (size_t *)extra[3]);

	return played_result(rc);
}
