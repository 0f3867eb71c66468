/*
 * pattern-cuda LAUNCHES PATTERN...: sets kernels of one executable graph before each of its
 * launches, on the played libcuda.so.1, and prints a sum of all results. PATTERN is one of
 *
 *	new		no value comes back
 *	cycle N		N sets in turn
 *	children N	the same; a child graph of 6 kernels is set as a whole to one of N
 *	near [N]	two sets in turn, of which one value is new each time; N kernels
 *	FILE		numbers: a line for each launch, a number for each kernel (from JAX)
 *
 * HELD_CLOCK=READ,SET,LAUNCH,MAKE holds the clock: each look at it takes READ nanoseconds, and the
 * driver's calls that set a kernel, launch and instantiate the others.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "vendor/cuda_types.h"

enum { MOST_NODES = 64, WORDS = 8, MOST_CHILDREN = 16, CHILD_KERNELS = 6 };

static struct {
#define POINTER(name, parameters) int(*name) parameters;
	CUDA_FUNCTIONS(POINTER)
	int (*cuModuleGetFunction)(cuda_function *function, void *module, const char *name);
} cu;

#define CHECK(name, ...) check(#name, cu.name(__VA_ARGS__))

static void check(const char *call, int result)
{
	if (result == CUDA_OK)
		return;
	fprintf(stderr, "%s returned %d\n", call, result);
	exit(1);
}

static void open_cuda(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	cuda_context context;
	void *found;

#define FIND(name, parameters)                                                                     \
	found = library ? dlsym(library, #name) : NULL;                                            \
	memcpy(&cu.name, &found, sizeof(found));
	CUDA_FUNCTIONS(FIND)
	FIND(cuModuleGetFunction, )
	CHECK(cuInit, 0);
	CHECK(cuDevicePrimaryCtxRetain, &context, 0);
	CHECK(cuCtxSetCurrent, context);
}

/* ---- the clock ---- */

static struct {
	unsigned int read, set, launch, make;
	bool is_held;
} costs;
static _Atomic uint64_t held_ns = 1;

__attribute__((visibility("default"))) void played_spend(const char *call);

void played_spend(const char *call)
{
	held_ns += strcmp(call, "cuGraphLaunch") == 0		      ? costs.launch
		   : strcmp(call, "cuGraphInstantiateWithFlags") == 0 ? costs.make
								      : costs.set;
}

/* In the place of the C library's. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
	uint64_t now;

	if (!costs.is_held)
		return (int)syscall(SYS_clock_gettime, clock, ret_time);
	now = held_ns += costs.read;
	ret_time->tv_sec = (time_t)(now / 1000000000u);
	ret_time->tv_nsec = (long)(now % 1000000000u);
	return 0;
}

static void hold_clock(void)
{
	const char *text = getenv("HELD_CLOCK");

	costs.is_held = text && sscanf(text, "%u,%u,%u,%u", &costs.read, &costs.set, &costs.launch,
				       &costs.make) == 4;
}

/* ---- patterns ---- */

struct pattern {
	FILE *file; /* or NULL */
	bool is_near, has_child;
	uint64_t cycle; /* 0: nothing comes back */
	uint32_t nodes;
};

static uint32_t read_line(FILE *file, uint64_t *values)
{
	uint32_t count = 0;
	char *line = NULL, *at, *end;
	size_t room = 0;

	if (getline(&line, &room, file) < 0) {
		rewind(file);
		if (getline(&line, &room, file) < 0)
			check("an empty file", 1);
	}
	for (at = line; count < MOST_NODES; at = end, count++) {
		values[count] = strtoull(at, &end, 10);
		if (end == at)
			break;
	}
	free(line);
	return count;
}

static struct pattern open_pattern(char **arguments)
{
	struct pattern pattern = {.nodes = 11};
	uint64_t values[MOST_NODES];

	if (strcmp(arguments[0], "near") == 0) {
		pattern.is_near = true;
		pattern.cycle = 2;
		if (arguments[1])
			pattern.nodes = (uint32_t)strtoul(arguments[1], NULL, 10);
		check("near", pattern.nodes == 0 || pattern.nodes > MOST_NODES);
	} else if (strcmp(arguments[0], "cycle") == 0 || strcmp(arguments[0], "children") == 0) {
		pattern.has_child = arguments[0][1] == 'h';
		pattern.cycle = strtoull(arguments[1], NULL, 10);
	} else if (strcmp(arguments[0], "new") != 0) {
		pattern.file = fopen(arguments[0], "r");
		check(arguments[0], !pattern.file);
		pattern.nodes = read_line(pattern.file, values);
		rewind(pattern.file);
	}
	return pattern;
}

static void next_set(const struct pattern *pattern, uint64_t launch, uint64_t *values)
{
	uint64_t set = pattern->cycle ? launch % pattern->cycle : launch;

	if (pattern->file) {
		read_line(pattern->file, values);
		return;
	}
	for (uint32_t i = 0; i < pattern->nodes; i++)
		values[i] = set * MOST_NODES + i + 1;
	if (pattern->is_near)
		values[0] = launch + 1000;
}

/* ---- the graph ---- */

struct program {
	cuda_graph graph;
	cuda_node nodes[MOST_NODES], child;
	cuda_graph children[MOST_CHILDREN];
	cuda_exec exec;
	cuda_stream stream;
	uint64_t *buffers[2];
};

struct kernel {
	uint64_t *out, *in, value;
	uint32_t words;
	void *pointers[4];
	struct cuda_kernel_node_params params;
};

/* The image of kernel NODE: a fold with this value into one of two buffers. */
static void fill_kernel(const struct program *program, uint32_t node, uint64_t value,
			struct kernel *kernel)
{
	*kernel = (struct kernel){
		.out = program->buffers[node % 2],
		.in = program->buffers[1 - node % 2],
		.value = value,
		.words = WORDS,
		.pointers = {&kernel->out, &kernel->in, &kernel->value, &kernel->words},
		.params = {.gridDimX = 1,
			   .gridDimY = 1,
			   .gridDimZ = 1,
			   .blockDimX = WORDS,
			   .blockDimY = 1,
			   .blockDimZ = 1,
			   .kernelParams = kernel->pointers},
	};
	CHECK(cuModuleGetFunction, &kernel->params.func, NULL, "bed_fold");
}

static void set_kernel(const struct program *program, uint32_t node, uint64_t value)
{
	struct kernel kernel;

	fill_kernel(program, node, value, &kernel);
	CHECK(cuGraphExecKernelNodeSetParams_v2, program->exec, program->nodes[node],
	      &kernel.params);
}

/* Adds COUNT kernels, one behind the other. */
static void add_kernels(const struct program *program, cuda_graph graph, uint32_t count,
			uint64_t value, cuda_node *ret_nodes)
{
	struct kernel kernel;

	for (uint32_t i = 0; i < count; i++) {
		fill_kernel(program, i, value, &kernel);
		CHECK(cuGraphAddKernelNode_v2, &ret_nodes[i], graph, i ? &ret_nodes[i - 1] : NULL,
		      i > 0, &kernel.params);
	}
}

static void add_child(struct program *program, const struct pattern *pattern)
{
	cuda_node nodes[CHILD_KERNELS];

	check("children", pattern->cycle > MOST_CHILDREN);
	for (uint64_t i = 0; i < pattern->cycle; i++) {
		CHECK(cuGraphCreate, &program->children[i], 0);
		add_kernels(program, program->children[i], CHILD_KERNELS, 7 * i + 5, nodes);
	}
	CHECK(cuGraphAddChildGraphNode, &program->child, program->graph,
	      &program->nodes[pattern->nodes - 1], 1, program->children[0]);
}

static void build(struct program *program, const struct pattern *pattern)
{
	for (int i = 0; i < 2; i++) {
		CHECK(cuMemAlloc_v2, (cuda_address *)&program->buffers[i], WORDS * 8);
		memset(program->buffers[i], i + 1, WORDS * 8);
	}
	CHECK(cuStreamCreate, &program->stream, CUDA_STREAM_NON_BLOCKING);
	CHECK(cuGraphCreate, &program->graph, 0);
	add_kernels(program, program->graph, pattern->nodes, 0, program->nodes);
	if (pattern->has_child)
		add_child(program, pattern);
	CHECK(cuGraphInstantiateWithFlags, &program->exec, program->graph, 0);
}

int main(int argc, char **argv)
{
	uint64_t launches = argc > 2 ? strtoull(argv[1], NULL, 10) : 0, sum = 0;
	uint64_t values[MOST_NODES];
	struct pattern pattern;
	struct program program;

	check("usage", launches == 0);
	hold_clock();
	open_cuda();
	pattern = open_pattern(argv + 2);
	build(&program, &pattern);
	for (uint64_t i = 0; i < launches; i++) {
		next_set(&pattern, i, values);
		for (uint32_t node = 0; node < pattern.nodes; node++)
			set_kernel(&program, node, values[node]);
		if (pattern.has_child)
			CHECK(cuGraphExecChildGraphNodeSetParams, program.exec, program.child,
			      program.children[i % pattern.cycle]);
		CHECK(cuGraphLaunch, program.exec, program.stream);
	}
	CHECK(cuStreamSynchronize, program.stream);
	for (int i = 0; i < 2 * WORDS; i++)
		sum = sum * 31 + program.buffers[i / WORDS][i % WORDS];
	printf("%llu launches: %016llx\n", (unsigned long long)launches, (unsigned long long)sum);
	CHECK(cuGraphExecDestroy, program.exec);
	CHECK(cuGraphDestroy, program.graph);
	for (uint64_t i = 0; pattern.has_child && i < pattern.cycle; i++)
		CHECK(cuGraphDestroy, program.children[i]);
	CHECK(cuStreamDestroy_v2, program.stream);
	for (int i = 0; i < 2; i++)
		CHECK(cuMemFree_v2, (uintptr_t)program.buffers[i]);
	if (pattern.file)
		fclose(pattern.file);
	return 0;
}
