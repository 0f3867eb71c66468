/*
 * graph-orders SEED GRAPHS: launches random graphs, twice each, whose nodes can all be told apart
 * by their activities (each kernel node has its own grid). What the trace names by a node's place
 * must agree with what the activity shows: one contradiction makes the launch inexact.
 *
 * Uses kernel, fill, copy, empty and child nodes; edges are given with the node or added later, in
 * random order. Nodes that no edge orders run at the same time, so each node has memory of its own.
 * Prints how many nodes with activities one replay of all graphs has.
 */
#include "common/kernels.h"

#include <stdio.h>
#include <stdlib.h>

#define NODES_MAX    24
#define KERNELS_MAX  (NODES_MAX * (NODES_MAX + 1)) /* children have kernels only */
#define WORDS	     16384			   /* of a fill or a copy */
#define PIECES_BYTES (NODES_MAX * WORDS * sizeof(uint32_t))

/* A word for each kernel, and WORDS in each of the others for each fill or copy. */
static uint32_t *kernel_words;
static uint32_t *device_data;
static uint32_t *device_copy;
static uint32_t *host_data;
/* Of the graph that is drawn: how many kernels, and fills and copies, it has. */
static unsigned kernels, pieces;
static unsigned next_blocks = 1;

struct drawing {
	hipGraph_t graph;
	hipGraphNode_t nodes[NODES_MAX];
	unsigned count;
	bool may_nest;
};

static unsigned draw(unsigned limit)
{
	return (unsigned)rand() % limit;
}

static hipGraphNode_t add_kernel(struct drawing *drawing, const hipGraphNode_t *before,
				 size_t count)
{
	static uint32_t term = 1, words = 1;
	uint32_t *word = kernel_words + kernels++;
	void *arguments[] = {&word, &term, &words};
	hipKernelNodeParams parameters = {
		.func = (void *)(uintptr_t)&example_kernels[draw(2) ? MIX : ROTATE],
		.gridDim = {next_blocks++, 1, 1},
		.blockDim = {1, 1, 1},
		.kernelParams = arguments,
	};
	hipGraphNode_t node;

	HIP_CHECK(hipGraphAddKernelNode(&node, drawing->graph, before, count, &parameters));
	return node;
}

static hipGraphNode_t add_fill(struct drawing *drawing, const hipGraphNode_t *before, size_t count)
{
	hipMemsetParams parameters = {
		.dst = device_data + (size_t)WORDS * pieces++,
		.elementSize = 1u << draw(3),
		.width = 1 + draw(60),
		.height = 1 + draw(2) * draw(4),
		.pitch = 256,
		.value = 1,
	};
	hipGraphNode_t node;

	HIP_CHECK(hipGraphAddMemsetNode(&node, drawing->graph, before, count, &parameters));
	return node;
}

static hipGraphNode_t add_copy(struct drawing *drawing, const hipGraphNode_t *before, size_t count)
{
	size_t bytes = 4 * (1 + draw(WORDS)), at = (size_t)WORDS * pieces++;
	hipGraphNode_t node;

	switch (draw(3)) {
	case 0:
		HIP_CHECK(hipGraphAddMemcpyNode1D(&node, drawing->graph, before, count,
						  device_data + at, host_data + at, bytes,
						  hipMemcpyHostToDevice));
		break;
	case 1:
		HIP_CHECK(hipGraphAddMemcpyNode1D(&node, drawing->graph, before, count,
						  host_data + at, device_data + at, bytes,
						  hipMemcpyDeviceToHost));
		break;
	default:
		HIP_CHECK(hipGraphAddMemcpyNode1D(&node, drawing->graph, before, count,
						  device_copy + at, device_data + at, bytes,
						  hipMemcpyDeviceToDevice));
	}
	return node;
}

static void draw_graph(struct drawing *drawing, unsigned kinds);

static hipGraphNode_t add_child(struct drawing *drawing, const hipGraphNode_t *before, size_t count)
{
	struct drawing child = {0};
	hipGraphNode_t node;

	HIP_CHECK(hipGraphCreate(&child.graph, 0));
	draw_graph(&child, 1);
	HIP_CHECK(hipGraphAddChildGraphNode(&node, drawing->graph, before, count, child.graph));
	HIP_CHECK(hipGraphDestroy(child.graph));
	return node;
}

static hipGraphNode_t add_node(struct drawing *drawing, const hipGraphNode_t *before, size_t count,
			       unsigned kinds)
{
	hipGraphNode_t node;

	switch (draw(kinds)) {
	case 1:
		return add_fill(drawing, before, count);
	case 2:
		return add_copy(drawing, before, count);
	case 3:
		HIP_CHECK(hipGraphAddEmptyNode(&node, drawing->graph, before, count));
		return node;
	case 4:
		if (drawing->may_nest)
			return add_child(drawing, before, count);
	}
	return add_kernel(drawing, before, count);
}

/* KINDS: how many of the kinds above may occur. */
static void draw_graph(struct drawing *drawing, unsigned kinds)
{
	drawing->count = 2 + draw(NODES_MAX - 2);
	for (unsigned i = 0; i < drawing->count; i++) {
		hipGraphNode_t before[NODES_MAX], later[NODES_MAX];
		size_t before_count = 0, later_count = 0;

		for (unsigned from = i; from-- > 0;) {
			if (draw(4) == 0)
				before[before_count++] = drawing->nodes[from];
			else if (draw(6) == 0)
				later[later_count++] = drawing->nodes[from];
		}
		drawing->nodes[i] = add_node(drawing, before, before_count, kinds);
		for (size_t l = 0; l < later_count; l++)
			HIP_CHECK(hipGraphAddDependencies(drawing->graph, &later[l],
							  &drawing->nodes[i], 1));
	}
}

int main(int argc, char **argv)
{
	unsigned graphs = example_argument(argc, argv, 2, 10);
	unsigned kinds = example_argument(argc, argv, 3, 1);
	hipStream_t stream;

	srand(example_argument(argc, argv, 1, 1));
	kernels_register();
	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipMalloc((void **)&kernel_words, KERNELS_MAX * sizeof(uint32_t)));
	HIP_CHECK(hipMalloc((void **)&device_data, PIECES_BYTES));
	HIP_CHECK(hipMalloc((void **)&device_copy, PIECES_BYTES));
	HIP_CHECK(hipHostMalloc((void **)&host_data, PIECES_BYTES, 0));
	for (unsigned i = 0; i < graphs; i++) {
		struct drawing drawing = {.may_nest = true};
		hipGraphExec_t exec;

		kernels = pieces = 0;
		HIP_CHECK(hipGraphCreate(&drawing.graph, 0));
		draw_graph(&drawing, kinds);
		HIP_CHECK(hipGraphInstantiate(&exec, drawing.graph, NULL, NULL, 0));
		HIP_CHECK(hipGraphLaunch(exec, stream));
		HIP_CHECK(hipGraphLaunch(exec, stream));
		HIP_CHECK(hipStreamSynchronize(stream));
		HIP_CHECK(hipGraphExecDestroy(exec));
		HIP_CHECK(hipGraphDestroy(drawing.graph));
	}
	HIP_CHECK(hipStreamDestroy(stream));
	return example_finish();
}
