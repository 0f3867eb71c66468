/* Programs that use HIP's graphs, captures and errors, one scene per run. A scene prints what it
 * did as lines "NAME VALUE" (handles in hex), for test_capture_hip_graphs.c and
 * test_capture_hip_calls.c. hip_memory_scenes.c has the scenes of memory. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "hip_scenes.h"
#include "kernels.h"

enum { WORDS = 256, BYTES = WORDS * 4 };

static uint32_t host_words[WORDS];

static uint32_t *device_words(void)
{
	void *memory;

	HIP_CHECK(hipMalloc(&memory, BYTES));
	HIP_CHECK(hipMemset(memory, 0, BYTES));
	return memory;
}

struct mix_arguments {
	uint32_t *data;
	uint32_t term, count;
	void *pointers[3];
	hipKernelNodeParams params;
};

static const hipKernelNodeParams *mix_params(struct mix_arguments *mix, uint32_t *data,
					     unsigned blocks, int kernel)
{
	mix->data = data;
	mix->term = 1;
	mix->count = WORDS;
	mix->pointers[0] = &mix->data;
	mix->pointers[1] = &mix->term;
	mix->pointers[2] = &mix->count;
	mix->params = (hipKernelNodeParams){
		.func = (void *)&example_kernels[kernel],
		.gridDim = {blocks, 1, 1},
		.blockDim = {64, 1, 1},
		.kernelParams = mix->pointers,
	};
	return &mix->params;
}

static hipGraphNode_t add_kernel(hipGraph_t graph, hipGraphNode_t after, uint32_t *data,
				 unsigned blocks, int kernel)
{
	struct mix_arguments mix;
	hipGraphNode_t node;

	HIP_CHECK(hipGraphAddKernelNode(&node, graph, &after, after != NULL,
					mix_params(&mix, data, blocks, kernel)));
	return node;
}

static void run(hipGraphExec_t exec, int times)
{
	hipStream_t stream;

	HIP_CHECK(hipStreamCreate(&stream));
	for (int i = 0; i < times; i++)
		HIP_CHECK(hipGraphLaunch(exec, stream));
	HIP_CHECK(hipStreamSynchronize(stream));
	HIP_CHECK(hipStreamDestroy(stream));
}

static void host_node(void *counter)
{
	++*(int *)counter;
}

static hipGraphNode_t add_copy_3d(hipGraph_t graph, hipGraphNode_t after, uint32_t *dst,
				  uint32_t *src)
{
	hipMemcpy3DParms copy = {
		.srcPtr = {src, 64, 64, 4},
		.dstPtr = {dst, 64, 64, 4},
		.extent = {64, 4, 1},
		.kind = hipMemcpyDeviceToDevice,
	};
	hipGraphNode_t node;

	HIP_CHECK(hipGraphAddMemcpyNode(&node, graph, &after, 1, &copy));
	return node;
}

static hipGraphNode_t add_memset(hipGraph_t graph, hipGraphNode_t after, uint32_t *dst)
{
	hipMemsetParams fill = {
		.dst = dst, .elementSize = 4, .height = 1, .value = 7, .width = WORDS};
	hipGraphNode_t node;

	HIP_CHECK(hipGraphAddMemsetNode(&node, graph, &after, after != NULL, &fill));
	return node;
}

/* Adds a chain of nodes after AFTER that submit nothing to the device; returns its last node. */
static hipGraphNode_t add_idle_nodes(hipGraph_t graph, hipGraphNode_t after,
				     hipHostNodeParams *host)
{
	hipGraphNode_t node;
	hipEvent_t event;

	HIP_CHECK(hipEventCreate(&event));
	HIP_CHECK(hipGraphAddEmptyNode(&node, graph, &after, 1));
	say_pointer("node", node);
	after = node;
	HIP_CHECK(hipGraphAddHostNode(&node, graph, &after, 1, host));
	say_pointer("node", node);
	after = node;
	HIP_CHECK(hipGraphAddEventRecordNode(&node, graph, &after, 1, event));
	say_pointer("node", node);
	after = node;
	HIP_CHECK(hipGraphAddEventWaitNode(&node, graph, &after, 1, event));
	say_pointer("node", node);
	return node;
}

/* Runs GRAPH three times and a clone of it once, and destroys both. */
static void replay_with_clone(hipGraph_t graph, hipGraphNode_t memset_node)
{
	hipGraphExec_t exec;
	hipGraphNode_t node;
	hipGraph_t clone;

	HIP_CHECK(hipGraphClone(&clone, graph));
	HIP_CHECK(hipGraphNodeFindInClone(&node, memset_node, clone));
	say_pointer("clone", clone);
	say_pointer("clone_memset", node);
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	say_pointer("exec", exec);
	run(exec, 3);
	HIP_CHECK(hipGraphExecDestroy(exec));
	HIP_CHECK(hipGraphInstantiateWithFlags(&exec, clone, 0));
	run(exec, 1);
	HIP_CHECK(hipGraphExecDestroy(exec));
	HIP_CHECK(hipGraphDestroy(graph));
	HIP_CHECK(hipGraphDestroy(clone));
}

/* One chain with every kind of node that this HIP has, and a child graph in the middle. */
static int nodes(void)
{
	uint32_t *data = device_words(), *other = device_words();
	hipGraph_t graph, child;
	hipGraphNode_t node, after, memset_node;
	static int host_calls;
	hipHostNodeParams host = {host_node, &host_calls};

	HIP_CHECK(hipGraphCreate(&graph, 0));
	HIP_CHECK(hipGraphCreate(&child, 0));
	say_pointer("graph", graph);
	node = add_kernel(child, NULL, data, 2, MIX);
	node = add_kernel(child, node, data, 3, ROTATE);

	node = memset_node = add_memset(graph, NULL, data);
	say_pointer("node", node);
	after = node;
	HIP_CHECK(hipGraphAddMemcpyNode1D(&node, graph, &after, 1, other, data, BYTES,
					  hipMemcpyDeviceToDevice));
	say_pointer("node", node);
	node = add_copy_3d(graph, node, data, other);
	say_pointer("node", node);
	after = node;
	HIP_CHECK(hipGraphAddChildGraphNode(&node, graph, &after, 1, child));
	say_pointer("node", node);
	if (roctxRangePushA)
		roctxRangePushA("kernel under a range");
	node = add_kernel(graph, node, data, 4, MIX);
	if (roctxRangePop)
		roctxRangePop();
	say_pointer("node", node);
	after = add_idle_nodes(graph, node, &host);
	HIP_CHECK(hipGraphAddMemcpyNode1D(&node, graph, &after, 1, host_words, data, BYTES,
					  hipMemcpyDeviceToHost));
	say_pointer("node", node);
	HIP_CHECK(hipGraphMemcpyNodeSetParams1D(node, host_words, data, BYTES / 2,
						hipMemcpyDeviceToHost));
	say_pointer("data", data);
	say_pointer("other", other);
	say_pointer("host", host_words);
	replay_with_clone(graph, memset_node);
	HIP_CHECK(hipGraphDestroy(child));
	if (host_calls != 4)
		example_fail("%d host calls", host_calls);
	return 0;
}

/* Two streams, forked and joined, with every asynchronous call that HIP can capture. */
static int capture(void)
{
	uint32_t *data = device_words(), *other = device_words();
	uint32_t term = 1, count = WORDS;
	void *first[] = {&data, &term, &count}, *second[] = {&other, &term, &count};
	hipStream_t main_stream, side;
	hipEvent_t fork, join;
	hipGraph_t graph;
	hipGraphExec_t exec;

	HIP_CHECK(hipStreamCreate(&main_stream));
	HIP_CHECK(hipStreamCreate(&side));
	HIP_CHECK(hipEventCreate(&fork));
	HIP_CHECK(hipEventCreate(&join));
	HIP_CHECK(hipStreamBeginCapture(main_stream, hipStreamCaptureModeThreadLocal));
	HIP_CHECK(hipMemcpyAsync(data, host_words, BYTES, hipMemcpyHostToDevice, main_stream));
	HIP_CHECK(hipEventRecord(fork, main_stream));
	HIP_CHECK(hipStreamWaitEvent(side, fork, 0));
	example_capture(&example_kernels[MIX], 4, 64, first, main_stream);
	HIP_CHECK(hipMemsetAsync(other, 3, BYTES, side));
	example_capture(&example_kernels[ROTATE], 4, 64, second, side);
	HIP_CHECK(hipEventRecord(join, side));
	HIP_CHECK(hipStreamWaitEvent(main_stream, join, 0));
	HIP_CHECK(hipMemcpyDtoDAsync(other, data, BYTES, main_stream));
	HIP_CHECK(hipMemcpy2DAsync(host_words, 64, data, 64, 64, 4, hipMemcpyDeviceToHost,
				   main_stream));
	HIP_CHECK(hipStreamEndCapture(main_stream, &graph));
	say_pointer("graph", graph);
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	run(exec, 2);
	HIP_CHECK(hipGraphExecDestroy(exec));
	HIP_CHECK(hipGraphDestroy(graph));
	return 0;
}

/* The program sets the capture's dependencies back to the first node, which creates no node. */
static int steered(void)
{
	uint32_t *data = device_words();
	uint32_t term = 1, count = WORDS;
	void *arguments[] = {&data, &term, &count};
	hipStream_t stream;
	hipStreamCaptureStatus status;
	const hipGraphNode_t *last;
	hipGraphNode_t first;
	hipGraph_t graph;
	hipGraphExec_t exec;
	size_t last_count;

	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
	example_capture(&example_kernels[MIX], 1, 64, arguments, stream);
	HIP_CHECK(hipStreamGetCaptureInfo_v2(stream, &status, NULL, NULL, &last, &last_count));
	first = last[0];
	example_capture(&example_kernels[ROTATE], 2, 64, arguments, stream);
	HIP_CHECK(hipStreamUpdateCaptureDependencies(stream, &first, 1,
						     hipStreamSetCaptureDependencies));
	example_capture(&example_kernels[MIX], 3, 64, arguments, stream);
	HIP_CHECK(hipStreamEndCapture(stream, &graph));
	say_pointer("graph", graph);
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	run(exec, 1);
	return 0;
}

static hipGraph_t diamond(uint32_t *data, uint32_t *other, unsigned blocks, bool side_first)
{
	hipGraphNode_t top, left, right, bottom, ends[2];
	struct mix_arguments mix;
	hipGraph_t graph;

	HIP_CHECK(hipGraphCreate(&graph, 0));
	top = add_kernel(graph, NULL, data, blocks, MIX);
	/* HIP walks a graph by its edges, so the order in which edges are added decides which
	 * branch comes first. */
	if (side_first) {
		right = add_kernel(graph, top, other, blocks, ROTATE);
		left = add_kernel(graph, top, data, blocks, ROTATE);
	} else {
		left = add_kernel(graph, top, data, blocks, ROTATE);
		right = add_kernel(graph, top, other, blocks, ROTATE);
	}
	ends[0] = left;
	ends[1] = right;
	HIP_CHECK(hipGraphAddKernelNode(&bottom, graph, ends, 2,
					mix_params(&mix, data, blocks, MIX)));
	say_pointer(side_first ? "new_node" : "node", top);
	say_pointer(side_first ? "new_node" : "node", left);
	say_pointer(side_first ? "new_node" : "node", right);
	say_pointer(side_first ? "new_node" : "node", bottom);
	return graph;
}

static void update_copies(uint32_t *data, uint32_t *other)
{
	hipMemsetParams new_fill = {
		.dst = other, .elementSize = 4, .height = 1, .value = 9, .width = WORDS / 2};
	hipGraphNode_t copy, fill;
	hipGraphExec_t copies_exec;
	hipGraph_t copies;

	HIP_CHECK(hipGraphCreate(&copies, 0));
	HIP_CHECK(hipGraphAddMemcpyNode1D(&copy, copies, NULL, 0, other, data, BYTES,
					  hipMemcpyDeviceToDevice));
	fill = add_memset(copies, copy, data);
	HIP_CHECK(hipGraphInstantiate(&copies_exec, copies, NULL, NULL, 0));
	HIP_CHECK(hipGraphExecMemcpyNodeSetParams1D(copies_exec, copy, data, other, BYTES / 4,
						    hipMemcpyDeviceToDevice));
	HIP_CHECK(hipGraphExecMemsetNodeSetParams(copies_exec, fill, &new_fill));
	say_pointer("copy", copy);
	say_pointer("fill", fill);
	run(copies_exec, 1);
	HIP_CHECK(hipGraphExecDestroy(copies_exec));
}

/* Every call that changes an executable graph, and an update that fails. */
static int updates(void)
{
	uint32_t *data = device_words(), *other = device_words();
	hipGraph_t graph = diamond(data, other, 1, false),
		   new_graph = diamond(data, other, 2, true);
	hipGraphNode_t top, error_node;
	hipGraphExecUpdateResult update;
	struct mix_arguments mix;
	hipGraph_t too_small;
	hipGraphExec_t exec;
	size_t one = 1;

	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP_CHECK(hipGraphGetNodes(graph, &top, &one));
	HIP_CHECK(hipGraphExecKernelNodeSetParams(exec, top, mix_params(&mix, data, 4, MIX)));
	run(exec, 1);
	HIP_CHECK(hipGraphExecUpdate(exec, new_graph, &error_node, &update));
	run(exec, 1);
	HIP_CHECK(hipGraphExecUpdate(exec, new_graph, &error_node, &update));

	HIP_CHECK(hipGraphCreate(&too_small, 0));
	add_kernel(too_small, NULL, data, 1, MIX);
	if (hipGraphExecUpdate(exec, too_small, &error_node, &update) == hipSuccess)
		example_fail("an update with another topology went through");
	say("last_error", (uint64_t)hipGetLastError());

	update_copies(data, other);
	HIP_CHECK(hipGraphExecDestroy(exec));
	return 0;
}

static void expect_error(const char *what, hipError_t got, hipError_t want)
{
	hipError_t last = hipGetLastError();

	if (got != want || last != want)
		example_fail("%s: returned %d, last error %d, not %d", what, got, last, want);
}

/* Calls that fail. The program must see the same results with and without the tool. */
static int errors(void)
{
	hipStream_t stream, other;
	hipGraph_t graph = NULL;
	hipGraphNode_t node;
	void *memory;

	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipStreamCreate(&other));
	expect_error("hipMalloc", hipMalloc(&memory, (size_t)1 << 60), hipErrorOutOfMemory);
	expect_error("hipStreamBeginCapture", hipStreamBeginCapture(NULL, 0),
		     hipErrorStreamCaptureUnsupported);
	HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
	expect_error("hipMemcpyAsync",
		     hipMemcpyAsync(NULL, host_words, 8, hipMemcpyHostToDevice, stream),
		     hipErrorInvalidValue);
	expect_error("hipStreamEndCapture", hipStreamEndCapture(other, &graph),
		     hipErrorStreamCaptureUnmatched);
	HIP_CHECK(hipStreamEndCapture(stream, &graph));
	expect_error("hipGraphAddKernelNode", hipGraphAddKernelNode(&node, graph, NULL, 0, NULL),
		     hipErrorInvalidValue);
	HIP_CHECK(hipGraphDestroy(graph));
	expect_error("hipGraphDestroy", hipGraphDestroy(graph), hipErrorIllegalState);
	expect_error("hipGraphLaunch", hipGraphLaunch((hipGraphExec_t)host_words, stream),
		     hipErrorInvalidValue);
	return 0;
}

/* A call that HIP makes inside another call: hipGraphExecChildGraphNodeSetParams calls
 * hipGraphExecUpdate, which accepts only a child with the shape of the whole graph. */
static int nested(void)
{
	uint32_t *data = device_words();
	hipGraph_t graph, child, like;
	hipGraphNode_t node, inner;
	hipGraphExec_t exec;

	HIP_CHECK(hipGraphCreate(&graph, 0));
	HIP_CHECK(hipGraphCreate(&child, 0));
	HIP_CHECK(hipGraphCreate(&like, 0));
	add_kernel(child, NULL, data, 1, MIX);
	HIP_CHECK(hipGraphAddChildGraphNode(&node, graph, NULL, 0, child));
	HIP_CHECK(hipGraphAddChildGraphNode(&inner, like, NULL, 0, child));
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	say("result", (uint64_t)hipGraphExecChildGraphNodeSetParams(exec, node, like));
	return 0;
}

static void *build_and_launch(void *kernel)
{
	uint32_t *data = device_words();
	hipGraph_t graph;
	hipGraphExec_t exec;

	for (int i = 0; i < 50; i++) {
		hipGraphNode_t node = NULL;

		HIP_CHECK(hipGraphCreate(&graph, 0));
		for (int k = 0; k < 5; k++)
			node = add_kernel(graph, node, data, 1, (int)(intptr_t)kernel);
		HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
		HIP_CHECK(hipGraphDestroy(graph));
		run(exec, 2);
		HIP_CHECK(hipGraphExecDestroy(exec));
	}
	return NULL;
}

/* Threads that build and launch graphs at the same time, each with its own kernel. (HIP 5.2
 * mixes up the arguments when several threads launch the same kernel through graphs.) */
static int threads(void)
{
	pthread_t ids[2];

	for (intptr_t i = 0; i < 2; i++)
		if (pthread_create(&ids[i], NULL, build_and_launch, (void *)i))
			example_fail("no thread");
	for (int i = 0; i < 2; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

/* Takes HIP's functions with dlsym from the library itself, so no wrapper sees the calls. */
static int unseen(void)
{
	void *library = dlopen("libamdhip64.so.5", RTLD_NOW);
	hipError_t (*set)(void *, int, size_t) =
		(hipError_t(*)(void *, int, size_t))dlsym(library, "hipMemset");
	hipError_t (*allocate)(void **, size_t) =
		(hipError_t(*)(void **, size_t))dlsym(library, "hipMalloc");
	hipError_t (*wait)(void) = (hipError_t(*)(void))dlsym(library, "hipDeviceSynchronize");
	void *memory;

	if (allocate(&memory, BYTES) || set(memory, 0, BYTES) || wait())
		example_fail("unseen calls fail");
	return 0;
}

/* Calls that only read or set a state, also as the first and the last of the process, and two that
 * do more. */
static int reads(void)
{
	int count, device;
	void *memory;

	if (hipGetDeviceCount(&count) || hipSetDevice(0) || hipGetDevice(&device) ||
	    hipGetLastError() || hipMalloc(&memory, BYTES) || hipPeekAtLastError() ||
	    hipFree(memory) || hipGetDevice(&device))
		example_fail("a call fails");
	return 0;
}

/* Linked with HIP, with kernels registered by constructors, but without any use of the GPU. */
static int idle(void)
{
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*play)(void);
		bool has_kernels;
	} scenes[] = {
		{"nodes", nodes, true},
		{"capture", capture, true},
		{"steered", steered, true},
		{"updates", updates, true},
		{"errors", errors, false},
		{"nested", nested, true},
		{"threads", threads, true},
		{"unseen", unseen, false},
		{"idle", idle, false},
		{"reads", reads, false},
		{"allocations", allocations, false},
		{"captured-memory", captured_memory, false},
		{"held", held_memory, false},
		{"device-reset", device_reset, false},
	};

	for (size_t i = 0; argc > 1 && i < sizeof(scenes) / sizeof(*scenes); i++) {
		if (strcmp(argv[1], scenes[i].name) != 0)
			continue;
		if (scenes[i].has_kernels)
			kernels_register();
		return scenes[i].play();
	}
	fprintf(stderr, "usage: %s SCENE\n", argv[0]);
	return 2;
}
