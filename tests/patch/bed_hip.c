/* The bed on HIP (bed.h). hiprtc compiles the kernels of bed_hip_kernels.c when the bed is opened;
 * the software GPU runs the host functions of the same names. */
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bed.h"
#include "bed_hip_kernels.h"
#include "example.h"

/* The C library's function. HIP 5.2.3 polls in a loop with it for what its callbacks change. The
 * schedule would find out by the time that passes; host functions and the device's threads call it
 * too, but the suite's waits are in its main thread. */
__attribute__((visibility("default"))) int sched_yield(void)
{
	static void (*program_waits)(void);

	if (getpid() == gettid()) {
		if (!program_waits)
			*(void **)&program_waits = dlsym(RTLD_DEFAULT, "softgpu_program_waits");
		if (program_waits)
			program_waits();
	}
	return (int)syscall(SYS_sched_yield);
}

/* The module with the kernels, for launches by hipModuleLaunchKernel. HIP does not copy the
 * code, so it must stay. */
static hipModule_t module;
static struct example_code code;

/* One stream per device that moves bytes: hipMemcpy waits for streams that other threads
 * destroy. */
enum { MOST_DEVICES = 16 };
static hipStream_t own[MOST_DEVICES];

static int open_bed(void)
{
	int devices = 0;

	if (hipGetDeviceCount(&devices) != hipSuccess || devices == 0)
		return 77;
	example_register(bed_hip_source, bed_hip_kernels, BED_KERNELS);
	example_compile(bed_hip_source, &code);
	HIP_CHECK(hipModuleLoadData(&module, code.bytes));
	for (int i = devices < MOST_DEVICES ? devices : MOST_DEVICES; i-- > 0;) {
		HIP_CHECK(hipSetDevice(i));
		HIP_CHECK(hipStreamCreateWithFlags(&own[i], hipStreamNonBlocking));
	}
	return 0;
}

static void close_bed(void)
{
	HIP_CHECK(hipModuleUnload(module));
	free(code.bytes);
	for (int i = MOST_DEVICES; i-- > 0;)
		if (own[i])
			HIP_CHECK(hipStreamDestroy(own[i]));
}

static uint32_t device_count(void)
{
	int count;

	HIP_CHECK(hipGetDeviceCount(&count));
	return (uint32_t)count;
}

static void device_set(uint32_t device)
{
	HIP_CHECK(hipSetDevice((int)device));
}

static uint32_t device_current(void)
{
	int device;

	HIP_CHECK(hipGetDevice(&device));
	return (uint32_t)device;
}

static void *alloc(size_t bytes)
{
	void *address;

	HIP_CHECK(hipMalloc(&address, bytes));
	return address;
}

static void free_device(void *address)
{
	HIP_CHECK(hipFree(address));
}

static void *alloc_host(size_t bytes)
{
	void *address;

	HIP_CHECK(hipHostMalloc(&address, bytes, 0));
	return address;
}

static void free_host(void *address)
{
	HIP_CHECK(hipHostFree(address));
}

static void copy_bytes(void *dst, const void *src, size_t bytes)
{
	hipStream_t stream = own[device_current()];

	HIP_CHECK(hipMemcpyAsync(dst, src, bytes, hipMemcpyDefault, stream));
	HIP_CHECK(hipStreamSynchronize(stream));
}

static void *stream_create(void)
{
	hipStream_t stream;

	HIP_CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	return stream;
}

static void stream_destroy(void *stream)
{
	HIP_CHECK(hipStreamDestroy(stream));
}

static void stream_synchronize(void *stream)
{
	HIP_CHECK(hipStreamSynchronize(stream));
}

static void *function(enum bed_kernel kernel)
{
	return (void *)&bed_hip_kernels[kernel];
}

static int launch(void *stream, enum bed_kernel kernel, uint32_t grid, uint32_t block,
		  void *const *parameters)
{
	return hipLaunchKernel(&bed_hip_kernels[kernel], (dim3){grid, 1, 1}, (dim3){block, 1, 1},
			       (void **)parameters, 0, stream);
}

static hipPitchedPtr pitched(void *address, size_t pitch, size_t rows, const struct bed_copy *given)
{
	bool is_one_row = given->height <= 1 && given->depth <= 1;

	return (hipPitchedPtr){
		.ptr = address,
		.pitch = pitch && !is_one_row ? pitch : given->width,
		.xsize = given->width,
		.ysize = rows && given->depth > 1 ? rows : given->height,
	};
}

/* HIP 5.2 can read captured copies only if they are three-dimensional. */
#define READS_1D (HIP_VERSION_MAJOR > 5 || HIP_VERSION_MINOR > 2)

static int copy(void *stream, const struct bed_copy *given)
{
	bool is_one_row = given->height <= 1 && given->depth <= 1;
	const hipMemcpy3DParms params = {
		.dstPtr = pitched(given->dst, given->dst_pitch, given->dst_rows, given),
		.srcPtr = pitched((void *)given->src, given->src_pitch, given->src_rows, given),
		.extent = {given->width, given->height ? given->height : 1,
			   given->depth ? given->depth : 1},
		.kind = hipMemcpyDeviceToDevice,
	};

	if (READS_1D && is_one_row)
		return hipMemcpyAsync(given->dst, given->src, given->width, hipMemcpyDeviceToDevice,
				      stream);
	return hipMemcpy3DAsync(&params, stream);
}

static int launch_block(void *stream, enum bed_kernel kernel, uint32_t grid, uint32_t block,
			const void *arguments, size_t bytes)
{
	void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, (void *)arguments,
			 HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes, HIP_LAUNCH_PARAM_END};
	hipFunction_t found;

	HIP_CHECK(hipModuleGetFunction(&found, module, bed_hip_kernels[kernel].name));
	return hipModuleLaunchKernel(found, grid, 1, 1, block, 1, 1, 0, stream, NULL, extra);
}

#if READS_1D /* needs a HIP that has hipLaunchHostFunc */
static int host_function(void *stream, void (*function)(void *user), void *user)
{
	return hipLaunchHostFunc(stream, function, user);
}
#endif

/* hipGraphLaunch is not captured, so the child node is added to the captured graph directly. */
static int graph_launch(void *stream, void *graph)
{
	hipStreamCaptureStatus status;
	const hipGraphNode_t *last;
	hipGraphNode_t node;
	hipGraph_t captured;
	size_t count;
	unsigned long long id;
	hipError_t error =
		hipStreamGetCaptureInfo_v2(stream, &status, &id, &captured, &last, &count);

	if (error == hipSuccess)
		error = hipGraphAddChildGraphNode(&node, captured, last, count, graph);
	if (error == hipSuccess)
		error = hipStreamUpdateCaptureDependencies(stream, &node, 1,
							   hipStreamSetCaptureDependencies);
	return error;
}

static int set_memory(void *stream, void *dst, uint32_t value, uint32_t element_bytes, size_t width)
{
	if (element_bytes == 1)
		return hipMemsetD8Async(dst, (unsigned char)value, width, stream);
	if (element_bytes == 2)
		return hipMemsetD16Async(dst, (unsigned short)value, width, stream);
	return hipMemsetD32Async(dst, (int)value, width, stream);
}

static void *event_create(void)
{
	hipEvent_t event;

	HIP_CHECK(hipEventCreate(&event));
	return event;
}

static void event_destroy(void *event)
{
	HIP_CHECK(hipEventDestroy(event));
}

static int event_record(void *stream, void *event)
{
	return hipEventRecord(event, stream);
}

static int event_wait(void *stream, void *event)
{
	return hipStreamWaitEvent(stream, event, 0);
}

static bool event_is_done(void *event)
{
	return hipEventQuery(event) == hipSuccess;
}

static void capture_begin(void *stream)
{
	HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
}

static void capture_begin_global(void *stream)
{
	HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
}

static void *capture_end(void *stream)
{
	hipGraph_t graph;

	HIP_CHECK(hipStreamEndCapture(stream, &graph));
	return graph;
}

static void graph_destroy(void *graph)
{
	HIP_CHECK(hipGraphDestroy(graph));
}

static void add_edge(void *graph, uint32_t earlier, uint32_t later)
{
	hipGraphNode_t nodes[8];
	size_t count = 0;

	HIP_CHECK(hipGraphGetNodes(graph, NULL, &count));
	if (count > 8 || earlier >= count || later >= count)
		example_fail("a graph of %zu nodes", count);
	HIP_CHECK(hipGraphGetNodes(graph, nodes, &count));
	HIP_CHECK(hipGraphAddDependencies(graph, &nodes[earlier], &nodes[later], 1));
}

static void *instantiate(void *graph)
{
	hipGraphExec_t exec;

	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	return exec;
}

static void exec_destroy(void *exec)
{
	HIP_CHECK(hipGraphExecDestroy(exec));
}

static void exec_launch(void *exec, void *stream)
{
	HIP_CHECK(hipGraphLaunch(exec, stream));
}

/* HIP 5.2 runs launches of modules and of graphs at once, even in a stream that is captured. */
#if HIP_VERSION >= 60400000
#define HAS_ATTRIBUTES 1
static void attributes_get(void *node, struct dagpatch_attributes *ret_attributes)
{
	hipLaunchAttributeValue value;

	HIP_CHECK(hipGraphKernelNodeGetAttribute(node, hipLaunchAttributeCooperative, &value));
	ret_attributes->cooperative = value.cooperative;
}

static void attributes_set(void *node, const struct dagpatch_attributes *attributes)
{
	hipLaunchAttributeValue value;

	memset(&value, 0, sizeof(value));
	value.cooperative = attributes->cooperative;
	HIP_CHECK(hipGraphKernelNodeSetAttribute(node, hipLaunchAttributeCooperative, &value));
}

static void *graph_node(void *graph, uint32_t index)
{
	hipGraphNode_t nodes[16];
	size_t count = 16;

	HIP_CHECK(hipGraphGetNodes(graph, nodes, &count));
	return index < count ? nodes[index] : NULL;
}
#endif

const struct bed bed_hip = {
	.driver = "hip",
	.open = open_bed,
	.close = close_bed,
	.device_count = device_count,
	.device_set = device_set,
	.device_current = device_current,
	.per_thread_stream = hipStreamPerThread,
	.alloc = alloc,
	.free = free_device,
	.alloc_host = alloc_host,
	.free_host = free_host,
	.write = copy_bytes,
	.read = copy_bytes,
	.stream_create = stream_create,
	.stream_destroy = stream_destroy,
	.stream_synchronize = stream_synchronize,
	.function = function,
	.launch = launch,
	.launch_block = launch_block,
#if READS_1D
	.host = host_function,
#endif
	.graph_launch = graph_launch,
	.copy = copy,
	.memset = set_memory,
	.event_create = event_create,
	.event_destroy = event_destroy,
	.event_record = event_record,
	.event_wait = event_wait,
	.event_is_done = event_is_done,
	.capture_begin = capture_begin,
	.capture_begin_global = capture_begin_global,
	.capture_end = capture_end,
	.graph_destroy = graph_destroy,
	.add_edge = add_edge,
	.instantiate = instantiate,
	.exec_destroy = exec_destroy,
	.exec_launch = exec_launch,
	.has_stream_threads = true,
	.graph_calls_race = HIP_VERSION_MAJOR < 6,
	.no_captured_blocks = !READS_1D,
	.no_captured_rows = !READS_1D,
	.sets_functions = HIP_VERSION >= 60400000,
#ifdef HAS_ATTRIBUTES
	.attributes = DAGPATCH_COOPERATIVE,
	.attributes_get = attributes_get,
	.attributes_set = attributes_set,
	.graph_node = graph_node,
#endif
};
