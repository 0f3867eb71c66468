/* What the programs with graphs share: kernels that count up a number, and nodes for kernels. */
#ifndef TESTS_CAPTURE_CUDA_DEVICE_NODES_CUH
#define TESTS_CAPTURE_CUDA_DEVICE_NODES_CUH

#include "device.cuh"

#define KERNEL(name)                                                                               \
	__global__ void name(int *value)                                                           \
	{                                                                                          \
		if (threadIdx.x == 0)                                                              \
			*value += 1;                                                               \
	}

static int *value; /* of the device; the program allocates it */

/* Adds a node that waits for BEFORE, unless that is NULL. */
static cudaGraphNode_t add_kernel(cudaGraph_t graph, void *kernel, void **arguments, const cudaGraphNode_t *before)
{
	cudaKernelNodeParams parameters = {};
	cudaGraphNode_t node;

	parameters.func = kernel;
	parameters.gridDim = parameters.blockDim = dim3(1);
	parameters.kernelParams = arguments;
	CHECK(cudaGraphAddKernelNode(&node, graph, before, before ? 1 : 0, &parameters));
	return node;
}

/* The same for a KERNEL. */
static cudaGraphNode_t add_kernel(cudaGraph_t graph, void (*kernel)(int *), const cudaGraphNode_t *before)
{
	void *arguments[] = {&value};

	return add_kernel(graph, (void *)kernel, arguments, before);
}

#endif
