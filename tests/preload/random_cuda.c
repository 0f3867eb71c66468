/*
 * random-cuda STEPS dlsym|proc [THREADS [update|inner]]: as random_hip.c with CUDA's driver
 * API, on the played libcuda.so.1 (tests/patch_cuda). CUDA orders the launches of one executable
 * graph, whatever streams they go to, so the program does not. Two nodes are child graphs: kernels
 * in one of them are set, one of these two levels deep, and the other one is set as a whole, to
 * graphs that are kept, changed or built anew. Streams are destroyed meanwhile, and at the end the
 * whole graph is updated, or a kernel in the child that was set as a whole. The program finds
 * CUDA's functions by dlsym, or by cuGetProcAddress. Each thread has an executable of its own. A
 * forked child passes, and writes no counters.
 *
 * With PRELOAD_PTX, the path of tests/patch/bed_kernels.ptx, it runs on a GPU (by dlsym): the
 * kernels come from there, memory is managed, two of the streams are the default ones, and a node
 * is also switched off and on, which the played driver does not keep apart from its parameters.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../launched.h"
#include "vendor/cuda_types.h"

enum { WORDS = 32, BUFFERS = 6, VARIANTS = 4, PROFILES = 24, STREAMS = 3 };
/* What is set: nodes of the top graph, a kernel in a child graph, one in a child of that, and a
 * whole child graph. */
enum {
	SWITCHED_NODE = 1, /* is switched off and on as well */
	COPY_NODE = 2,
	MEMSET_NODE = 4,
	TOP_NODES = 6,
	INNER_NODE = TOP_NODES,
	DEEP_NODE,
	CHILD_NODE,
	NODES
};
enum { UPDATED, FRESH, WORLDS };

static struct {
#define POINTER(name, parameters) int(*name) parameters;
	CUDA_FUNCTIONS(POINTER)
	int (*cuModuleGetFunction)(cuda_function *function, void *module, const char *name);
	/* not on the played driver */
	int (*cuModuleLoad)(void **module, const char *path);
	int (*cuMemAllocManaged)(cuda_address *address, size_t bytes, unsigned int flags);
} cu;

#define CHECK(name, ...) check(#name, cu.name(__VA_ARGS__))

static const char *ptx; /* NULL: the played driver */
static cuda_function fold;
/* Each thread has its own. */
static _Thread_local uint64_t *buffers[WORLDS][BUFFERS];
static _Thread_local uint64_t random_state;
static cuda_context context_of_all;
static uint32_t steps;
static bool ends_by_inner;

static void check(const char *call, int result)
{
	if (result == CUDA_OK)
		return;
	fprintf(stderr, "%s returned %d\n", call, result);
	exit(1);
}

static uint32_t draw(uint32_t count)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % count;
}

/* ---- finding CUDA ---- */

static int (*get_proc)(const char *name, void **function, int version, uint64_t flags,
		       int *ret_found);

static void *find(void *library, const char *name)
{
	void *found = NULL;
	char base[64];
	size_t length = strlen(name);

	if (!get_proc)
		return dlsym(library, name);
	snprintf(base, sizeof(base), "%s", name);
	if (length > 3 && strcmp(name + length - 3, "_v2") == 0)
		base[length - 3] = '\0';
	if (strcmp(name, "cuGraphInstantiateWithFlags") == 0)
		snprintf(base, sizeof(base), "cuGraphInstantiate");
	check(base, get_proc(base, &found, 13000, 0, NULL));
	return found;
}

static void open_cuda(const char *by)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	void *found = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;
	void *module = NULL;

	if (strcmp(by, "proc") == 0)
		memcpy(&get_proc, &found, sizeof(found));
#define FIND(name, parameters)                                                                     \
	found = find(library, #name);                                                              \
	memcpy(&cu.name, &found, sizeof(found));
	CUDA_FUNCTIONS(FIND)
	FIND(cuModuleGetFunction, )
	CHECK(cuInit, 0);
	CHECK(cuDevicePrimaryCtxRetain, &context_of_all, 0);
	CHECK(cuCtxSetCurrent, context_of_all);
	if (ptx) {
		FIND(cuModuleLoad, )
		FIND(cuMemAllocManaged, )
		CHECK(cuModuleLoad, &module, ptx);
	}
	CHECK(cuModuleGetFunction, &fold, module, "bed_fold");
}

enum { ATTACH_GLOBAL = 1 };

/* Memory that both sides may use. */
static void *allocate(size_t bytes)
{
	cuda_address address;

	if (ptx)
		CHECK(cuMemAllocManaged, &address, bytes, ATTACH_GLOBAL);
	else
		CHECK(cuMemAlloc_v2, &address, bytes);
	return (void *)address;
}

/* ---- nodes ---- */

struct fold_call {
	uint64_t *out;
	const uint64_t *in;
	uint64_t scalar;
	uint32_t n;
	void *pointers[4];
	struct cuda_kernel_node_params params;
};

static void fill_kernel(struct fold_call *call, int world, int node, uint32_t variant)
{
	*call = (struct fold_call){
		.out = buffers[world][(node + variant) % BUFFERS],
		.in = buffers[world][(node * 2 + variant + 1) % BUFFERS],
		.scalar = variant * 77u + node,
		.n = WORDS - variant,
		.params = {fold, 1, 1, 1, WORDS, 1, 1},
	};
	call->pointers[0] = &call->out;
	call->pointers[1] = &call->in;
	call->pointers[2] = &call->scalar;
	call->pointers[3] = &call->n;
	call->params.kernelParams = call->pointers;
}

static struct cuda_memcpy3d copy_params(int world, uint32_t variant)
{
	return (struct cuda_memcpy3d){
		.srcMemoryType = CUDA_MEMORY_UNIFIED,
		.srcDevice = (uintptr_t)buffers[world][variant + 1],
		.dstMemoryType = CUDA_MEMORY_UNIFIED,
		.dstDevice = (uintptr_t)buffers[world][variant],
		.srcPitch = WORDS * 8,
		.dstPitch = WORDS * 8,
		.srcHeight = 1,
		.dstHeight = 1,
		.WidthInBytes = WORDS * 8 - 8 * variant,
		.Height = 1,
		.Depth = 1,
	};
}

static struct cuda_memset_node_params memset_params(int world, uint32_t variant)
{
	return (struct cuda_memset_node_params){
		.dst = (uintptr_t)buffers[world][variant],
		.value = 1000 + variant,
		.elementSize = 4,
		.width = WORDS,
		.height = 1,
		.pitch = WORDS * 4,
	};
}

static void add_kernel(cuda_graph graph, const cuda_node *after, int world, int node,
		       uint32_t variant, cuda_node *ret_node)
{
	struct fold_call call;

	fill_kernel(&call, world, node, variant);
	CHECK(cuGraphAddKernelNode_v2, ret_node, graph, after, after != NULL, &call.params);
}

static void add_memset(cuda_graph graph, const cuda_node *after, int world, uint32_t variant,
		       cuda_node *ret_node)
{
	struct cuda_memset_node_params memset = memset_params(world, variant);
	cuda_context context;

	CHECK(cuCtxGetCurrent, &context);
	CHECK(cuGraphAddMemsetNode, ret_node, graph, after, after != NULL, &memset, context);
}

static void add_node(cuda_graph graph, cuda_node *nodes, int world, int node, uint32_t variant)
{
	const cuda_node *after = node ? &nodes[node - 1] : NULL;
	struct cuda_memcpy3d copy = copy_params(world, variant);
	cuda_context context;

	CHECK(cuCtxGetCurrent, &context);
	if (node == COPY_NODE)
		CHECK(cuGraphAddMemcpyNode, &nodes[node], graph, after, node > 0, &copy, context);
	else if (node == MEMSET_NODE)
		add_memset(graph, after, world, variant, &nodes[node]);
	else
		add_kernel(graph, after, world, node, variant, &nodes[node]);
}

/* ---- child graphs ---- */

static cuda_node node_in_child(cuda_node child, size_t index)
{
	cuda_node nodes[2];
	cuda_graph graph;
	size_t count = 2;

	CHECK(cuGraphChildGraphNodeGetGraph, child, &graph);
	CHECK(cuGraphGetNodes, graph, nodes, &count);
	return nodes[index];
}

/* Adds a copy of a graph with a kernel and, moved into it, a graph with another kernel. */
static void add_nested(cuda_graph graph, cuda_node *nodes, int world, const uint32_t *variants,
		       cuda_node *ret_child)
{
	struct cuda_node_params move = {.type = CUDA_NODE_GRAPH};
	cuda_graph outer, deep;
	cuda_node first, second;

	CHECK(cuGraphCreate, &deep, 0);
	add_kernel(deep, NULL, world, DEEP_NODE, variants[DEEP_NODE], &first);
	CHECK(cuGraphCreate, &outer, 0);
	add_kernel(outer, NULL, world, INNER_NODE, variants[INNER_NODE], &first);
	move.u.child.graph = deep;
	move.u.child.ownership = CUDA_CHILD_MOVE;
	CHECK(cuGraphAddNode_v2, &second, outer, &first, NULL, 1, &move);
	CHECK(cuGraphAddChildGraphNode, ret_child, graph, &nodes[TOP_NODES - 1], 1, outer);
	CHECK(cuGraphDestroy, outer);
	nodes[INNER_NODE] = node_in_child(*ret_child, 0);
	nodes[DEEP_NODE] = node_in_child(node_in_child(*ret_child, 1), 0);
}

/* A graph with a kernel and a memset. */
static cuda_graph build_child(int world, uint32_t variant)
{
	cuda_graph child;
	cuda_node first, second;

	CHECK(cuGraphCreate, &child, 0);
	add_kernel(child, NULL, world, CHILD_NODE, variant, &first);
	add_memset(child, &first, world, (variant + 1) % VARIANTS, &second);
	return child;
}

static void build(const uint32_t *variants, int world, cuda_graph *ret_graph, cuda_node *nodes)
{
	cuda_graph child = build_child(world, variants[CHILD_NODE]);
	cuda_node nested;

	CHECK(cuGraphCreate, ret_graph, 0);
	for (int i = 0; i < TOP_NODES; i++)
		add_node(*ret_graph, nodes, world, i, variants[i]);
	add_nested(*ret_graph, nodes, world, variants, &nested);
	CHECK(cuGraphAddChildGraphNode, &nodes[CHILD_NODE], *ret_graph, &nested, 1, child);
	CHECK(cuGraphDestroy, child);
}

/* Each thread keeps a graph for each variant, as XLA does, or builds it anew, or gives another one
 * its kernel and memset. */
static _Thread_local cuda_graph kept[VARIANTS];

static void change_child(cuda_graph child, uint32_t variant)
{
	struct cuda_memset_node_params memset = memset_params(UPDATED, (variant + 1) % VARIANTS);
	struct fold_call call;
	cuda_node nodes[2];
	size_t count = 2;

	fill_kernel(&call, UPDATED, CHILD_NODE, variant);
	CHECK(cuGraphGetNodes, child, nodes, &count);
	CHECK(cuGraphKernelNodeSetParams_v2, nodes[0], &call.params);
	CHECK(cuGraphMemsetNodeSetParams, nodes[1], &memset);
}

static cuda_graph child_of(uint32_t variant)
{
	uint32_t other = draw(VARIANTS);
	cuda_graph child = kept[other];

	if (!kept[variant]) {
		kept[variant] = build_child(UPDATED, variant);
	} else if (draw(16) == 0) {
		CHECK(cuGraphDestroy, kept[variant]);
		kept[variant] = build_child(UPDATED, variant);
	} else if (child && other != variant && draw(16) == 0) {
		kept[other] = kept[variant];
		kept[variant] = child;
		change_child(kept[other], other);
		change_child(kept[variant], variant);
	}
	return kept[variant];
}

static void set_kernel(cuda_exec exec, cuda_node node, int number, uint32_t variant)
{
	struct fold_call call;

	fill_kernel(&call, UPDATED, number, variant);
	CHECK(cuGraphExecKernelNodeSetParams_v2, exec, node, &call.params);
}

static void set_node(cuda_exec exec, cuda_node node, int number, uint32_t variant)
{
	struct cuda_memcpy3d copy = copy_params(UPDATED, variant);
	struct cuda_memset_node_params memset = memset_params(UPDATED, variant);
	cuda_context context;

	CHECK(cuCtxGetCurrent, &context);
	if (number == COPY_NODE) {
		CHECK(cuGraphExecMemcpyNodeSetParams, exec, node, &copy, context);
	} else if (number == MEMSET_NODE) {
		CHECK(cuGraphExecMemsetNodeSetParams, exec, node, &memset, context);
	} else if (number == CHILD_NODE) {
		CHECK(cuGraphExecChildGraphNodeSetParams, exec, node, child_of(variant));
	} else {
		set_kernel(exec, node, number, variant);
	}
}

/* ---- a run ---- */

struct run {
	cuda_stream streams[STREAMS], fresh_stream;
	cuda_graph graph;
	cuda_node nodes[NODES];
	cuda_exec exec;
	uint32_t variants[NODES];
	uint32_t profiles[PROFILES][NODES];
	int stream;
	bool is_off; /* SWITCHED_NODE */
};

static void launch_fresh(struct run *run)
{
	cuda_node nodes[NODES];
	cuda_exec exec;
	cuda_graph graph;

	build(run->variants, FRESH, &graph, nodes);
	CHECK(cuGraphInstantiateWithFlags, &exec, graph, 0);
	if (run->is_off)
		CHECK(cuGraphNodeSetEnabled, exec, nodes[SWITCHED_NODE], 0);
	CHECK(cuGraphLaunch, exec, run->fresh_stream);
	CHECK(cuStreamSynchronize, run->fresh_stream);
	CHECK(cuGraphExecDestroy, exec);
	CHECK(cuGraphDestroy, graph);
}

static void compare(struct run *run, uint32_t step)
{
	for (int i = 0; i < STREAMS; i++)
		CHECK(cuStreamSynchronize, run->streams[i]);
	for (int i = 0; i < BUFFERS; i++) {
		if (memcmp(buffers[UPDATED][i], buffers[FRESH][i], WORDS * 8) == 0)
			continue;
		fprintf(stderr, "step %u: buffer %d differs from a fresh graph's\n", step, i);
		exit(1);
	}
}

static void switch_node(struct run *run, bool is_off)
{
	CHECK(cuGraphNodeSetEnabled, run->exec, run->nodes[SWITCHED_NODE], !is_off);
	run->is_off = is_off;
}

static void update(struct run *run)
{
	const uint32_t *profile = run->profiles[draw(PROFILES)];
	bool is_rare = draw(16) == 0;

	for (int i = 0; i < NODES; i++) {
		uint32_t variant = is_rare ? draw(VARIANTS) : profile[i];

		if (variant == run->variants[i] && draw(2))
			continue;
		set_node(run->exec, run->nodes[i], i, variant);
		run->variants[i] = variant;
	}
}

/* What the driver refuses is refused, although these parameters were set before. */
static void set_wrongly(struct run *run)
{
	struct fold_call call;
	cuda_context context;

	fill_kernel(&call, UPDATED, 0, run->variants[0]);
	CHECK(cuCtxGetCurrent, &context);
	CHECK(cuCtxSetCurrent, NULL);
	if (cu.cuGraphExecKernelNodeSetParams_v2(run->exec, run->nodes[0], &call.params) == CUDA_OK)
		check("a call without a context", -1);
	CHECK(cuCtxSetCurrent, context);
}

static bool is_default(cuda_stream stream)
{
	return (uintptr_t)stream <= CUDA_STREAM_PER_THREAD;
}

static void make_stream(cuda_stream *ret_stream)
{
	CHECK(cuStreamCreate, ret_stream, CUDA_STREAM_NON_BLOCKING);
}

static void make_streams(struct run *run)
{
	make_stream(&run->fresh_stream);
	make_stream(&run->streams[0]);
	for (int i = 1; i < STREAMS && !ptx; i++)
		make_stream(&run->streams[i]);
	if (ptx)
		run->streams[1] = (cuda_stream)CUDA_STREAM_PER_THREAD;
}

static void replace_stream(struct run *run)
{
	if (is_default(run->streams[run->stream]))
		return;
	CHECK(cuStreamDestroy_v2, run->streams[run->stream]);
	make_stream(&run->streams[run->stream]);
}

/* The same as setting the whole child graph does, node by node. */
static void set_inside_child(struct run *run)
{
	uint32_t variant = run->variants[CHILD_NODE];
	cuda_node kernel = node_in_child(run->nodes[CHILD_NODE], 0);

	set_node(run->exec, node_in_child(run->nodes[CHILD_NODE], 1), MEMSET_NODE,
		 (variant + 1) % VARIANTS);
	set_kernel(run->exec, kernel, CHILD_NODE, variant);
}

static void begin_run(struct run *run)
{
	for (int i = 0; i < PROFILES; i++)
		for (int node = 0; node < NODES; node++)
			run->profiles[i][node] = draw(VARIANTS);
	make_streams(run);
	build(run->variants, UPDATED, &run->graph, run->nodes);
	CHECK(cuGraphInstantiateWithFlags, &run->exec, run->graph, 0);
}

/* Makes the call after which the executable passes through, and then launches and updates it.
 * Returns the graph that it was updated with, to be destroyed. */
static cuda_graph pass_through(struct run *run)
{
	struct cuda_update_result result;
	cuda_graph other;
	cuda_node nodes[NODES];

	if (run->is_off)
		switch_node(run, false);
	run->variants[ends_by_inner ? CHILD_NODE : 0] ^= 1;
	build(run->variants, UPDATED, &other, nodes);
	if (ends_by_inner)
		set_inside_child(run);
	else
		CHECK(cuGraphExecUpdate_v2, run->exec, other, &result);
	for (int i = 0; i < STREAMS; i++) {
		CHECK(cuGraphLaunch, run->exec, run->streams[i]);
		launch_fresh(run);
		update(run);
	}
	return other;
}

static void run_steps(void)
{
	struct run run = {0};
	cuda_graph other;

	begin_run(&run);
	for (uint32_t step = 1; step <= steps; step++) {
		if (draw(8))
			update(&run);
		if (ptx && draw(32) == 0)
			switch_node(&run, !run.is_off);
		if (step > steps / 4 && draw(3) == 0)
			run.stream = (int)draw(STREAMS);
		if (step > steps / 2 && draw(64) == 0)
			replace_stream(&run);
		CHECK(cuGraphLaunch, run.exec, run.streams[run.stream]);
		launch_fresh(&run);
		if (step % 20 == 0)
			compare(&run, step);
	}
	compare(&run, steps);
	/* NVIDIA's driver crashes. */
	if (!ptx)
		set_wrongly(&run);
	other = pass_through(&run);
	compare(&run, steps + 1);
	CHECK(cuGraphExecDestroy, run.exec);
	CHECK(cuGraphDestroy, other);
	CHECK(cuGraphDestroy, run.graph);
	CHECK(cuStreamDestroy_v2, run.fresh_stream);
	for (int i = 0; i < STREAMS; i++)
		if (!is_default(run.streams[i]))
			CHECK(cuStreamDestroy_v2, run.streams[i]);
}

static void *work(void *seed)
{
	random_state = (uintptr_t)seed;
	CHECK(cuCtxSetCurrent, context_of_all);
	for (int world = 0; world < WORLDS; world++)
		for (uint64_t i = 0; i < BUFFERS; i++) {
			buffers[world][i] = allocate(WORDS * 8);
			for (uint64_t word = 0; word < WORDS; word++)
				buffers[world][i][word] = i * 1000 + word;
		}
	run_steps();
	for (uint32_t i = 0; i < VARIANTS; i++)
		if (kept[i])
			CHECK(cuGraphDestroy, kept[i]);
	for (int world = 0; world < WORLDS; world++)
		for (int i = 0; i < BUFFERS; i++)
			CHECK(cuMemFree_v2, (uintptr_t)buffers[world][i]);
	return NULL;
}

static void fork_child(void)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		exit(0);
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		check("the child", status);
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 1;
	pthread_t threads[16];

	ptx = getenv("PRELOAD_PTX");
	steps = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 200;
	ends_by_inner = argc > 4 && strcmp(argv[4], "inner") == 0;
	open_cuda(argc > 2 ? argv[2] : "dlsym");
	for (uint32_t i = 0; i < count && i < 16; i++)
		check("pthread_create", pthread_create(&threads[i], NULL, work,
						       (void *)(uintptr_t)(test_seed() + i)));
	for (uint32_t i = 0; i < count && i < 16; i++)
		pthread_join(threads[i], NULL);
	fork_child();
	printf("equal: %u steps\n", steps);
	return 0;
}
