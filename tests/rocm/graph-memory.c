/*
 * graph-memory SCENE: graphs that allocate and free memory. Prints what HIP says of the memory of
 * its graphs: "used BYTES" at the end and "high BYTES", the most of all times.
 */
#include "common/kernels.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { MIB = 1 << 20, REPLAYS = 5 };

static hipStream_t stream;
static int device;

static void scope(const char *name)
{
	int (*push)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "roctxRangePushA");
	int (*pop)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "roctxRangePop");

	if (name && push)
		push(name);
	else if (!name && pop)
		pop();
}

static hipMemAllocNodeParams params_of(size_t bytes)
{
	hipMemAllocNodeParams params;

	memset(&params, 0, sizeof(params));
	params.poolProps.allocType = hipMemAllocationTypePinned;
	params.poolProps.location.type = hipMemLocationTypeDevice;
	params.poolProps.location.id = device;
	params.bytesize = bytes;
	return params;
}

static void replay(hipGraphExec_t exec, int times)
{
	for (int i = 0; i < times; i++)
		HIP_CHECK(hipGraphLaunch(exec, stream));
	HIP_CHECK(hipStreamSynchronize(stream));
}

/* Allocates, fills and frees 1 MiB, then 2 MiB, which are not freed if KEEPS. */
static hipGraph_t capture(bool keeps, void **ret_kept)
{
	hipGraph_t graph;
	void *first;

	HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	scope("first layer");
	HIP_CHECK(hipMallocAsync(&first, MIB, stream));
	HIP_CHECK(hipMemsetAsync(first, 1, MIB, stream));
	HIP_CHECK(hipFreeAsync(first, stream));
	scope(NULL);
	scope("second layer");
	HIP_CHECK(hipMallocAsync(ret_kept, 2 * MIB, stream));
	HIP_CHECK(hipMemsetAsync(*ret_kept, 1, 2 * MIB, stream));
	if (!keeps)
		HIP_CHECK(hipFreeAsync(*ret_kept, stream));
	scope(NULL);
	HIP_CHECK(hipStreamEndCapture(stream, &graph));
	return graph;
}

static void captured(void)
{
	hipGraphExec_t exec;
	void *memory;

	HIP_CHECK(hipGraphInstantiate(&exec, capture(false, &memory), NULL, NULL, 0));
	replay(exec, REPLAYS);
	HIP_CHECK(hipDeviceGraphMemTrim(device));
	replay(exec, 1);
}

/* The second launch fails: HIP allows no other one while memory of the first is there. */
static void kept(void)
{
	hipGraphExec_t exec;
	void *memory;

	HIP_CHECK(hipGraphInstantiate(&exec, capture(true, &memory), NULL, NULL, 0));
	replay(exec, 1);
	if (hipGraphLaunch(exec, stream) == hipSuccess)
		example_fail("a launch with memory left");
}

/* What the graph leaves is freed by the program. */
static void freed_outside(void)
{
	hipGraphExec_t exec;
	void *memory;

	HIP_CHECK(hipGraphInstantiate(&exec, capture(true, &memory), NULL, NULL, 0));
	replay(exec, 1);
	HIP_CHECK(hipFreeAsync(memory, stream));
	HIP_CHECK(hipStreamSynchronize(stream));
}

static void freed_on_launch(void)
{
	hipGraphExec_t exec;
	void *memory;

	HIP_CHECK(hipGraphInstantiateWithFlags(&exec, capture(true, &memory),
					       hipGraphInstantiateFlagAutoFreeOnLaunch));
	replay(exec, REPLAYS);
}

/* An update changes no memory. */
static void updated(void)
{
	hipGraphExec_t exec;
	hipGraphNode_t node;
	hipGraphExecUpdateResult result;
	hipGraph_t graphs[2];
	void *memory;

	for (int i = 0; i < 2; i++) {
		HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
		HIP_CHECK(hipMallocAsync(&memory, (i ? 8 : 1) * MIB, stream));
		HIP_CHECK(hipStreamEndCapture(stream, &graphs[i]));
	}
	HIP_CHECK(hipGraphInstantiate(&exec, graphs[0], NULL, NULL, 0));
	HIP_CHECK(hipGraphExecUpdate(exec, graphs[1], &node, &result));
	replay(exec, 1);
}

static hipGraph_t nodes(bool by_general_call)
{
	hipMemAllocNodeParams params = params_of(4 * MIB);
	hipGraphNode_t allocation, release;
	hipGraphNodeParams general;
	hipGraph_t graph;

	HIP_CHECK(hipGraphCreate(&graph, 0));
	memset(&general, 0, sizeof(general));
	if (by_general_call) {
		general.type = hipGraphNodeTypeMemAlloc;
		general.alloc = params;
		HIP_CHECK(hipGraphAddNode(&allocation, graph, NULL, 0, &general));
		memset(&general, 0, sizeof(general));
		HIP_CHECK(hipGraphMemAllocNodeGetParams(allocation, &params));
		general.type = hipGraphNodeTypeMemFree;
		general.free.dptr = params.dptr;
		HIP_CHECK(hipGraphAddNode(&release, graph, &allocation, 1, &general));
	} else {
		HIP_CHECK(hipGraphAddMemAllocNode(&allocation, graph, NULL, 0, &params));
		HIP_CHECK(hipGraphAddMemFreeNode(&release, graph, &allocation, 1, params.dptr));
	}
	return graph;
}

static void added(void)
{
	hipGraphInstantiateParams params;
	hipGraphExec_t exec;

	memset(&params, 0, sizeof(params));
	HIP_CHECK(hipGraphInstantiateWithParams(&exec, nodes(true), &params));
	replay(exec, REPLAYS);
}

static void child(void)
{
	hipGraph_t graph;
	hipGraphNode_t node;
	hipGraphExec_t exec;

	HIP_CHECK(hipGraphCreate(&graph, 0));
	HIP_CHECK(hipGraphAddChildGraphNode(&node, graph, NULL, 0, nodes(false)));
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	replay(exec, REPLAYS);
}

static void second_device(void)
{
	device = 1;
	HIP_CHECK(hipSetDevice(device));
	HIP_CHECK(hipStreamCreate(&stream));
	kept();
}

static const struct {
	const char *name;
	void (*run)(void);
} scenes[] = {
	{"captured", captured},
	{"kept", kept},
	{"freed-outside", freed_outside},
	{"updated", updated},
	{"added", added},
	{"freed-on-launch", freed_on_launch},
	{"child", child},
	{"second-device", second_device},
};

static void say(const char *name, hipGraphMemAttributeType attribute)
{
	uint64_t bytes;

	HIP_CHECK(hipDeviceGetGraphMemAttribute(device, attribute, &bytes));
	printf("%s %lu\n", name, (unsigned long)bytes);
}

int main(int argc, char **argv)
{
	HIP_CHECK(hipStreamCreate(&stream));
	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (argc > 1 && !strcmp(argv[1], scenes[i].name))
			scenes[i].run();
	}
	say("used", hipGraphMemAttrUsedMemCurrent);
	say("high", hipGraphMemAttrUsedMemHigh);
	return example_finish();
}
