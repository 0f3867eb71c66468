/* launches MODE: calls every HIP function that launches a kernel and that the runtime has (HIP
 * 5.2.3 to 7.2.4), each once. Prints "NAME RESULT" for each call, and how many kernels it
 * launched outside of captures. MODE is one of:
 *
 * - plain: ordinary launches.
 * - empty: launches with an empty grid and with an empty block.
 * - captured: launches into a stream that is captured, into another stream that joined the
 *   capture, and into the per-thread stream. HIP 5.2.3 captures the launches of two of the
 *   functions, and runs the kernels of the others at once.
 * - many: launches on two devices.
 * - switched: a graph with a node that is disabled and enabled. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

enum { WORDS = 64 };

#define MODULE_SOURCE                                                                              \
	"extern \"C\" __global__ void of_module(unsigned int *data, unsigned int term, "           \
	"unsigned int count) { data[0] = term; }"

/* Arguments and addresses that all calls share. */
static struct {
	uint32_t *data;
	uint32_t term, count;
	void *pointers[3];
	hipFunction_t function;
	const void *stub;
} kernel;

static unsigned launched;

static void *find(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

/* ---- one function per launch call; each returns its result, or -1 if the runtime lacks it ---- */

typedef int launch(const char *symbol, dim3 grid, dim3 block, hipStream_t stream);

static int by_stub(const char *symbol, dim3 grid, dim3 block, hipStream_t stream)
{
	int (*call)(const void *, dim3, dim3, void **, size_t, hipStream_t) = find(symbol);

	return call ? call(kernel.stub, grid, block, kernel.pointers, 0, stream) : -1;
}

static int by_stub_cooperative(const char *symbol, dim3 grid, dim3 block, hipStream_t stream)
{
	int (*call)(const void *, dim3, dim3, void **, unsigned, hipStream_t) = find(symbol);

	return call ? call(kernel.stub, grid, block, kernel.pointers, 0, stream) : -1;
}

static int by_stub_ext(const char *symbol, dim3 grid, dim3 block, hipStream_t stream)
{
	int (*call)(const void *, dim3, dim3, void **, size_t, hipStream_t, hipEvent_t, hipEvent_t,
		    int) = find(symbol);

	return call ? call(kernel.stub, grid, block, kernel.pointers, 0, stream, NULL, NULL, 0)
		    : -1;
}

static int by_pointer(const char *symbol, dim3 grid, dim3 block, hipStream_t stream)
{
	int (*configure)(dim3, dim3, size_t, hipStream_t) = find("hipConfigureCall");
	int (*argument)(const void *, size_t, size_t) = find("hipSetupArgument");
	int (*call)(const void *) = find(symbol);
	int result;

	if (!configure || !argument || !call)
		return -1;
	result = configure(grid, block, 0, stream);
	if (result == 0)
		result = argument(&kernel.data, sizeof(kernel.data), 0);
	if (result == 0)
		result = argument(&kernel.term, sizeof(kernel.term), 8);
	if (result == 0)
		result = argument(&kernel.count, sizeof(kernel.count), 12);
	return result ? result : call(kernel.stub);
}

static int by_function(const char *symbol, dim3 grid, dim3 block, hipStream_t stream)
{
	int (*call)(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		    unsigned, hipStream_t, void **, void **) = find(symbol);

	return call ? call(kernel.function, grid.x, grid.y, grid.z, block.x, block.y, block.z, 0,
			   stream, kernel.pointers, NULL)
		    : -1;
}

static int by_function_cooperative(const char *symbol, dim3 grid, dim3 block, hipStream_t stream)
{
	int (*call)(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
		    unsigned, hipStream_t, void **) = find(symbol);

	return call ? call(kernel.function, grid.x, grid.y, grid.z, block.x, block.y, block.z, 0,
			   stream, kernel.pointers)
		    : -1;
}

/* This function takes a grid of work-items, not of blocks. */
static int by_function_ext(const char *symbol, dim3 grid, dim3 block, hipStream_t stream)
{
	int (*call)(hipFunction_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
		    size_t, hipStream_t, void **, void **, hipEvent_t, hipEvent_t, uint32_t) =
		find(symbol);

	return call ? call(kernel.function, grid.x * block.x, grid.y * block.y, grid.z * block.z,
			   block.x, block.y, block.z, 0, stream, kernel.pointers, NULL, NULL, NULL,
			   0)
		    : -1;
}

/* The layout of hipLaunchConfig_t, which the headers of HIP 5.2.3 do not have. */
struct config {
	dim3 grid, block;
	size_t shared_bytes;
	hipStream_t stream;
	void *attributes;
	unsigned attribute_count;
};

static int by_config(const char *symbol, dim3 grid, dim3 block, hipStream_t stream)
{
	const struct config config = {.grid = grid, .block = block, .stream = stream};
	int (*call)(const struct config *, const void *, void **) = find(symbol);

	return call ? call(&config, kernel.stub, kernel.pointers) : -1;
}

static int by_config_of_driver(const char *symbol, dim3 grid, dim3 block, hipStream_t stream)
{
	const struct config config = {.grid = grid, .block = block, .stream = stream};
	int (*call)(const struct config *, hipFunction_t, void **, void **) = find(symbol);

	return call ? call(&config, kernel.function, kernel.pointers, NULL) : -1;
}

static const struct {
	const char *symbol;
	launch *launch;
} functions[] = {
	{"hipLaunchKernel", by_stub},
	{"hipLaunchKernel_spt", by_stub},
	{"hipExtLaunchKernel", by_stub_ext},
	{"hipLaunchByPtr", by_pointer},
	{"hipLaunchCooperativeKernel", by_stub_cooperative},
	{"hipLaunchCooperativeKernel_spt", by_stub_cooperative},
	{"hipModuleLaunchKernel", by_function},
	{"hipModuleLaunchCooperativeKernel", by_function_cooperative},
	{"_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_"
	 "P11ihipEvent_"
	 "tS6_j",
	 by_function_ext},
	{"hipLaunchKernelExC", by_config},
	{"hipDrvLaunchKernelEx", by_config_of_driver},
};

#define FUNCTION_COUNT (sizeof(functions) / sizeof(functions[0]))

/* In HIP 5.2.3 all functions but hipLaunchKernel use the per-thread stream's constant as an
 * address. */
static bool takes(size_t function, hipStream_t stream)
{
	return stream != hipStreamPerThread || functions[function].launch == by_stub;
}

static void call_all(dim3 grid, dim3 block, hipStream_t stream, bool is_captured)
{
	bool is_empty = !(grid.x && grid.y && grid.z && block.x && block.y && block.z);

	for (size_t i = 0; i < FUNCTION_COUNT; i++) {
		int result;

		if (!takes(i, stream))
			continue;
		result = functions[i].launch(functions[i].symbol, grid, block, stream);

		printf("%s %d\n", functions[i].symbol, result);
		launched += result == 0 && !is_captured && !is_empty;
		hipGetLastError();
	}
}

/* ---- the modes ---- */

static const dim3 one = {1, 1, 1}, block = {WORDS, 1, 1};

static void plain(void)
{
	hipStream_t stream;

	HIP_CHECK(hipStreamCreate(&stream));
	call_all(one, block, stream, false);
	call_all(one, block, NULL, false);
	call_all(one, block, hipStreamPerThread, false);
	HIP_CHECK(hipDeviceSynchronize());
}

static void empty(void)
{
	const dim3 nothing[] = {{0, 1, 1}, {1, 0, 1}, {1, 1, 0}};
	hipStream_t stream;

	HIP_CHECK(hipStreamCreate(&stream));
	for (int i = 0; i < 3; i++) {
		call_all(nothing[i], block, stream, false);
		call_all(one, nothing[i], stream, false);
	}
	call_all(one, block, stream, false);
	HIP_CHECK(hipDeviceSynchronize());
}

static void capture_on(hipStream_t stream, hipStream_t drawn)
{
	hipGraph_t graph = NULL;
	hipEvent_t event;

	HIP_CHECK(hipEventCreate(&event));
	HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
	call_all(one, block, stream, true);
	if (drawn) {
		HIP_CHECK(hipEventRecord(event, stream));
		HIP_CHECK(hipStreamWaitEvent(drawn, event, 0));
		call_all(one, block, drawn, true);
		HIP_CHECK(hipEventRecord(event, drawn));
		HIP_CHECK(hipStreamWaitEvent(stream, event, 0));
	}
	/* A launch that cannot be captured (a cooperative one in HIP 5.2.3) may have ended the
	 * capture. */
	printf("end of the capture %d\n", hipStreamEndCapture(stream, &graph));
	hipGetLastError();
}

/* The _spt functions use the per-thread stream when the stream argument is NULL. */
static void capture_own(void)
{
	int (*begin)(hipStream_t, hipStreamCaptureMode) = find("hipStreamBeginCapture_spt");
	int (*end)(hipStream_t, hipGraph_t *) = find("hipStreamEndCapture_spt");
	hipGraph_t graph = NULL;
	int result;

	if (!begin || !end || begin(NULL, hipStreamCaptureModeRelaxed) != hipSuccess)
		return;
	result = by_stub("hipLaunchKernel_spt", one, block, NULL);
	printf("own hipLaunchKernel_spt %d\n", result);
	printf("own end of the capture %d\n", end(NULL, &graph));
}

static void captured(void)
{
	hipStream_t stream, other, drawn;

	HIP_CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	HIP_CHECK(hipStreamCreateWithFlags(&other, hipStreamNonBlocking));
	HIP_CHECK(hipStreamCreateWithFlags(&drawn, hipStreamNonBlocking));
	capture_on(stream, NULL);
	capture_on(other, drawn);
	capture_on(hipStreamPerThread, NULL);
	capture_own();
	HIP_CHECK(hipStreamCreate(&stream));
	call_all(one, block, stream, false);
	HIP_CHECK(hipDeviceSynchronize());
}

static void many(void)
{
	static const char *const symbols[] = {"hipExtLaunchMultiKernelMultiDevice",
					      "hipLaunchCooperativeKernelMultiDevice"};
	hipLaunchParams params[2];

	for (int device = 0; device < 2; device++) {
		HIP_CHECK(hipSetDevice(device));
		params[device] = (hipLaunchParams){.func = (void *)kernel.stub,
						   .gridDim = one,
						   .blockDim = block,
						   .args = kernel.pointers};
		HIP_CHECK(hipStreamCreate(&params[device].stream));
	}
	for (int i = 0; i < 2; i++) {
		int (*call)(hipLaunchParams *, int, unsigned) = find(symbols[i]);
		int result = call ? call(params, 2, 0) : -1;

		printf("%s %d\n", symbols[i], result);
		launched += result == 0 ? 2 : 0;
		hipGetLastError();
	}
	for (int device = 0; device < 2; device++) {
		HIP_CHECK(hipSetDevice(device));
		HIP_CHECK(hipDeviceSynchronize());
	}
}

/* A graph of three kernels, the second of which is disabled for a while. HIP 5.2.3 cannot
 * disable nodes. */
static void switched(void)
{
	int (*enable)(hipGraphExec_t, hipGraphNode_t, unsigned) = find("hipGraphNodeSetEnabled");
	hipKernelNodeParams params = {.func = (void *)kernel.stub,
				      .gridDim = one,
				      .blockDim = block,
				      .kernelParams = kernel.pointers};
	hipGraphNode_t nodes[3];
	hipGraphExec_t exec;
	hipGraph_t graph;

	HIP_CHECK(hipGraphCreate(&graph, 0));
	for (int i = 0; i < 3; i++)
		HIP_CHECK(hipGraphAddKernelNode(&nodes[i], graph, i ? &nodes[i - 1] : NULL, i > 0,
						&params));
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	for (unsigned replay = 0; replay < 6; replay++) {
		bool is_off = false;

		if (replay % 3 && enable)
			is_off = enable(exec, nodes[1], replay % 3 == 2) == 0 && replay % 3 == 1;
		HIP_CHECK(hipGraphLaunch(exec, NULL));
		launched += is_off ? 2 : 3;
	}
	HIP_CHECK(hipDeviceSynchronize());
	printf("launched %u\n", launched);
}

static void set_up(void)
{
	struct example_code code;
	hipModule_t module;

	kernels_register();
	example_compile(MODULE_SOURCE, &code);
	HIP_CHECK(hipModuleLoadData(&module, code.bytes));
	HIP_CHECK(hipModuleGetFunction(&kernel.function, module, "of_module"));
	HIP_CHECK(hipMalloc((void **)&kernel.data, WORDS * sizeof(uint32_t)));
	kernel.count = WORDS;
	kernel.pointers[0] = &kernel.data;
	kernel.pointers[1] = &kernel.term;
	kernel.pointers[2] = &kernel.count;
	kernel.stub = &example_kernels[MIX];
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {{"plain", plain},
		     {"empty", empty},
		     {"captured", captured},
		     {"many", many},
		     {"switched", switched}};

	setvbuf(stdout, NULL, _IOLBF, 0);
	set_up();
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (argc == 2 && !strcmp(argv[1], modes[i].name)) {
			modes[i].run();
			example_count_kernels(launched);
			return example_finish();
		}
	}
	example_fail("usage: launches plain|empty|captured|many|switched");
}
