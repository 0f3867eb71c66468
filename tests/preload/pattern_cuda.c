/*
 * pattern-cuda LAUNCHES PATTERN...: sets kernels of one executable graph before each of its
 * launches, on the played libcuda.so.1, and prints a sum of all results. PATTERN is one of
 *
 *	new		no value comes back
 *	cycle N		N sets in turn
 *	near		two sets in turn, of which one value is new each time
 *	FILE		lines of numbers, one line a launch, one number a kernel (recorded under JAX)
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vendor/cuda_types.h"

enum { MOST_NODES = 64, WORDS = 8 };

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

/* ---- patterns ---- */

struct pattern {
	FILE *file; /* or NULL */
	bool is_near;
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
	} else if (strcmp(arguments[0], "cycle") == 0) {
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
	cuda_node nodes[MOST_NODES];
	cuda_exec exec;
	cuda_stream stream;
	uint64_t *buffers[2];
};

/* The image of kernel NODE: a fold with this value into one of two buffers. */
static void call_kernel(struct program *program, uint32_t node, uint64_t value, bool is_added)
{
	uint64_t *out = program->buffers[node % 2], *in = program->buffers[1 - node % 2];
	uint32_t words = WORDS;
	void *pointers[] = {&out, &in, &value, &words};
	struct cuda_kernel_node_params params = {.gridDimX = 1,
						 .gridDimY = 1,
						 .gridDimZ = 1,
						 .blockDimX = WORDS,
						 .blockDimY = 1,
						 .blockDimZ = 1,
						 .kernelParams = pointers};

	CHECK(cuModuleGetFunction, &params.func, NULL, "bed_fold");
	if (is_added)
		CHECK(cuGraphAddKernelNode_v2, &program->nodes[node], program->graph,
		      node ? &program->nodes[node - 1] : NULL, node > 0, &params);
	else
		CHECK(cuGraphExecKernelNodeSetParams_v2, program->exec, program->nodes[node],
		      &params);
}

static void build(struct program *program, uint32_t nodes)
{
	for (int i = 0; i < 2; i++) {
		CHECK(cuMemAlloc_v2, (cuda_address *)&program->buffers[i], WORDS * 8);
		memset(program->buffers[i], i + 1, WORDS * 8);
	}
	CHECK(cuStreamCreate, &program->stream, CUDA_STREAM_NON_BLOCKING);
	CHECK(cuGraphCreate, &program->graph, 0);
	for (uint32_t i = 0; i < nodes; i++)
		call_kernel(program, i, 0, true);
	CHECK(cuGraphInstantiateWithFlags, &program->exec, program->graph, 0);
}

int main(int argc, char **argv)
{
	uint64_t launches = argc > 2 ? strtoull(argv[1], NULL, 10) : 0, sum = 0;
	uint64_t values[MOST_NODES];
	struct pattern pattern;
	struct program program;

	check("usage", launches == 0);
	open_cuda();
	pattern = open_pattern(argv + 2);
	build(&program, pattern.nodes);
	for (uint64_t i = 0; i < launches; i++) {
		next_set(&pattern, i, values);
		for (uint32_t node = 0; node < pattern.nodes; node++)
			call_kernel(&program, node, values[node], false);
		CHECK(cuGraphLaunch, program.exec, program.stream);
	}
	CHECK(cuStreamSynchronize, program.stream);
	for (int i = 0; i < 2 * WORDS; i++)
		sum = sum * 31 + program.buffers[i / WORDS][i % WORDS];
	printf("%llu launches: %016llx\n", (unsigned long long)launches, (unsigned long long)sum);
	CHECK(cuGraphExecDestroy, program.exec);
	CHECK(cuGraphDestroy, program.graph);
	CHECK(cuStreamDestroy_v2, program.stream);
	for (int i = 0; i < 2; i++)
		CHECK(cuMemFree_v2, (uintptr_t)program.buffers[i]);
	if (pattern.file)
		fclose(pattern.file);
	return 0;
}
