/*
 * memory-cuda: memory of a graph's copies ends, by each call that can end it, on the played
 * libcuda.so.1. A copy whose parameters were set before is then refused, as the driver alone does
 * it. While no memory ends, the driver is not asked for it.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vendor/cuda_types.h"

enum { BYTES = 64, ROUNDS = 100, MOST_ASKS = 16 };

static struct {
#define POINTER(name, parameters) int(*name) parameters;
	CUDA_FUNCTIONS(POINTER)
	int (*cuGetProcAddress_v2)(const char *name, void **function, int version, uint64_t flags,
				   int *ret_found);
} cu;

#define CHECK(name, ...) check(#name, cu.name(__VA_ARGS__))

static void *library;
static cuda_stream stream;
static cuda_address from, to, other, ended;
static unsigned int asks;

static void check(const char *call, int result)
{
	if (result == CUDA_OK)
		return;
	fprintf(stderr, "%s returned %d\n", call, result);
	exit(1);
}

/* What the played driver calls. */
__attribute__((visibility("default"))) bool played_may_copy(cuda_address address);
__attribute__((visibility("default"))) void played_spend(const char *call);

bool played_may_copy(cuda_address address)
{
	return address != ended;
}

void played_spend(const char *call)
{
	asks += strcmp(call, "cuPointerGetAttribute") == 0;
}

static void open_cuda(void)
{
	cuda_context context;
	void *found;

	library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
#define FIND(name, parameters)                                                                     \
	found = library ? dlsym(library, #name) : NULL;                                            \
	memcpy(&cu.name, &found, sizeof(found));
	CUDA_FUNCTIONS(FIND)
	FIND(cuGetProcAddress_v2, )
	CHECK(cuInit, 0);
	CHECK(cuDevicePrimaryCtxRetain, &context, 0);
	CHECK(cuCtxSetCurrent, context);
	CHECK(cuStreamCreate, &stream, CUDA_STREAM_NON_BLOCKING);
}

static struct cuda_memcpy3d copy_to(cuda_address address)
{
	return (struct cuda_memcpy3d){.srcMemoryType = CUDA_MEMORY_DEVICE,
				      .srcDevice = from,
				      .dstMemoryType = CUDA_MEMORY_DEVICE,
				      .dstDevice = address,
				      .WidthInBytes = BYTES,
				      .Height = 1,
				      .Depth = 1,
				      .srcHeight = 1,
				      .dstHeight = 1};
}

/* ---- the calls that end memory, all with the address in the place of the handle ---- */

static void *resources[1];
#define ENDINGS(CALL)                                                                              \
	CALL(cuGLUnmapBufferObject, (unsigned int), (1))                                           \
	CALL(cuGLUnmapBufferObjectAsync, (unsigned int, cuda_stream), (1, stream))                 \
	CALL(cuGLUnregisterBufferObject, (unsigned int), (1))                                      \
	CALL(cuMemFree_v2, (cuda_address), (to))                                                   \
	CALL(cuMemFreeAsync, (cuda_address, cuda_stream), (to, stream))                            \
	CALL(cuMemHostUnregister, (cuda_address), (to))                                            \
	CALL(cuMemUnmap, (cuda_address, size_t), (to, BYTES))                                      \
	CALL(cuMemAddressFree, (cuda_address, size_t), (to, BYTES))                                \
	CALL(cuMemPoolDestroy, (cuda_address), (to))                                               \
	CALL(cuMemPoolTrimTo, (cuda_address, size_t), (to, 0))                                     \
	CALL(cuDeviceGraphMemTrim, (cuda_device), (0))                                             \
	CALL(cuIpcCloseMemHandle, (cuda_address), (to))                                            \
	CALL(cuDestroyExternalMemory, (cuda_address), (to))                                        \
	CALL(cuGraphicsUnregisterResource, (cuda_address), (to))                                   \
	CALL(cuGraphicsUnmapResources, (unsigned int, void **, cuda_stream), (1, resources, stream))

#define END(name, parameters, arguments)                                                           \
	static void end_by_##name(void)                                                            \
	{                                                                                          \
		void *found = dlsym(library, #name);                                               \
		int(*call) parameters;                                                             \
                                                                                                   \
		resources[0] = (void *)to;                                                         \
		memcpy(&call, &found, sizeof(call));                                               \
		check(#name, call arguments);                                                      \
	}
ENDINGS(END)

/* By the name that cuGetProcAddress knows it by. */
static void end_by_proc(void)
{
	int (*call)(cuda_address address);
	void *found = NULL;

	CHECK(cuGetProcAddress_v2, "cuMemFree", &found, 12000, 0, NULL);
	memcpy(&call, &found, sizeof(call));
	check("cuMemFree", call(to));
}

static void use(const char *name, void (*end)(void))
{
	struct cuda_memcpy3d first, second;
	cuda_graph graph;
	cuda_node node;
	cuda_exec exec;
	unsigned int before = asks;

	CHECK(cuMemAlloc_v2, &from, BYTES);
	CHECK(cuMemAlloc_v2, &other, BYTES);
	CHECK(cuMemAlloc_v2, &to, BYTES);
	first = copy_to(to);
	second = copy_to(other);
	ended = 0;
	CHECK(cuGraphCreate, &graph, 0);
	CHECK(cuGraphAddMemcpyNode, &node, graph, NULL, 0, &first, NULL);
	CHECK(cuGraphInstantiateWithFlags, &exec, graph, 0);
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(cuGraphExecMemcpyNodeSetParams, exec, node, i % 2 ? &first : &second, NULL);
		CHECK(cuGraphLaunch, exec, stream);
	}
	CHECK(cuStreamSynchronize, stream);
	if (asks - before > MOST_ASKS)
		check("asked too often", (int)(asks - before));
	CHECK(cuGraphExecMemcpyNodeSetParams, exec, node, &second, NULL);
	ended = to;
	end();
	printf("%s: %d\n", name, cu.cuGraphExecMemcpyNodeSetParams(exec, node, &first, NULL));
	CHECK(cuGraphLaunch, exec, stream);
	CHECK(cuStreamSynchronize, stream);
	CHECK(cuGraphExecDestroy, exec);
	CHECK(cuGraphDestroy, graph);
	CHECK(cuMemFree_v2, from);
	CHECK(cuMemFree_v2, other);
}

int main(void)
{
	open_cuda();
#define USE(name, ...) use(#name, end_by_##name);
	ENDINGS(USE)
	use("cuGetProcAddress", end_by_proc);
	CHECK(cuStreamDestroy_v2, stream);
	return 0;
}
