/*
 * GPU work for the tests of the Python package with HIP: the examples' kernels behind functions
 * that ctypes can call. Load it with RTLD_GLOBAL, so that the software GPU finds the kernels' host
 * versions.
 */
#include "kernels.h"

#define EXPORT __attribute__((visibility("default")))

enum { THREADS = 64 };

EXPORT int work_open(void);
EXPORT const void *work_branch(void);
EXPORT void work_submit_branch(hipStream_t stream, uint32_t *out, const uint32_t *in,
			       uint32_t factor, uint32_t count);
EXPORT void work_submit_mix(hipStream_t stream, uint32_t *data, uint32_t term, uint32_t count);

/* Returns 0, or 77 without a GPU. */
int work_open(void)
{
	int devices = 0;

	if (hipGetDeviceCount(&devices) != hipSuccess || devices == 0)
		return 77;
	kernels_register();
	return 0;
}

/*
 * Returns the host stub by which hipLaunchKernel and a kernel node identify the kernel branch(out,
 * in, factor, count).
 */
const void *work_branch(void)
{
	return &example_kernels[BRANCH];
}

void work_submit_branch(hipStream_t stream, uint32_t *out, const uint32_t *in, uint32_t factor,
			uint32_t count)
{
	void *arguments[] = {&out, &in, &factor, &count};

	example_capture(&example_kernels[BRANCH], (count + THREADS - 1) / THREADS, THREADS,
			arguments, stream);
}

void work_submit_mix(hipStream_t stream, uint32_t *data, uint32_t term, uint32_t count)
{
	void *arguments[] = {&data, &term, &count};

	example_capture(&example_kernels[MIX], (count + THREADS - 1) / THREADS, THREADS, arguments,
			stream);
}
