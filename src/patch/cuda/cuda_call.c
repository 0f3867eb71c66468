/* How the CUDA driver's files call libcuda: failures, calls while streams are being captured,
 * kernels' parameters, and dagpatch's own kernels. */
#include <errno.h>

#include "patch/cuda/cuda_driver.h"

/* ---- failures ---- */

static int errno_of(int result)
{
	switch (result) {
	case CUDA_OUT_OF_MEMORY:
		return -ENOMEM;
	case CUDA_NOT_PERMITTED:
	case CUDA_NOT_SUPPORTED:
	case CUDA_GRAPH_EXEC_UPDATE_FAILURE:
		return -ENOTSUP;
	default:
		return -EIO;
	}
}

int cuda_fault(struct cuda_driver *cuda, const char *call, int result)
{
	const char *text = NULL;

	cuda->call.cuGetErrorName(result, &text);
	return patch_fault(errno_of(result), call, result, text);
}

/* ---- calls during captures of others ---- */

static _Thread_local uint32_t mode_before;

void cuda_relax(struct cuda_driver *cuda)
{
	mode_before = CUDA_CAPTURE_RELAXED;
	/* The call is refused before cuInit, when each thread has the default mode. */
	if (cuda->call.cuThreadExchangeStreamCaptureMode(&mode_before) != CUDA_OK)
		mode_before = CUDA_CAPTURE_GLOBAL;
}

int cuda_unrelax(struct cuda_driver *cuda, int result)
{
	cuda->call.cuThreadExchangeStreamCaptureMode(&mode_before);
	return result;
}

/* ---- kernels ---- */

int cuda_kernel_find(struct cuda_driver *cuda, const char *name, cuda_function *ret_function)
{
	cuda_kernel kernel;
	int err = CUDA_RELAXED(cuda, cuLibraryGetKernel, &kernel, cuda->kernels, name);

	if (!err)
		err = CUDA_RELAXED(cuda, cuKernelGetFunction, ret_function, kernel);
	return err;
}

int cuda_kernel_parameters(struct patch_device *device, void *function,
			   struct dagpatch_parameter *ret_parameters, uint32_t capacity)
{
	struct cuda_driver *cuda = cuda_of(device);
	size_t offset, bytes;
	uint32_t count = 0;
	int err;

	while (true) {
		err = cuda->call.cuFuncGetParamInfo(function, count, &offset, &bytes);
		if (err != CUDA_OK)
			break;
		if (count < capacity)
			ret_parameters[count] = (struct dagpatch_parameter){
				(uint32_t)offset, (uint32_t)bytes, DAGPATCH_PARAMETER_UNKNOWN};
		count++;
	}
	/* The driver returns this for the parameter after the last one. */
	if (err == CUDA_INVALID_VALUE)
		return (int)count;
	return cuda_check(cuda, "cuFuncGetParamInfo", err);
}
