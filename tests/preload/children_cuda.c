/*
 * children-cuda kept|unknown|later proc|later dlsym: sets a child graph as a whole, again and
 * again, on the played libcuda.so.1. Between two calls the graph is changed in one of all ways, or
 * destroyed and another one made that may get its handle. Prints what each call returns and what
 * the launch after it does.
 * unknown: the graph is also changed by a function that the library does not wrap.
 * later: it is changed by functions that are newer than CUDA 13.0, which the program finds by
 * cuGetProcAddress or by dlsym.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vendor/cuda_types.h"

enum { WORDS = 8, BUFFERS = 4, BUFFER_BYTES = WORDS * 8 };

static struct {
#define POINTER(name, parameters) int(*name) parameters;
	CUDA_FUNCTIONS(POINTER)
	int (*cuModuleGetFunction)(cuda_function *function, void *module, const char *name);
	int (*cuModuleUnload)(void *module);
	int (*cuGetProcAddress_v2)(const char *name, void **function, int version, uint64_t flags,
				   int *ret_found);
	int (*cuGraphAddNode_v3)(cuda_node *node, cuda_graph graph, const cuda_node *after,
				 const struct cuda_edge_data *data, size_t count,
				 struct cuda_node_params *params);
	int (*cuGraphNodeSetParams_v2)(cuda_node node, struct cuda_node_params *params);
	int (*cuStreamBeginRecaptureToGraph)(cuda_stream stream, uint32_t mode, cuda_graph graph,
					     void *callback, void *user);
	/* What a later driver may have. */
	int (*cuGraphKernelNodeSetParams_v3)(cuda_node node,
					     const struct cuda_kernel_node_params *params);
} cu;

#define CHECK(name, ...) check(#name, cu.name(__VA_ARGS__))

static void *library;
static cuda_function fold;
static cuda_context context;
static cuda_stream stream;
static uint64_t *buffers[BUFFERS];

static void check(const char *call, int result)
{
	if (result == CUDA_OK)
		return;
	fprintf(stderr, "%s returned %d\n", call, result);
	exit(1);
}

static void open_cuda(int finds_unknown)
{
	void *found;

	library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
#define FIND(name, parameters)                                                                     \
	found = library ? dlsym(library, #name) : NULL;                                            \
	memcpy(&cu.name, &found, sizeof(found));
	CUDA_FUNCTIONS(FIND)
	FIND(cuModuleGetFunction, )
	FIND(cuModuleUnload, )
	if (finds_unknown) {
		FIND(cuGraphKernelNodeSetParams_v3, )
	}
	CHECK(cuInit, 0);
	CHECK(cuDevicePrimaryCtxRetain, &context, 0);
	CHECK(cuCtxSetCurrent, context);
	CHECK(cuModuleGetFunction, &fold, NULL, "bed_fold");
	CHECK(cuStreamCreate, &stream, CUDA_STREAM_NON_BLOCKING);
	for (int i = 0; i < BUFFERS; i++)
		CHECK(cuMemAlloc_v2, (cuda_address *)&buffers[i], BUFFER_BYTES);
}

/* Returns what cuGetProcAddress does, which is what dlsym finds by SYMBOL. */
static void *find_by_proc(const char *name, int version, const char *symbol)
{
	void *found = NULL;

	CHECK(cuGetProcAddress_v2, name, &found, version, 0, NULL);
	check(symbol, found && found == dlsym(library, symbol) ? CUDA_OK : CUDA_INVALID_VALUE);
	return found;
}

static void find_later(bool is_by_proc)
{
	void *found;

#define FIND_LATER(name, version, symbol)                                                          \
	found = is_by_proc ? find_by_proc(name, version, #symbol) : dlsym(library, #symbol);       \
	memcpy(&cu.symbol, &found, sizeof(found));
	FIND(cuGetProcAddress_v2, )
	FIND_LATER("cuGraphAddNode", 13040, cuGraphAddNode_v3)
	FIND_LATER("cuGraphAddNode", 14000, cuGraphAddNode_v3)
	FIND_LATER("cuGraphNodeSetParams", 13040, cuGraphNodeSetParams_v2)
	FIND_LATER("cuStreamBeginRecaptureToGraph", 13030, cuStreamBeginRecaptureToGraph)
}

/* ---- nodes ---- */

struct kernel {
	uint64_t *out;
	const uint64_t *in;
	uint64_t value;
	uint32_t words;
	void *pointers[4];
	struct cuda_kernel_node_params params;
};

static struct cuda_kernel_node_params *fill(struct kernel *kernel, int buffer, uint64_t value)
{
	*kernel = (struct kernel){
		.out = buffers[buffer],
		.in = buffers[(buffer + 1) % BUFFERS],
		.value = value,
		.words = WORDS,
		.params = {fold, 1, 1, 1, WORDS, 1, 1},
	};
	kernel->pointers[0] = &kernel->out;
	kernel->pointers[1] = &kernel->in;
	kernel->pointers[2] = &kernel->value;
	kernel->pointers[3] = &kernel->words;
	kernel->params.kernelParams = kernel->pointers;
	return &kernel->params;
}

static struct cuda_memset_node_params memset_params(int buffer, uint32_t value)
{
	return (struct cuda_memset_node_params){
		.dst = (uintptr_t)buffers[buffer],
		.value = value,
		.elementSize = 4,
		.width = WORDS,
		.height = 1,
		.pitch = BUFFER_BYTES,
	};
}

static struct cuda_memcpy3d copy_params(int dst, int src)
{
	return (struct cuda_memcpy3d){
		.srcMemoryType = CUDA_MEMORY_UNIFIED,
		.srcDevice = (uintptr_t)buffers[src],
		.dstMemoryType = CUDA_MEMORY_UNIFIED,
		.dstDevice = (uintptr_t)buffers[dst],
		.srcPitch = BUFFER_BYTES,
		.dstPitch = BUFFER_BYTES,
		.srcHeight = 1,
		.dstHeight = 1,
		.WidthInBytes = BUFFER_BYTES,
		.Height = 1,
		.Depth = 1,
	};
}

/* A child graph, its nodes, and a graph in it. */
struct child {
	cuda_graph graph, inner;
	cuda_node kernel, memset, copy, nested, deep;
};

static struct child build_child(uint64_t value)
{
	struct cuda_memset_node_params memset = memset_params(2, (uint32_t)value);
	struct cuda_memcpy3d copy = copy_params(3, 2);
	struct kernel kernel;
	struct child child;
	cuda_graph inner;
	size_t one = 1;

	CHECK(cuGraphCreate, &inner, 0);
	CHECK(cuGraphAddKernelNode_v2, &child.deep, inner, NULL, 0, fill(&kernel, 1, value + 1));
	CHECK(cuGraphCreate, &child.graph, 0);
	CHECK(cuGraphAddKernelNode_v2, &child.kernel, child.graph, NULL, 0,
	      fill(&kernel, 0, value));
	CHECK(cuGraphAddMemsetNode, &child.memset, child.graph, &child.kernel, 1, &memset, context);
	CHECK(cuGraphAddMemcpyNode, &child.copy, child.graph, &child.memset, 1, &copy, context);
	CHECK(cuGraphAddChildGraphNode, &child.nested, child.graph, &child.copy, 1, inner);
	CHECK(cuGraphDestroy, inner);
	CHECK(cuGraphChildGraphNodeGetGraph, child.nested, &child.inner);
	CHECK(cuGraphGetNodes, child.inner, &child.deep, &one);
	return child;
}

/* A graph with one kernel. */
static cuda_graph build_single(uint64_t value, cuda_node *ret_node)
{
	struct kernel kernel;
	cuda_graph graph;

	CHECK(cuGraphCreate, &graph, 0);
	CHECK(cuGraphAddKernelNode_v2, ret_node, graph, NULL, 0, fill(&kernel, 0, value));
	return graph;
}

/* ---- what is compared ---- */

/* Has one child graph, which is set to graphs of the same form. */
struct program {
	cuda_graph graph;
	cuda_exec exec;
	cuda_node child;
};

static struct program whole, single;

static void make(cuda_graph child, struct program *program)
{
	CHECK(cuGraphCreate, &program->graph, 0);
	CHECK(cuGraphAddChildGraphNode, &program->child, program->graph, NULL, 0, child);
	CHECK(cuGraphInstantiateWithFlags, &program->exec, program->graph, 0);
	CHECK(cuGraphDestroy, child);
}

static void destroy(struct program *program)
{
	CHECK(cuGraphExecDestroy, program->exec);
	CHECK(cuGraphDestroy, program->graph);
}

/* Prints what the driver says and what a launch does. */
static void set(struct program *program, const char *change, cuda_graph child)
{
	int result = cu.cuGraphExecChildGraphNodeSetParams(program->exec, program->child, child);
	uint64_t sum = 0;

	for (int i = 0; i < BUFFERS; i++)
		for (int word = 0; word < WORDS; word++)
			buffers[i][word] = (uint64_t)(i * 100 + word);
	CHECK(cuGraphLaunch, program->exec, stream);
	CHECK(cuStreamSynchronize, stream);
	for (int i = 0; i < BUFFERS; i++)
		for (int word = 0; word < WORDS; word++)
			sum = sum * 31 + buffers[i][word];
	printf("%s: %d, %016llx\n", change, result, (unsigned long long)sum);
}

/* ---- changes ---- */

static void set_kernel(struct child *child)
{
	struct kernel kernel;

	CHECK(cuGraphKernelNodeSetParams_v2, child->kernel, fill(&kernel, 0, 1001));
}

static void set_deep_kernel(struct child *child)
{
	struct kernel kernel;

	CHECK(cuGraphKernelNodeSetParams_v2, child->deep, fill(&kernel, 1, 1002));
}

static void set_memset(struct child *child)
{
	struct cuda_memset_node_params params = memset_params(2, 1003);

	CHECK(cuGraphMemsetNodeSetParams, child->memset, &params);
}

static void set_copy(struct child *child)
{
	struct cuda_memcpy3d params = copy_params(3, 1);

	CHECK(cuGraphMemcpyNodeSetParams, child->copy, &params);
}

static void add_node(struct child *child)
{
	struct kernel kernel;
	cuda_node added;

	CHECK(cuGraphAddKernelNode_v2, &added, child->graph, &child->nested, 1,
	      fill(&kernel, 2, 1004));
}

static void add_deep_node(struct child *child)
{
	struct kernel kernel;
	cuda_node added;

	CHECK(cuGraphAddKernelNode_v2, &added, child->inner, &child->deep, 1,
	      fill(&kernel, 3, 1005));
}

static void add_child(struct child *child)
{
	struct kernel kernel;
	cuda_graph added;
	cuda_node node;

	CHECK(cuGraphCreate, &added, 0);
	CHECK(cuGraphAddKernelNode_v2, &node, added, NULL, 0, fill(&kernel, 0, 1006));
	CHECK(cuGraphAddChildGraphNode, &node, child->graph, &child->nested, 1, added);
	CHECK(cuGraphDestroy, added);
}

typedef int add_node_call(cuda_node *node, cuda_graph graph, const cuda_node *after,
			  const struct cuda_edge_data *data, size_t count,
			  struct cuda_node_params *params);

/* The moved graph keeps its handle, by which it is changed afterwards. */
static void move_by(add_node_call *add, struct child *child)
{
	struct cuda_node_params move = {.type = CUDA_NODE_GRAPH};
	struct kernel kernel;
	cuda_node node;
	cuda_graph moved = build_single(1007, &node);

	set(&single, "will be moved", moved);
	move.u.child.graph = moved;
	move.u.child.ownership = CUDA_CHILD_MOVE;
	check("add", add(&child->nested, child->graph, &child->nested, NULL, 1, &move));
	set(&whole, "a graph was moved", child->graph);
	set(&single, "was moved", moved);
	CHECK(cuGraphKernelNodeSetParams_v2, node, fill(&kernel, 0, 1008));
	set(&single, "was moved and set", moved);
	CHECK(cuGraphAddKernelNode_v2, &node, moved, &node, 1, fill(&kernel, 2, 1008));
	set(&single, "was moved, and a node added", moved);
}

static void move_child(struct child *child)
{
	move_by(cu.cuGraphAddNode_v2, child);
}

static void move_child_later(struct child *child)
{
	move_by(cu.cuGraphAddNode_v3, child);
}

static void set_any_later(struct child *child)
{
	struct cuda_node_params params = {.type = CUDA_NODE_KERNEL};
	struct kernel kernel;

	memcpy(&params.u, fill(&kernel, 0, 1012), sizeof(kernel.params));
	CHECK(cuGraphNodeSetParams_v2, child->kernel, &params);
}

static void replace(struct child *child)
{
	CHECK(cuGraphDestroy, child->graph);
	*child = build_child(1009);
}

static cuda_graph capture_memset(uint8_t value)
{
	cuda_graph graph;

	CHECK(cuStreamBeginCapture_v2, stream, CUDA_CAPTURE_RELAXED);
	CHECK(cuMemsetD8Async, (uintptr_t)buffers[0], value, BUFFER_BYTES, stream);
	CHECK(cuStreamEndCapture, stream, &graph);
	return graph;
}

/* The graph comes from a capture, perhaps with the same handle. */
static void capture(struct child *child)
{
	CHECK(cuGraphDestroy, child->graph);
	child->graph = capture_memset(7);
}

/* The stream is captured already. */
static void recapture_in_vain(cuda_graph graph)
{
	cuda_graph other;

	CHECK(cuStreamBeginCapture_v2, stream, CUDA_CAPTURE_RELAXED);
	check("a second capture", cu.cuStreamBeginRecaptureToGraph(stream, CUDA_CAPTURE_RELAXED,
								   graph, NULL, NULL) == CUDA_OK);
	CHECK(cuStreamEndCapture, stream, &other);
	CHECK(cuGraphDestroy, other);
}

/* A captured graph keeps its handle when it is captured again. */
static void recapture(void)
{
	struct program program;
	cuda_graph graph, again;

	make(capture_memset(7), &program);
	graph = capture_memset(8);
	set(&program, "captured", graph);
	set(&program, "captured", graph);
	recapture_in_vain(graph);
	set(&program, "not captured again", graph);
	CHECK(cuStreamBeginRecaptureToGraph, stream, CUDA_CAPTURE_RELAXED, graph, NULL, NULL);
	CHECK(cuMemsetD8Async, (uintptr_t)buffers[0], 9, BUFFER_BYTES, stream);
	CHECK(cuStreamEndCapture, stream, &again);
	check("the recaptured graph", again == graph ? CUDA_OK : CUDA_INVALID_VALUE);
	set(&program, "captured again", graph);
	set(&program, "captured again", graph);
	CHECK(cuGraphDestroy, graph);
	destroy(&program);
}

static void clone(struct child *child)
{
	struct child other = build_child(1010);

	CHECK(cuGraphDestroy, child->graph);
	CHECK(cuGraphClone, &child->graph, other.graph);
	CHECK(cuGraphDestroy, other.graph);
}

static void unload_module(struct child *child)
{
	CHECK(cuModuleUnload, NULL);
}

/* Without a launch, whether the memory is freed has to be asked. Then other memory may get the
 * address of a buffer. */
static void free_memory(struct child *child)
{
	struct cuda_memcpy3d params = copy_params(3, 1);

	CHECK(cuMemAlloc_v2, &params.dstDevice, BUFFER_BYTES);
	CHECK(cuGraphMemcpyNodeSetParams, child->copy, &params);
	CHECK(cuGraphExecChildGraphNodeSetParams, whole.exec, whole.child, child->graph);
	CHECK(cuMemFree_v2, params.dstDevice);
	CHECK(cuGraphExecChildGraphNodeSetParams, whole.exec, whole.child, child->graph);
	CHECK(cuMemFree_v2, (uintptr_t)buffers[2]);
	CHECK(cuMemAlloc_v2, (cuda_address *)&buffers[2], BUFFER_BYTES);
	set_memset(child);
	set_copy(child);
	set_deep_kernel(child);
}

static void leave(struct child *child)
{
}

static void set_unknown(struct child *child)
{
	struct kernel kernel;

	CHECK(cuGraphKernelNodeSetParams_v3, child->kernel, fill(&kernel, 0, 1011));
}

#define CHANGE(change)                                                                             \
	{                                                                                          \
#change, change                                                                    \
	}

static const struct {
	const char *name;
	void (*change)(struct child *child);
} changes[] = {
	CHANGE(leave),	     CHANGE(set_kernel),    CHANGE(set_deep_kernel), CHANGE(set_memset),
	CHANGE(set_copy),    CHANGE(add_node),	    CHANGE(add_deep_node),   CHANGE(add_child),
	CHANGE(move_child),  CHANGE(replace),	    CHANGE(capture),	     CHANGE(clone),
	CHANGE(free_memory), CHANGE(unload_module),
};

static void change_child(const char *name, void (*change)(struct child *child))
{
	struct child child = build_child(1);

	set(&whole, name, child.graph);
	for (int i = 0; i < 3; i++)
		set(&whole, name, child.graph);
	change(&child);
	for (int i = 0; i < 3; i++)
		set(&whole, name, child.graph);
	CHECK(cuGraphDestroy, child.graph);
}

static void change_later(bool is_by_proc)
{
	find_later(is_by_proc);
	change_child("set_any_later", set_any_later);
	change_child("move_child_later", move_child_later);
	recapture();
}

int main(int argc, char **argv)
{
	int finds_unknown = argc > 1 && strcmp(argv[1], "unknown") == 0;
	bool is_later = argc > 1 && strcmp(argv[1], "later") == 0;
	cuda_node node;

	open_cuda(finds_unknown);
	make(build_child(1).graph, &whole);
	make(build_single(1, &node), &single);
	if (is_later)
		change_later(argc > 2 && strcmp(argv[2], "proc") == 0);
	for (size_t i = 0; !is_later && i < sizeof(changes) / sizeof(*changes); i++)
		change_child(changes[i].name, changes[i].change);
	if (finds_unknown)
		change_child("set_unknown", set_unknown);
	destroy(&whole);
	destroy(&single);
	for (int i = 0; i < BUFFERS; i++)
		CHECK(cuMemFree_v2, (uintptr_t)buffers[i]);
	CHECK(cuStreamDestroy_v2, stream);
	return 0;
}
