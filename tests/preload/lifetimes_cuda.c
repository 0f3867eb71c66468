/*
 * lifetimes-cuda MODE: what an executable graph needs ends or changes meanwhile, on the played
 * libcuda.so.1 (tests/patch_cuda/played_lifetimes.c). Prints what each launch does. MODE is one of
 *
 *	reset CALL	the context is reset or destroyed by this call, and a handle means another
 *			function afterwards
 *	unload		the same for a module, while another thread already uses the new function
 *	clone		the graph names a function of an unloaded module, its executable does not
 *	other		neither does
 *	device		the graph, a node or a stream is destroyed while another context is
 *			current, or none
 *	newer by_proc	the program gets a later version of a call, with other parameters
 *	newer by_dlsym
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vendor/cuda_types.h"

enum { WORDS = 8, BYTES = WORDS * 4, DEVICES = 2, LATER_VERSION = 14000 };

static struct {
#define POINTER(name, parameters) int(*name) parameters;
	CUDA_FUNCTIONS(POINTER)
	int (*cuModuleGetFunction)(cuda_function *function, void *module, const char *name);
	int (*cuModuleLoadData)(void **module, const void *image);
	int (*cuModuleUnload)(void *module);
	int (*cuDevicePrimaryCtxReset_v2)(cuda_device device);
	int (*cuCtxDestroy_v2)(cuda_context context);
	int (*cuCtxDetach)(cuda_context context);
	int (*cuGreenCtxDestroy)(void *context);
	int (*cuGetProcAddress_v2)(const char *name, void **function, int version, uint64_t flags,
				   int *ret_found);
	/* What a later driver may have. */
	int (*cuGraphExecKernelNodeSetParams_v3)(cuda_exec exec,
						 const struct cuda_kernel_node_params *params,
						 cuda_node node);
} cu;

#define CHECK(name, ...) check(#name, cu.name(__VA_ARGS__))

static void *library;
static cuda_context contexts[DEVICES];
static cuda_stream stream;
static uint32_t *buffer;

static void check(const char *call, int result)
{
	if (result == CUDA_OK)
		return;
	fprintf(stderr, "%s returned %d\n", call, result);
	exit(1);
}

static void open_cuda(void)
{
	void *found;

	library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
#define FIND(name, parameters)                                                                     \
	found = library ? dlsym(library, #name) : NULL;                                            \
	memcpy(&cu.name, &found, sizeof(found));
	CUDA_FUNCTIONS(FIND)
	FIND(cuModuleGetFunction, )
	FIND(cuModuleLoadData, )
	FIND(cuModuleUnload, )
	FIND(cuDevicePrimaryCtxReset_v2, )
	FIND(cuCtxDestroy_v2, )
	FIND(cuCtxDetach, )
	FIND(cuGreenCtxDestroy, )
	FIND(cuGetProcAddress_v2, )
	CHECK(cuInit, 0);
	for (int i = 0; i < DEVICES; i++)
		CHECK(cuDevicePrimaryCtxRetain, &contexts[i], i);
	CHECK(cuCtxSetCurrent, contexts[0]);
}

/* ---- one graph of marks ---- */

struct mark {
	uint32_t *at;
	uint64_t value; /* the function takes the lower half, or all */
	void *pointers[2];
	struct cuda_kernel_node_params params;
};

static struct cuda_kernel_node_params *fill(struct mark *mark, const char *function, uint64_t value)
{
	*mark = (struct mark){.at = buffer, .value = value, .params = {NULL, 1, 1, 1, 1, 1, 1}};
	mark->pointers[0] = &mark->at;
	mark->pointers[1] = &mark->value;
	mark->params.kernelParams = mark->pointers;
	CHECK(cuModuleGetFunction, &mark->params.func, NULL, function);
	return &mark->params;
}

enum { NODES = 3 };

struct program {
	cuda_graph graph;
	cuda_node nodes[NODES];
	cuda_exec exec;
};

static void make(const char *function, struct program *program)
{
	struct mark mark;

	CHECK(cuStreamCreate, &stream, CUDA_STREAM_NON_BLOCKING);
	CHECK(cuMemAlloc_v2, (cuda_address *)&buffer, BYTES);
	memset(buffer, 0, BYTES);
	CHECK(cuGraphCreate, &program->graph, 0);
	for (int i = 0; i < NODES; i++)
		CHECK(cuGraphAddKernelNode_v2, &program->nodes[i], program->graph,
		      &program->nodes[i - (i > 0)], i > 0, fill(&mark, function, 1));
	CHECK(cuGraphInstantiateWithFlags, &program->exec, program->graph, 0);
}

static void destroy(struct program *program)
{
	CHECK(cuGraphExecDestroy, program->exec);
	if (program->graph)
		CHECK(cuGraphDestroy, program->graph);
	CHECK(cuMemFree_v2, (uintptr_t)buffer);
	CHECK(cuStreamDestroy_v2, stream);
}

static void set(const struct program *program, int node, const char *function, uint64_t value)
{
	struct mark mark;

	CHECK(cuGraphExecKernelNodeSetParams_v2, program->exec, program->nodes[node],
	      fill(&mark, function, value));
}

static void launch(const struct program *program, const char *what)
{
	CHECK(cuGraphLaunch, program->exec, stream);
	CHECK(cuStreamSynchronize, stream);
	printf("%s: %u %u\n", what, buffer[0], buffer[1]);
}

/* Both halves of VALUE differ. */
static uint64_t wide(uint64_t value)
{
	return (value + 100) << 32 | value;
}

static void unload_module(const char *image)
{
	void *module;

	CHECK(cuModuleLoadData, &module, image);
	CHECK(cuModuleUnload, module);
}

/* ---- what ends ---- */

static void end_context(const char *call)
{
	if (strcmp(call, "cuDevicePrimaryCtxReset") == 0)
		CHECK(cuDevicePrimaryCtxReset_v2, 0);
	else if (strcmp(call, "cuCtxDestroy") == 0)
		CHECK(cuCtxDestroy_v2, contexts[0]);
	else if (strcmp(call, "cuCtxDetach") == 0)
		CHECK(cuCtxDetach, contexts[0]);
	else
		CHECK(cuGreenCtxDestroy, contexts[0]);
}

static void reset(const char *call)
{
	struct program program;

	for (int round = 0; round < 3; round++) {
		make("bed_again", &program);
		for (uint64_t i = 0; i < 8; i++) {
			set(&program, 0, "bed_again", wide(i % 3));
			launch(&program, "reset");
		}
		destroy(&program);
		end_context(call);
		CHECK(cuCtxSetCurrent, contexts[0]);
	}
}

static struct program *used_by_other;

static void *use_new_function(void *unused)
{
	CHECK(cuCtxSetCurrent, contexts[0]);
	set(used_by_other, 0, "bed_again", wide(7));
	set(used_by_other, 1, "bed_again", wide(8));
	return NULL;
}

__attribute__((visibility("default"))) void played_unloading(void);

void played_unloading(void)
{
	pthread_t thread;

	if (!used_by_other)
		return;
	check("pthread_create", pthread_create(&thread, NULL, use_new_function, NULL));
	pthread_join(thread, NULL);
}

static void unload(void)
{
	struct program program;

	make("bed_again", &program);
	set(&program, 0, "bed_again", wide(7));
	set(&program, 1, "bed_again", wide(3));
	set(&program, 2, "bed_again", wide(7));
	launch(&program, "before");
	used_by_other = &program;
	unload_module("ending");
	set(&program, 2, "bed_again", wide(9));
	launch(&program, "unloaded");
	set(&program, 1, "bed_again", wide(7));
	launch(&program, "set again");
	destroy(&program);
}

/* FUNCTION: of the graph's nodes. */
static void name_unloaded(const char *function)
{
	struct program program;

	make(function, &program);
	for (int i = 0; i < NODES; i++)
		set(&program, i, "bed_mark", 5);
	launch(&program, "before");
	unload_module("ending");
	for (uint64_t i = 0; i < 100; i++) {
		for (int node = 0; node < NODES; node++)
			set(&program, node, "bed_mark", i % 4);
		launch(&program, "after");
	}
	destroy(&program);
}

/* What is wanted is not in the executable yet when the graph is destroyed. */
static void destroy_graph(cuda_context context)
{
	struct program program;

	make("bed_mark", &program);
	set(&program, 0, "bed_mark", 3);
	launch(&program, "first");
	set(&program, 0, "bed_mark", 4);
	launch(&program, "second");
	set(&program, 0, "bed_mark", 3);
	CHECK(cuCtxSetCurrent, context);
	CHECK(cuGraphDestroy, program.graph);
	program.graph = NULL;
	CHECK(cuCtxSetCurrent, contexts[0]);
	launch(&program, "destroyed");
	destroy(&program);
}

static void destroy_node(cuda_context context)
{
	struct program program;

	make("bed_mark", &program);
	set(&program, 0, "bed_mark", 3);
	set(&program, 0, "bed_mark", 4);
	set(&program, 0, "bed_mark", 3);
	CHECK(cuCtxSetCurrent, context);
	printf("%d\n", cu.cuGraphDestroyNode(program.nodes[0]));
	CHECK(cuCtxSetCurrent, contexts[0]);
	launch(&program, "destroyed");
	destroy(&program);
}

/* The launch in the stream is marked by an event, which has to be made. */
static void destroy_stream(cuda_context context)
{
	struct program program;
	cuda_stream other;

	make("bed_mark", &program);
	for (uint64_t i = 0; i < 4; i++) {
		set(&program, 0, "bed_mark", 2 + i % 2);
		launch(&program, "in one stream");
	}
	CHECK(cuStreamCreate, &other, CUDA_STREAM_NON_BLOCKING);
	CHECK(cuCtxSetCurrent, context);
	CHECK(cuStreamDestroy_v2, stream);
	CHECK(cuCtxSetCurrent, contexts[0]);
	stream = other;
	set(&program, 0, "bed_mark", 2);
	launch(&program, "in another stream");
	destroy(&program);
}

static void device(void)
{
	destroy_stream(NULL);
	destroy_stream(contexts[1]);
	destroy_graph(NULL);
	destroy_graph(contexts[1]);
	destroy_node(NULL);
	destroy_node(contexts[1]);
}

/* ---- a later driver ---- */

static void find_newer(const char *by)
{
	void *found = NULL;

	/* The same function in all versions. */
	CHECK(cuGetProcAddress_v2, "cuGraphLaunch", &found, LATER_VERSION, 0, NULL);
	memcpy(&cu.cuGraphLaunch, &found, sizeof(found));
	if (strcmp(by, "by_proc") == 0)
		CHECK(cuGetProcAddress_v2, "cuGraphExecKernelNodeSetParams", &found, LATER_VERSION,
		      0, NULL);
	else
		found = dlsym(library, "cuGraphExecKernelNodeSetParams_v3");
	memcpy(&cu.cuGraphExecKernelNodeSetParams_v3, &found, sizeof(found));
}

static void newer(const char *by)
{
	struct program program, later;
	struct mark mark;

	make("bed_mark", &program);
	for (uint64_t i = 0; i < 6; i++) {
		set(&program, 0, "bed_mark", 2 + i % 2);
		set(&program, 1, "bed_mark", 4 + i % 2);
		if (i < 5)
			launch(&program, "before");
	}
	find_newer(by);
	CHECK(cuGraphExecKernelNodeSetParams_v3, program.exec, fill(&mark, "bed_mark", 100),
	      program.nodes[1]);
	launch(&program, "newer");
	set(&program, 0, "bed_mark", 2);
	CHECK(cuGraphExecKernelNodeSetParams_v3, program.exec, fill(&mark, "bed_mark", 200),
	      program.nodes[0]);
	launch(&program, "newer");
	destroy(&program);
	make("bed_mark", &later);
	set(&later, 0, "bed_mark", 2);
	CHECK(cuGraphExecKernelNodeSetParams_v3, later.exec, fill(&mark, "bed_mark", 300),
	      later.nodes[0]);
	launch(&later, "made later");
	destroy(&later);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	open_cuda();
	if (strcmp(mode, "reset") == 0 && argc > 2)
		reset(argv[2]);
	else if (strcmp(mode, "unload") == 0)
		unload();
	else if (strcmp(mode, "clone") == 0)
		name_unloaded("bed_gone");
	else if (strcmp(mode, "other") == 0)
		name_unloaded("bed_mark");
	else if (strcmp(mode, "device") == 0)
		device();
	else if (strcmp(mode, "newer") == 0 && argc > 2)
		newer(argv[2]);
	else
		check("usage", 1);
	return 0;
}
