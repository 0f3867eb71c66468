/* What the programs for a GPU share. */
#ifndef TESTS_CAPTURE_CUDA_DEVICE_CUH
#define TESTS_CAPTURE_CUDA_DEVICE_CUH

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

#define CHECK(call)                                                                                \
	do {                                                                                       \
		cudaError_t error_ = (call);                                                       \
		if (error_ != cudaSuccess) {                                                       \
			std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error_));       \
			std::exit(1);                                                              \
		}                                                                                  \
	} while (0)

/* A function of libdagtap's, where it is there. */
static void call(const char *name)
{
	void *function = dlsym(RTLD_DEFAULT, name);

	if (function)
		((int (*)(void))function)();
}

#endif
