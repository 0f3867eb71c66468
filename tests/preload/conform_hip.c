/*
 * conform-hip BETWEEN: as conform_cuda.c with the calls of calls_hip.list, on HIP over the software
 * GPU. Calls that this release of HIP does not have end in libbetween.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hsa/hsa.h>

#include "between_calls.h"
#include "common/example.h"

enum {
	WORDS = 8,
	BYTES = WORDS * 4,
	FORGETS_MEMSETS_FROM = 60300000,
	FORGETS_MEMSETS_TO = 70200000,
	SETS_CHILDREN_FROM = 60400000,
};

static const struct {
	const char *name;
	enum call_class class;
} calls[] = {
#define CALL(name, class) {#name, class},
#include "calls_hip.list"
#undef CALL
};

static const char source[] =
	"extern \"C\" __global__ void preload_mark(unsigned *at, unsigned value)\n"
	"{ *at += value; }\n";
static const struct example_kernel mark = {"preload_mark"};

__attribute__((visibility("default"))) void
softgpu_kernel_preload_mark(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);
void softgpu_kernel_preload_mark(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
}

typedef int any_call(void *, void *, void *, void *, void *, void *);

static struct between *between;
static const char *checked; /* the call */
static int version;

static void expect(const char *what, uint64_t got, uint64_t want)
{
	if (got != want)
		example_fail("%s: %s: %llu, expected %llu", checked, what, (unsigned long long)got,
			     (unsigned long long)want);
}

static bool is_wrapped(const void *function)
{
	Dl_info info;

	return dladdr(function, &info) && info.dli_fname &&
	       strstr(info.dli_fname, "dagpatch-preload");
}

static any_call *find(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	any_call *call;

	memcpy(&call, &found, sizeof(call));
	return call;
}

static bool is_call(const char *name)
{
	return strcmp(checked, name) == 0;
}

/* ---- a program with an executable graph ---- */

struct program {
	hipStream_t stream;
	hipGraph_t graph, child;
	hipGraphExec_t exec;
	hipGraphNode_t kernel, copy_1d, copy, memset, host, record, wait, nested, in_child;
	hipEvent_t events[2];
	uint32_t *buffer;
	uint64_t sets; /* calls that set a node and reached HIP, before the checked call */
};

struct kernel {
	uint32_t *at;
	uint32_t value;
	void *pointers[2];
	hipKernelNodeParams params;
};

static hipKernelNodeParams *fill(struct kernel *kernel, const struct program *program,
				 uint32_t value)
{
	*kernel = (struct kernel){
		.at = program->buffer,
		.value = value,
		.params = {.func = (void *)&mark, .gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}},
	};
	kernel->pointers[0] = &kernel->at;
	kernel->pointers[1] = &kernel->value;
	kernel->params.kernelParams = kernel->pointers;
	return &kernel->params;
}

static hipMemcpy3DParms copy_params(const struct program *program, uint32_t variant)
{
	return (hipMemcpy3DParms){
		.srcPtr = {program->buffer, BYTES, BYTES, 1},
		.dstPtr = {program->buffer + WORDS, BYTES, BYTES, 1},
		.extent = {4 + 4 * variant, 1, 1},
		.kind = hipMemcpyDeviceToDevice,
	};
}

static hipMemsetParams memset_params(const struct program *program, uint32_t variant)
{
	return (hipMemsetParams){.dst = program->buffer,
				 .elementSize = 4,
				 .value = variant,
				 .width = WORDS,
				 .height = 1,
				 .pitch = BYTES};
}

static void work(void *user)
{
}

static void add_nodes(struct program *program)
{
	hipMemcpy3DParms copy = copy_params(program, 0);
	hipMemsetParams memset = memset_params(program, 0);
	hipHostNodeParams host = {work, NULL};
	struct kernel kernel;
	hipGraph_t graph = program->graph;

	HIP_CHECK(
		hipGraphAddKernelNode(&program->kernel, graph, NULL, 0, fill(&kernel, program, 1)));
	HIP_CHECK(hipGraphAddMemcpyNode1D(&program->copy_1d, graph, &program->kernel, 1,
					  program->buffer, program->buffer + WORDS, 4,
					  hipMemcpyDeviceToDevice));
	HIP_CHECK(hipGraphAddMemcpyNode(&program->copy, graph, &program->copy_1d, 1, &copy));
	HIP_CHECK(hipGraphAddMemsetNode(&program->memset, graph, &program->copy, 1, &memset));
	HIP_CHECK(hipGraphAddHostNode(&program->host, graph, &program->memset, 1, &host));
	HIP_CHECK(hipGraphAddEventRecordNode(&program->record, graph, &program->host, 1,
					     program->events[0]));
	HIP_CHECK(hipGraphAddEventWaitNode(&program->wait, graph, &program->record, 1,
					   program->events[0]));
	HIP_CHECK(hipGraphAddChildGraphNode(&program->nested, graph, &program->wait, 1,
					    program->child));
}

static void set_kernel(struct program *program, uint32_t value)
{
	struct kernel kernel;

	HIP_CHECK(hipGraphExecKernelNodeSetParams(program->exec, program->kernel,
						  fill(&kernel, program, value)));
}

static uint64_t sets_now(void)
{
	return between->count("hipGraphExecKernelNodeSetParams");
}

/* Both sets were accepted; the executable has the second one, the first one is wanted. Nothing is
 * launched, because HIP 5.2.3 overwrites memory when it runs host nodes. */
static void make(struct program *program)
{
	struct kernel kernel;

	*program = (struct program){0};
	HIP_CHECK(hipStreamCreateWithFlags(&program->stream, hipStreamNonBlocking));
	HIP_CHECK(hipMalloc((void **)&program->buffer, 2 * BYTES));
	for (int i = 0; i < 2; i++)
		HIP_CHECK(hipEventCreateWithFlags(&program->events[i], hipEventDisableTiming));
	HIP_CHECK(hipGraphCreate(&program->child, 0));
	HIP_CHECK(hipGraphAddKernelNode(&program->in_child, program->child, NULL, 0,
					fill(&kernel, program, 9)));
	HIP_CHECK(hipGraphCreate(&program->graph, 0));
	add_nodes(program);
	HIP_CHECK(hipGraphInstantiate(&program->exec, program->graph, NULL, NULL, 0));
	set_kernel(program, 0);
	set_kernel(program, 1);
	set_kernel(program, 0);
	program->sets = sets_now();
}

static void destroy(struct program *program)
{
	HIP_CHECK(hipStreamSynchronize(program->stream));
	if (program->exec)
		HIP_CHECK(hipGraphExecDestroy(program->exec));
	HIP_CHECK(hipGraphDestroy(program->graph));
	HIP_CHECK(hipGraphDestroy(program->child));
	for (int i = 0; i < 2; i++)
		HIP_CHECK(hipEventDestroy(program->events[i]));
	HIP_CHECK(hipFree(program->buffer));
	HIP_CHECK(hipStreamDestroy(program->stream));
}

/* ---- what is checked ---- */

/* The first executable was given what was wanted, by one call. */
static void expect_settled(const struct program *program)
{
	expect("calls that gave the executable what was wanted", sets_now() - program->sets, 1);
}

/* Sets that HIP has accepted before reach it only if the executable passes through. */
static void expect_passing(struct program *program, bool is_passing)
{
	uint64_t before = sets_now();

	set_kernel(program, 1);
	set_kernel(program, 0);
	expect("sets that reach HIP", sets_now() - before, is_passing ? 2 : 0);
}

/* Makes the checked call, which ends in libbetween. */
static void make_swallowed(any_call *call, void *first, void *second, void *third)
{
	uint64_t before = between->count(checked);
	/* The library destroys its clone of the graph, too. */
	uint64_t reached = is_call("hipGraphDestroy") ? 2 : 1;

	between->swallowed = checked;
	between->first = first;
	call(first, second, third, NULL, NULL, NULL);
	between->swallowed = NULL;
	between->first = NULL;
	expect("calls that reach HIP", between->count(checked) - before, reached);
}

static void check_passes(any_call *call, struct program *program)
{
	uint64_t place[64] = {0};
	void *first = is_call("hipGraphDestroy")       ? (void *)program->graph
		      : is_call("hipGraphDestroyNode") ? (void *)program->kernel
						       : (void *)program->exec;

	make_swallowed(call, first, program->kernel, place);
	expect_settled(program);
	expect_passing(program, true);
}

static void check_passed_on(any_call *call, struct program *program)
{
	uint64_t place;

	make_swallowed(call, program->exec, program->kernel, &place);
	expect_settled(program);
	expect_passing(program, false);
}

/* A function may have the handle of an old one, so HIP is asked once. */
static void check_functions_end(any_call *call, struct program *program)
{
	uint64_t before;

	make_swallowed(call, NULL, NULL, NULL);
	before = sets_now();
	set_kernel(program, 1);
	set_kernel(program, 1);
	expect("sets of functions that may be others", sets_now() - before, 1);
}

static void check_get_proc(any_call *call)
{
	/* What a release that has the call would fill. */
	void *found = between->next("hipGraphLaunch");

	expect("a wrapper", is_wrapped(found), false);
	between->swallowed = checked;
	call((void *)"hipGraphLaunch", &found, NULL, NULL, NULL, NULL);
	between->swallowed = NULL;
	expect("a wrapper", is_wrapped(found), true);
}

static void check_noted(any_call *call, struct program *program)
{
	if (is_call("hipGetProcAddress")) {
		check_get_proc(call);
	} else if (is_call("hipStreamDestroy")) {
		make_swallowed(call, program->stream, NULL, NULL);
		expect("sets that reached HIP", sets_now() - program->sets, 0);
		expect_passing(program, false);
	} else {
		check_functions_end(call, program);
	}
}

/* ---- virtual ---- */

/* Sets a node to variant 0 or 1. */
static int set_variant(struct program *program, uint32_t variant)
{
	hipMemcpy3DParms copy = copy_params(program, variant + 1);
	hipMemsetParams memset = memset_params(program, variant + 1);
	hipHostNodeParams host = {work, &program->buffer[variant]};
	struct kernel kernel;

	fill(&kernel, program, 10 + variant);
	if (is_call("hipGraphExecKernelNodeSetParams"))
		return hipGraphExecKernelNodeSetParams(program->exec, program->kernel,
						       &kernel.params);
	if (is_call("hipGraphExecMemcpyNodeSetParams1D"))
		return hipGraphExecMemcpyNodeSetParams1D(program->exec, program->copy_1d,
							 program->buffer, program->buffer + WORDS,
							 4 + 4 * variant, hipMemcpyDeviceToDevice);
	if (is_call("hipGraphExecMemcpyNodeSetParams"))
		return hipGraphExecMemcpyNodeSetParams(program->exec, program->copy, &copy);
	if (is_call("hipGraphExecMemsetNodeSetParams"))
		return hipGraphExecMemsetNodeSetParams(program->exec, program->memset, &memset);
	if (is_call("hipGraphExecHostNodeSetParams"))
		return hipGraphExecHostNodeSetParams(program->exec, program->host, &host);
	if (is_call("hipGraphExecEventRecordNodeSetEvent"))
		return hipGraphExecEventRecordNodeSetEvent(program->exec, program->record,
							   program->events[variant]);
	if (is_call("hipGraphExecEventWaitNodeSetEvent"))
		return hipGraphExecEventWaitNodeSetEvent(program->exec, program->wait,
							 program->events[variant]);
	if (is_call("hipGraphNodeSetEnabled"))
		return find(checked)(program->exec, program->kernel, (void *)(uintptr_t)variant,
				     NULL, NULL, NULL);
	expect("a child graph", is_call("hipGraphExecChildGraphNodeSetParams"), true);
	HIP_CHECK(hipGraphKernelNodeSetParams(program->in_child, &kernel.params));
	return hipGraphExecChildGraphNodeSetParams(program->exec, program->nested, program->child);
}

/* HIP is asked once for each variant, and each time where its answer depends on what is allocated,
 * or an event may have been destroyed. */
static void check_set(struct program *program)
{
	bool is_memory = strstr(checked, "Memcpy") || strstr(checked, "Memset");
	uint64_t before = between->count(checked);

	for (uint32_t i = 0; i < 6; i++)
		expect("the result", (uint64_t)set_variant(program, i % 2), hipSuccess);
	expect("sets that reach HIP", between->count(checked) - before,
	       is_memory || strstr(checked, "Event") ? 6 : 2);
	expect_passing(program, false);
}

/* An executable that becomes virtual has a clone of its graph. */
static void check_instantiate(any_call *call, struct program *program)
{
	uint64_t before = between->count("hipGraphClone"), place;
	void *exec = &place; /* swallowed calls do not make one */

	make_swallowed(call, &exec, program->graph, NULL);
	expect("clones", between->count("hipGraphClone") - before, 1);
	between->swallowed = "hipGraphExecDestroy";
	HIP_CHECK(hipGraphExecDestroy(exec));
	between->swallowed = NULL;
}

static void check_virtual(any_call *call, struct program *program)
{
	uint64_t launches = between->count("hipGraphLaunch");

	if (strstr(checked, "Instantiate")) {
		check_instantiate(call, program);
	} else if (strstr(checked, "Launch")) {
		between->swallowed = "hipGraphLaunch";
		expect("the result",
		       (uint64_t)call(program->exec, program->stream, NULL, NULL, NULL, NULL), 0);
		between->swallowed = NULL;
		expect("launches", between->count("hipGraphLaunch") - launches, 1);
		expect_settled(program);
		expect_passing(program, false);
	} else if (strstr(checked, "Upload")) {
		make_swallowed(call, program->exec, program->stream, NULL);
		expect_settled(program);
		expect_passing(program, false);
	} else if (strstr(checked, "ExecDestroy")) {
		launches = between->count("hipGraphDestroy");
		HIP_CHECK(hipStreamSynchronize(program->stream));
		HIP_CHECK(hipGraphExecDestroy(program->exec));
		expect("clones that were destroyed", between->count("hipGraphDestroy") - launches,
		       1);
		program->exec = NULL;
	} else {
		check_set(program);
	}
}

/* ---- */

/* Calls of which this release does not do what the list says. */
static enum call_class class_here(const char *name, enum call_class class)
{
	if (strcmp(name, "hipGraphExecMemsetNodeSetParams") == 0 &&
	    version >= FORGETS_MEMSETS_FROM && version < FORGETS_MEMSETS_TO)
		return PASSES;
	if (strcmp(name, "hipGraphExecChildGraphNodeSetParams") == 0 &&
	    version < SETS_CHILDREN_FROM)
		return PASSES;
	return class;
}

static void check(const char *name, enum call_class class)
{
	any_call *call = find(name);
	struct program program;

	checked = name;
	expect("a function", call != NULL, true);
	expect("whether it is wrapped", is_wrapped((void *)call), class != DRIVERS);
	if (class == DRIVERS)
		return;
	make(&program);
	if (class == PASSES)
		check_passes(call, &program);
	else if (class == PASSED_ON)
		check_passed_on(call, &program);
	else if (class == NOTED)
		check_noted(call, &program);
	else
		check_virtual(call, &program);
	destroy(&program);
}

int main(void)
{
	size_t count = sizeof(calls) / sizeof(*calls);
	const char *mode = getenv("DAGPATCH_PRELOAD");

	between = dlsym(RTLD_DEFAULT, BETWEEN_SYMBOL);
	if (!is_wrapped(dlsym(RTLD_DEFAULT, "hipGraphLaunch")) || !between ||
	    (mode && strcmp(mode, "0") == 0)) {
		printf("nothing is preloaded, or it is off\n");
		return 0;
	}
	HIP_CHECK(hipRuntimeGetVersion(&version));
	example_register(source, &mark, 1);
	for (size_t i = 0; i < count; i++)
		check(calls[i].name, class_here(calls[i].name, calls[i].class));
	printf("%zu calls do what the list says\n", count);
	return 0;
}
