/*
 * Finds the defects that this release of HIP has with graphs, by HIP's own calls only, and prints a
 * line with their names. dagpatch decides by HIP's version (src/patch/hip/driver_hip.c); the test
 * compares the two. The dependencies are between copies, which the software GPU can time apart.
 */
#include <stdio.h>
#include <string.h>

#include "common/example.h"

enum { WORDS = 64, BUFFERS = 12, REPLAYS = 32, MEMSETS = 10000, APART = 32 };

static int *buffers[BUFFERS];
/*
 * Created once, so that it keeps a hardware queue that the graphs' internal streams do not share.
 */
static hipStream_t stream;

static hipGraphNode_t add_copy(hipGraph_t graph, int to, int from, const hipGraphNode_t *after)
{
	hipGraphNode_t node;

	HIP_CHECK(hipGraphAddMemcpyNode1D(&node, graph, after, after != NULL, buffers[to],
					  buffers[from], WORDS * sizeof(int),
					  hipMemcpyDeviceToDevice));
	return node;
}

/*
 * Adds nodes that nothing depends on. HIP 7.2.4 submits the branches of a graph with few of them in
 * another way, which keeps all dependencies.
 */
static void add_apart(hipGraph_t graph)
{
	hipGraphNode_t node;

	for (int i = 0; i < APART; i++)
		HIP_CHECK(hipGraphAddEmptyNode(&node, graph, NULL, 0));
}

static void fill(int buffer, int value)
{
	int words[WORDS];

	for (int i = 0; i < WORDS; i++)
		words[i] = value;
	HIP_CHECK(hipMemcpy(buffers[buffer], words, sizeof(words), hipMemcpyHostToDevice));
}

static int first_word(int buffer)
{
	int words[WORDS];

	HIP_CHECK(hipMemcpy(words, buffers[buffer], sizeof(words), hipMemcpyDeviceToHost));
	return words[0];
}

static hipGraphExec_t instantiate(hipGraph_t graph)
{
	hipGraphExec_t exec;

	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	return exec;
}

static void launch(hipGraphExec_t exec)
{
	HIP_CHECK(hipGraphLaunch(exec, stream));
	HIP_CHECK(hipStreamSynchronize(stream));
}

/*
 * Copies buffer 0 to 1, and 1 to all others up to LAST. Returns whether one of these copies came
 * too early.
 */
static int comes_too_early(hipGraph_t graph, int last)
{
	hipGraphExec_t exec = instantiate(graph);
	int wrong = 0;

	for (int replay = 1; replay <= REPLAYS; replay++) {
		fill(0, replay);
		fill(1, 0);
		launch(exec);
		for (int i = 2; i <= last; i++)
			wrong += first_word(i) != replay;
	}
	HIP_CHECK(hipGraphExecDestroy(exec));
	return wrong > 0;
}

/* Six nodes wait for one node. The second of them also waits for another one. */
static int loses_sixth_dependent(void)
{
	hipGraphNode_t first, second, other, node;
	hipGraph_t graph;

	HIP_CHECK(hipGraphCreate(&graph, 0));
	first = add_copy(graph, 1, 0, NULL);
	for (int i = 2; i < 8; i++) {
		node = add_copy(graph, i, 1, &first);
		if (i == 3)
			second = node;
	}
	other = add_copy(graph, 8, 0, NULL);
	HIP_CHECK(hipGraphAddDependencies(graph, &other, &second, 1));
	add_apart(graph);
	return comes_too_early(graph, 7);
}

/* Four nodes wait for a child graph. */
static int loses_wait_for_child(void)
{
	hipGraph_t graph, inner;
	hipGraphNode_t child;

	HIP_CHECK(hipGraphCreate(&graph, 0));
	HIP_CHECK(hipGraphCreate(&inner, 0));
	add_copy(inner, 1, 0, NULL);
	HIP_CHECK(hipGraphAddChildGraphNode(&child, graph, NULL, 0, inner));
	for (int i = 2; i < 6; i++)
		add_copy(graph, i, 1, &child);
	return comes_too_early(graph, 5);
}

/* A graph's memset, after as many memsets in an unrelated stream. */
static int loses_value_of_memset(void)
{
	hipMemsetParams params = {
		.dst = buffers[0], .elementSize = 4, .value = 7, .width = WORDS, .height = 1};
	hipGraphExec_t exec;
	hipGraphNode_t node;
	hipGraph_t graph;

	HIP_CHECK(hipGraphCreate(&graph, 0));
	HIP_CHECK(hipGraphAddMemsetNode(&node, graph, NULL, 0, &params));
	exec = instantiate(graph);
	for (int i = 0; i < MEMSETS; i++)
		HIP_CHECK(hipMemsetD32Async(buffers[1], 9, WORDS, NULL));
	HIP_CHECK(hipStreamSynchronize(NULL));
	launch(exec);
	return first_word(0) != 7;
}

int main(void)
{
	for (int i = 0; i < BUFFERS; i++)
		HIP_CHECK(hipMalloc((void **)&buffers[i], WORDS * sizeof(int)));
	HIP_CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	printf("defects:%s%s%s\n", loses_sixth_dependent() ? " sixth-dependent" : "",
	       loses_wait_for_child() ? " wait-for-child" : "",
	       loses_value_of_memset() ? " value-of-memset" : "");
	return 0;
}
