/* The table of CUDA driver functions that bed_cuda.c resolves in its open(). Benchmarks that
 * measure the driver itself call these pointers directly. */
#ifndef TESTS_PATCH_BED_CUDA_H
#define TESTS_PATCH_BED_CUDA_H

#include "vendor/cuda_types.h"

/* Driver functions that only the bed needs; dagpatch does not call them. */
#define BED_CUDA_FUNCTIONS(FUNCTION)                                                               \
	FUNCTION(cuModuleLoadData, (void **module, const void *image))                             \
	FUNCTION(cuModuleUnload, (void *module))                                                   \
	FUNCTION(cuModuleGetFunction, (cuda_function * function, void *module, const char *name))  \
	FUNCTION(cuStreamCreateWithPriority,                                                       \
		 (cuda_stream * stream, unsigned int flags, int priority))                         \
	FUNCTION(cuGraphExecGetFlags, (cuda_exec exec, unsigned long long *flags))                 \
	FUNCTION(cuGraphNodeGetDependencies_v2,                                                    \
		 (cuda_node node, cuda_node * from, struct cuda_edge_data * data, size_t * count)) \
	FUNCTION(cuLaunchHostFunc,                                                                 \
		 (cuda_stream stream, cuda_host_function * function, void *data))                  \
	FUNCTION(cuMemcpy3DAsync_v2, (const struct cuda_memcpy3d *copy, cuda_stream stream))       \
	FUNCTION(cuMemsetD16Async,                                                                 \
		 (cuda_address dst, unsigned short value, size_t count, cuda_stream stream))       \
	FUNCTION(cuMemsetD32Async,                                                                 \
		 (cuda_address dst, unsigned int value, size_t count, cuda_stream stream))

#define BED_CUDA_POINTER(name, parameters) int(*name) parameters;

/* Pointers to the driver's functions; each returns a CUresult. Valid after bed_cuda.open(). */
struct bed_cuda_calls {
	CUDA_FUNCTIONS(BED_CUDA_POINTER)
	BED_CUDA_FUNCTIONS(BED_CUDA_POINTER)
};

extern struct bed_cuda_calls bed_cuda_calls;

#endif
