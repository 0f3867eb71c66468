/* The bed on CUDA's driver API (bed.h). bed_cuda.h gives access to the driver's functions. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bed.h"
#include "bed_cuda.h"

#define SKIPPED		      77
#define EVENT_DISABLE_TIMING  2
#define SET_CAPTURE_DEPENDENT 1

#define BED_CUDA_NAME(name, parameters) #name,

struct bed_cuda_calls bed_cuda_calls;

static const char *const call_names[] = {CUDA_FUNCTIONS(BED_CUDA_NAME)
						 BED_CUDA_FUNCTIONS(BED_CUDA_NAME)};

static const char *const kernel_names[BED_KERNELS] = {
	[BED_ADD] = "bed_add",	     [BED_MUL] = "bed_mul",
	[BED_FOLD] = "bed_fold",     [BED_MARK] = "bed_mark",
	[BED_STRUCT] = "bed_struct", [BED_PACKED] = "bed_packed",
	[BED_HOLD] = "bed_hold",     [BED_COUNT_DOWN] = "bed_count_down",
};

extern const char bed_kernels_ptx[];

enum { MOST_DEVICES = 2 };

/* Per device, with its primary context. */
static struct {
	cuda_device device;
	cuda_context context;
	cuda_stream own; /* the stream that moves memory; usable while other streams are captured */
	void *module;
	cuda_function kernels[BED_KERNELS];
} devices[MOST_DEVICES];
static uint32_t device_count;

static void check(const char *call, int result)
{
	const char *name = "?";

	if (result == CUDA_OK)
		return;
	bed_cuda_calls.cuGetErrorName(result, &name);
	fprintf(stderr, "bed_cuda: %s: %d %s\n", call, result, name);
	abort();
}

#define CALL(name, ...) check(#name, bed_cuda_calls.name(__VA_ARGS__))

/* Prints the name of an error that a test gets back as a number. */
static int note(const char *call, int result)
{
	const char *name = "?";

	if (result == CUDA_OK)
		return result;
	bed_cuda_calls.cuGetErrorName(result, &name);
	fprintf(stderr, "bed_cuda: %s: %d %s\n", call, result, name);
	return result;
}

#define NOTED(name, ...) note(#name, bed_cuda_calls.name(__VA_ARGS__))

static bool load_calls(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	void **calls = (void **)&bed_cuda_calls;

	for (size_t i = 0; library && i < sizeof(call_names) / sizeof(*call_names); i++) {
		calls[i] = dlsym(library, call_names[i]);
		if (!calls[i])
			return false;
	}
	return library != NULL;
}

static void open_device(uint32_t index)
{
	CALL(cuDeviceGet, &devices[index].device, (int)index);
	CALL(cuDevicePrimaryCtxRetain, &devices[index].context, devices[index].device);
	CALL(cuCtxSetCurrent, devices[index].context);
	CALL(cuStreamCreate, &devices[index].own, CUDA_STREAM_NON_BLOCKING);
	CALL(cuModuleLoadData, &devices[index].module, bed_kernels_ptx);
	for (int i = 0; i < BED_KERNELS; i++)
		CALL(cuModuleGetFunction, &devices[index].kernels[i], devices[index].module,
		     kernel_names[i]);
}

static int cuda_open(void)
{
	int found;

	if (!load_calls() || bed_cuda_calls.cuInit(0) != CUDA_OK)
		return SKIPPED;
	CALL(cuDeviceGetCount, &found);
	device_count = found < MOST_DEVICES ? (uint32_t)found : MOST_DEVICES;
	for (uint32_t i = device_count; i-- > 0;)
		open_device(i);
	return 0;
}

static void cuda_close(void)
{
	for (uint32_t i = device_count; i-- > 0;) {
		CALL(cuCtxSetCurrent, devices[i].context);
		CALL(cuModuleUnload, devices[i].module);
		CALL(cuStreamDestroy_v2, devices[i].own);
		CALL(cuDevicePrimaryCtxRelease_v2, devices[i].device);
	}
}

static uint32_t cuda_device_count(void)
{
	return device_count;
}

static void cuda_device_set(uint32_t device)
{
	CALL(cuCtxSetCurrent, device == NO_DEVICE ? NULL : devices[device].context);
}

static uint32_t cuda_device_current(void)
{
	cuda_context context;

	CALL(cuCtxGetCurrent, &context);
	for (uint32_t i = 0; i < device_count; i++)
		if (devices[i].context == context)
			return i;
	return NO_DEVICE;
}

#define OWN	devices[cuda_device_current()].own
#define KERNELS devices[cuda_device_current()].kernels

/* ---- memory ---- */

static void *cuda_alloc(size_t bytes)
{
	cuda_address address;

	CALL(cuMemAlloc_v2, &address, bytes);
	CALL(cuMemsetD8Async, address, 0, bytes, OWN);
	CALL(cuStreamSynchronize, OWN);
	return (void *)address;
}

static void cuda_free(void *address)
{
	CALL(cuMemFree_v2, (uintptr_t)address);
}

static void *cuda_alloc_host(size_t bytes)
{
	void *address;

	CALL(cuMemHostAlloc, &address, bytes, CUDA_HOST_PORTABLE | CUDA_HOST_MAPPED);
	memset(address, 0, bytes);
	return address;
}

static void cuda_free_host(void *address)
{
	CALL(cuMemFreeHost, address);
}

static void cuda_move(void *dst, const void *src, size_t bytes)
{
	CALL(cuMemcpyAsync, (uintptr_t)dst, (uintptr_t)src, bytes, OWN);
	CALL(cuStreamSynchronize, OWN);
}

/* ---- streams, kernels and other work ---- */

static void *cuda_stream_create(void)
{
	cuda_stream stream;

	CALL(cuStreamCreate, &stream, CUDA_STREAM_NON_BLOCKING);
	return stream;
}

static void cuda_stream_destroy(void *stream)
{
	CALL(cuStreamDestroy_v2, stream);
}

static void cuda_stream_synchronize(void *stream)
{
	CALL(cuStreamSynchronize, stream);
}

static void *cuda_function_of(enum bed_kernel kernel)
{
	return KERNELS[kernel];
}

static int cuda_launch(void *stream, enum bed_kernel kernel, uint32_t grid, uint32_t block,
		       void *const *parameters)
{
	return NOTED(cuLaunchKernel, KERNELS[kernel], grid, 1, 1, block, 1, 1, 0, stream,
		     (void **)parameters, NULL);
}

static int cuda_launch_block(void *stream, enum bed_kernel kernel, uint32_t grid, uint32_t block,
			     const void *arguments, size_t bytes)
{
	void *extra[] = {CUDA_EXTRA_BUFFER, (void *)arguments, CUDA_EXTRA_SIZE, &bytes,
			 CUDA_EXTRA_END};

	return NOTED(cuLaunchKernel, KERNELS[kernel], grid, 1, 1, block, 1, 1, 0, stream, NULL,
		     extra);
}

static int cuda_copy(void *stream, const struct bed_copy *copy)
{
	size_t height = copy->height ? copy->height : 1;
	size_t depth = copy->depth ? copy->depth : 1;
	struct cuda_memcpy3d params = {
		.srcMemoryType = CUDA_MEMORY_UNIFIED,
		.srcDevice = (uintptr_t)copy->src,
		.srcPitch = copy->src_pitch ? copy->src_pitch : copy->width,
		.srcHeight = depth > 1 && copy->src_rows ? copy->src_rows : height,
		.dstMemoryType = CUDA_MEMORY_UNIFIED,
		.dstDevice = (uintptr_t)copy->dst,
		.dstPitch = copy->dst_pitch ? copy->dst_pitch : copy->width,
		.dstHeight = depth > 1 && copy->dst_rows ? copy->dst_rows : height,
		.WidthInBytes = copy->width,
		.Height = height,
		.Depth = depth,
	};

	if (height == 1 && depth == 1)
		return NOTED(cuMemcpyAsync, (uintptr_t)copy->dst, (uintptr_t)copy->src, copy->width,
			     stream);
	return NOTED(cuMemcpy3DAsync_v2, &params, stream);
}

static int cuda_memset(void *stream, void *dst, uint32_t value, uint32_t element_bytes,
		       size_t width)
{
	cuda_address address = (uintptr_t)dst;

	if (element_bytes == 4)
		return NOTED(cuMemsetD32Async, address, value, width, stream);
	if (element_bytes == 2)
		return NOTED(cuMemsetD16Async, address, (unsigned short)value, width, stream);
	return NOTED(cuMemsetD8Async, address, (unsigned char)value, width, stream);
}

static int cuda_host(void *stream, void (*function)(void *user), void *user)
{
	return NOTED(cuLaunchHostFunc, stream, function, user);
}

static void *cuda_event_create(void)
{
	cuda_event event;

	CALL(cuEventCreate, &event, EVENT_DISABLE_TIMING);
	return event;
}

static void cuda_event_destroy(void *event)
{
	CALL(cuEventDestroy_v2, event);
}

static int cuda_event_record(void *stream, void *event)
{
	return NOTED(cuEventRecord, event, stream);
}

static int cuda_event_wait(void *stream, void *event)
{
	return NOTED(cuStreamWaitEvent, stream, event, 0);
}

static bool cuda_event_is_done(void *event)
{
	return bed_cuda_calls.cuEventQuery(event) == CUDA_OK;
}

/* ---- graphs ---- */

static void cuda_capture_begin(void *stream)
{
	CALL(cuStreamBeginCapture_v2, stream, CUDA_CAPTURE_THREAD_LOCAL);
}

static void cuda_capture_begin_global(void *stream)
{
	CALL(cuStreamBeginCapture_v2, stream, CUDA_CAPTURE_GLOBAL);
}

static void *cuda_capture_end(void *stream)
{
	cuda_graph graph;

	CALL(cuStreamEndCapture, stream, &graph);
	return graph;
}

static void cuda_graph_destroy(void *graph)
{
	CALL(cuGraphDestroy, graph);
}

/* No call captures a graph that is not instantiated. The child node is added at the capture's
 * position. */
static int cuda_graph_launch(void *stream, void *graph)
{
	uint32_t status;
	uint64_t id;
	cuda_graph into;
	const cuda_node *after;
	cuda_node node;
	size_t count;
	int result = bed_cuda_calls.cuStreamGetCaptureInfo_v2(stream, &status, &id, &into, &after,
							      &count);

	if (result == CUDA_OK)
		result = bed_cuda_calls.cuGraphAddChildGraphNode(&node, into, after, count, graph);
	if (result == CUDA_OK)
		result = bed_cuda_calls.cuStreamUpdateCaptureDependencies(stream, &node, 1,
									  SET_CAPTURE_DEPENDENT);
	return result;
}

static void *cuda_instantiate(void *graph)
{
	cuda_exec exec;

	CALL(cuGraphInstantiateWithFlags, &exec, graph, 0);
	return exec;
}

static void cuda_exec_destroy(void *exec)
{
	CALL(cuGraphExecDestroy, exec);
}

static void cuda_exec_launch(void *exec, void *stream)
{
	CALL(cuGraphLaunch, exec, stream);
}

static void cuda_attributes_get(void *node, struct dagpatch_attributes *ret_attributes)
{
	struct cuda_edge_data data[16];
	cuda_node from[16];
	size_t count = 16;
	union cuda_attribute_value value;

	CALL(cuGraphKernelNodeGetAttribute, node, CUDA_ATTRIBUTE_PRIORITY, &value);
	ret_attributes->priority = value.priority;
	CALL(cuGraphKernelNodeGetAttribute, node, CUDA_ATTRIBUTE_COOPERATIVE, &value);
	ret_attributes->cooperative = value.cooperative;
	CALL(cuGraphKernelNodeGetAttribute, node, CUDA_ATTRIBUTE_CLUSTER_DIMENSION, &value);
	memcpy(ret_attributes->cluster, &value.clusterDim, sizeof(ret_attributes->cluster));
	CALL(cuGraphNodeGetDependencies_v2, node, from, data, &count);
	ret_attributes->programmatic =
		count && data[0].type == CUDA_EDGE_PROGRAMMATIC ? data[0].from_port : 0;
}

static void cuda_attributes_set(void *node, const struct dagpatch_attributes *attributes)
{
	union cuda_attribute_value value;

	memset(&value, 0, sizeof(value));
	value.priority = attributes->priority;
	CALL(cuGraphKernelNodeSetAttribute, node, CUDA_ATTRIBUTE_PRIORITY, &value);
	memset(&value, 0, sizeof(value));
	value.cooperative = attributes->cooperative;
	CALL(cuGraphKernelNodeSetAttribute, node, CUDA_ATTRIBUTE_COOPERATIVE, &value);
	memcpy(&value.clusterDim, attributes->cluster, sizeof(attributes->cluster));
	CALL(cuGraphKernelNodeSetAttribute, node, CUDA_ATTRIBUTE_CLUSTER_DIMENSION, &value);
}

static void *cuda_graph_node(void *graph, uint32_t index)
{
	cuda_node nodes[16];
	size_t count = 16;

	CALL(cuGraphGetNodes, graph, nodes, &count);
	return index < count ? nodes[index] : NULL;
}

static bool has_priority_flag(cuda_exec exec)
{
	unsigned long long flags;

	CALL(cuGraphExecGetFlags, exec, &flags);
	return flags & CUDA_INSTANTIATE_USE_NODE_PRIORITY;
}

/* Driver 580 accepts the flag but does not return it; this finds out whether the driver does. */
static bool tells_priority_flag(void)
{
	cuda_graph graph;
	cuda_exec exec;
	bool tells;

	CALL(cuGraphCreate, &graph, 0);
	CALL(cuGraphInstantiateWithFlags, &exec, graph, CUDA_INSTANTIATE_USE_NODE_PRIORITY);
	tells = has_priority_flag(exec);
	CALL(cuGraphExecDestroy, exec);
	CALL(cuGraphDestroy, graph);
	return tells;
}

static int cuda_by_priorities(void *exec)
{
	return tells_priority_flag() ? has_priority_flag(exec) : -1;
}

static void *cuda_stream_with_priority(int priority)
{
	cuda_stream stream = NULL;

	return bed_cuda_calls.cuStreamCreateWithPriority(&stream, CUDA_STREAM_NON_BLOCKING,
							 priority) == CUDA_OK
		       ? stream
		       : NULL;
}

const struct bed bed_cuda = {
	.driver = "cuda",
	.open = cuda_open,
	.close = cuda_close,
	.device_count = cuda_device_count,
	.device_set = cuda_device_set,
	.device_current = cuda_device_current,
	.per_thread_stream = (void *)CUDA_STREAM_PER_THREAD,
	.alloc = cuda_alloc,
	.free = cuda_free,
	.alloc_host = cuda_alloc_host,
	.free_host = cuda_free_host,
	.write = cuda_move,
	.read = cuda_move,
	.stream_create = cuda_stream_create,
	.stream_destroy = cuda_stream_destroy,
	.stream_synchronize = cuda_stream_synchronize,
	.function = cuda_function_of,
	.launch = cuda_launch,
	.launch_block = cuda_launch_block,
	.no_rows_set = true,
	.copy = cuda_copy,
	.memset = cuda_memset,
	.host = cuda_host,
	.event_create = cuda_event_create,
	.event_destroy = cuda_event_destroy,
	.event_record = cuda_event_record,
	.event_wait = cuda_event_wait,
	.event_is_done = cuda_event_is_done,
	.capture_begin = cuda_capture_begin,
	.capture_begin_global = cuda_capture_begin_global,
	.capture_end = cuda_capture_end,
	.graph_destroy = cuda_graph_destroy,
	.graph_launch = cuda_graph_launch,
	.instantiate = cuda_instantiate,
	.exec_destroy = cuda_exec_destroy,
	.exec_launch = cuda_exec_launch,
	.has_stream_threads = true,
	.sets_functions = true,
	.attributes =
		DAGPATCH_PRIORITY | DAGPATCH_COOPERATIVE | DAGPATCH_CLUSTER | DAGPATCH_PROGRAMMATIC,
	.attributes_get = cuda_attributes_get,
	.attributes_set = cuda_attributes_set,
	.graph_node = cuda_graph_node,
	.by_priorities = cuda_by_priorities,
	.stream_with_priority = cuda_stream_with_priority,
};
