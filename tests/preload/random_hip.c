/*
 * random-hip STEPS [failures]: updates one executable graph at random and launches it, with two
 * streams that share memory, and compares with a fresh graph for each launch. The fresh graphs work
 * on memory of their own. With "failures", short runs in which each call of HIP that
 * libdagpatch-preload.so can make fails in turn (failing_hip.c); a call that fails is made again.
 *
 * Most sets of parameters come back, a few do not. Releases of HIP that forget the values of
 * memsets get a kernel in the place of the memset, and those before 6.4, which crash when a child
 * graph is set, one in the place of the child graph. Nodes form a chain, because HIP 5.2.3 loses
 * other dependencies.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <hsa/hsa.h>

#include "../launched.h"
#include "common/example.h"
#include "failing_hip.h"

enum { WORDS = 64, BYTES = WORDS * 4, BUFFERS = 6, NODES = 8, VARIANTS = 4, PROFILES = 24 };

static const char source[] =
	"extern \"C\" __global__ void preload_mix(unsigned *out, const unsigned *in, "
	"unsigned long long scalar, unsigned char byte, unsigned n)\n"
	"{ unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"  if (i < n) out[i] = out[i] * 31 + in[i] + (unsigned)scalar + byte; }\n";
static const struct example_kernel kernel = {"preload_mix"};

struct mix {
	uint32_t *out;
	const uint32_t *in;
	uint64_t scalar;
	uint8_t byte;
	uint32_t n;
};

__attribute__((visibility("default"))) void
softgpu_kernel_preload_mix(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);
void softgpu_kernel_preload_mix(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct mix *at = kernarg;

	for (uint32_t i = 0; i < at->n && i < packet->grid_size_x; i++)
		at->out[i] = at->out[i] * 31 + at->in[i] + (uint32_t)at->scalar + at->byte;
}

/* The memory of the updated executable, and of the fresh graphs. */
enum { UPDATED, FRESH, WORLDS };
static uint32_t *buffers[WORLDS][BUFFERS];
static uint64_t random_state;
static struct failing *failing; /* NULL: no such library */
static bool has_memset, has_child;

static uint32_t draw(uint32_t count)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % count;
}

/* ---- nodes ---- */

/* Nodes 2, 4 and 6 are a copy, a memset and a child graph, the others kernels; one of these is
 * given by `extra`. */
enum { COPY_NODE = 2, MEMSET_NODE = 4, BLOCK_NODE = 5, CHILD_NODE = 6, CHILD_KERNELS = 2 };

struct kernel_call {
	struct mix mix;
	void *pointers[5];
	size_t bytes;
	void *extra[5];
	hipKernelNodeParams params;
};

static void fill_kernel(struct kernel_call *call, int world, int node, uint32_t variant)
{
	*call = (struct kernel_call){
		.mix = {buffers[world][(node + variant) % BUFFERS],
			buffers[world][(node * 2 + variant + 1) % BUFFERS], variant * 77u + node,
			(uint8_t)(variant * 3), WORDS - variant},
		.params = {.func = (void *)&kernel,
			   .gridDim = {1, 1, 1},
			   .blockDim = {WORDS, 1, 1}},
	};
	call->pointers[0] = &call->mix.out;
	call->pointers[1] = &call->mix.in;
	call->pointers[2] = &call->mix.scalar;
	call->pointers[3] = &call->mix.byte;
	call->pointers[4] = &call->mix.n;
	call->bytes = sizeof(call->mix);
	call->extra[0] = HIP_LAUNCH_PARAM_BUFFER_POINTER;
	call->extra[1] = &call->mix;
	call->extra[2] = HIP_LAUNCH_PARAM_BUFFER_SIZE;
	call->extra[3] = &call->bytes;
	call->extra[4] = HIP_LAUNCH_PARAM_END;
	if (node == BLOCK_NODE)
		call->params.extra = call->extra;
	else
		call->params.kernelParams = call->pointers;
}

static hipMemsetParams memset_params(int world, uint32_t variant)
{
	return (hipMemsetParams){.dst = buffers[world][variant],
				 .elementSize = 4,
				 .value = 1000 + variant,
				 .width = WORDS / 2,
				 .height = 1,
				 .pitch = BYTES / 2};
}

/* Kernels, one behind the other; RET_NODES has room for CHILD_KERNELS. */
static hipGraph_t build_child(int world, uint32_t variant, hipGraphNode_t *ret_nodes)
{
	struct kernel_call call;
	hipGraph_t child;

	HIP_CHECK(hipGraphCreate(&child, 0));
	for (int i = 0; i < CHILD_KERNELS; i++) {
		fill_kernel(&call, world, CHILD_NODE + i, variant);
		HIP_CHECK(hipGraphAddKernelNode(&ret_nodes[i], child, i ? &ret_nodes[i - 1] : NULL,
						i > 0, &call.params));
	}
	return child;
}

/* Built when they are first used. */
static struct {
	hipGraph_t graph;
	hipGraphNode_t nodes[CHILD_KERNELS];
} kept[VARIANTS];

/* A graph with what the child does in this variant: kept, changed in place, or built anew. */
static hipGraph_t child_of(uint32_t variant)
{
	struct kernel_call call;

	if (kept[variant].graph && draw(16) == 0) {
		HIP_CHECK(hipGraphDestroy(kept[variant].graph));
		kept[variant].graph = NULL;
	}
	if (!kept[variant].graph)
		kept[variant].graph = build_child(UPDATED, draw(VARIANTS), kept[variant].nodes);
	for (int i = 0; i < CHILD_KERNELS; i++) {
		fill_kernel(&call, UPDATED, CHILD_NODE + i, variant);
		HIP_CHECK(hipGraphKernelNodeSetParams(kept[variant].nodes[i], &call.params));
	}
	return kept[variant].graph;
}

static void destroy_kept(void)
{
	for (uint32_t i = 0; i < VARIANTS; i++) {
		if (kept[i].graph)
			HIP_CHECK(hipGraphDestroy(kept[i].graph));
		kept[i].graph = NULL;
	}
}

static void add_node(hipGraph_t graph, hipGraphNode_t *nodes, int world, int node, uint32_t variant)
{
	const hipGraphNode_t *after = node ? &nodes[node - 1] : NULL;
	hipMemsetParams memset = memset_params(world, variant);
	hipGraphNode_t inside[CHILD_KERNELS];
	struct kernel_call call;
	hipGraph_t child;

	if (node == CHILD_NODE && has_child) {
		child = build_child(world, variant, inside);
		HIP_CHECK(hipGraphAddChildGraphNode(&nodes[node], graph, after, 1, child));
		HIP_CHECK(hipGraphDestroy(child));
	} else if (node == COPY_NODE) {
		HIP_CHECK(hipGraphAddMemcpyNode1D(
			&nodes[node], graph, after, node > 0, buffers[world][variant],
			buffers[world][variant + 1], BYTES - 4 * variant, hipMemcpyDeviceToDevice));
	} else if (node == MEMSET_NODE && has_memset) {
		HIP_CHECK(hipGraphAddMemsetNode(&nodes[node], graph, after, node > 0, &memset));
	} else {
		fill_kernel(&call, world, node, variant);
		HIP_CHECK(
			hipGraphAddKernelNode(&nodes[node], graph, after, node > 0, &call.params));
	}
}

/* CHILD: what the child graph is set to. */
static hipError_t set_node(hipGraphExec_t exec, hipGraphNode_t node, int number, uint32_t variant,
			   hipGraph_t child)
{
	hipMemsetParams memset = memset_params(UPDATED, variant);
	struct kernel_call call;

	if (number == COPY_NODE)
		return hipGraphExecMemcpyNodeSetParams1D(
			exec, node, buffers[UPDATED][variant], buffers[UPDATED][variant + 1],
			BYTES - 4 * variant, hipMemcpyDeviceToDevice);
	if (number == MEMSET_NODE && has_memset)
		return hipGraphExecMemsetNodeSetParams(exec, node, &memset);
	if (number == CHILD_NODE && has_child)
		return hipGraphExecChildGraphNodeSetParams(exec, node, child);
	fill_kernel(&call, UPDATED, number, variant);
	return hipGraphExecKernelNodeSetParams(exec, node, &call.params);
}

/* ---- calls that may fail ---- */

/* Makes CALL, again if it was made to fail. */
#define CALL(call)                                                                                 \
	do {                                                                                       \
		hipError_t result_;                                                                \
                                                                                                   \
		if (failing)                                                                       \
			failing->is_armed = true;                                                  \
		result_ = (call);                                                                  \
		if (failing)                                                                       \
			failing->is_armed = false;                                                 \
		if ((int)result_ == FAILING_RESULT && failing && failing->failed) {                \
			failing->reported++;                                                       \
			continue;                                                                  \
		}                                                                                  \
		HIP_CHECK(result_);                                                                \
		break;                                                                             \
	} while (true)

/* ---- a run ---- */

struct run {
	hipStream_t streams[2], fresh_stream;
	hipEvent_t switched;
	hipGraph_t graph;
	hipGraphNode_t nodes[NODES];
	hipGraphExec_t exec;
	uint32_t variants[NODES];
	uint32_t profiles[PROFILES][NODES];
	int stream;
};

static void launch_fresh(struct run *run)
{
	hipGraphNode_t nodes[NODES];
	hipGraphExec_t exec;
	hipGraph_t graph;

	HIP_CHECK(hipGraphCreate(&graph, 0));
	for (int i = 0; i < NODES; i++)
		add_node(graph, nodes, FRESH, i, run->variants[i]);
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP_CHECK(hipGraphLaunch(exec, run->fresh_stream));
	HIP_CHECK(hipStreamSynchronize(run->fresh_stream));
	HIP_CHECK(hipGraphExecDestroy(exec));
	HIP_CHECK(hipGraphDestroy(graph));
}

static void compare(struct run *run, uint32_t step)
{
	uint32_t words[WORLDS][WORDS];

	HIP_CHECK(hipStreamSynchronize(run->streams[0]));
	HIP_CHECK(hipStreamSynchronize(run->streams[1]));
	for (int i = 0; i < BUFFERS; i++) {
		for (int world = 0; world < WORLDS; world++)
			HIP_CHECK(hipMemcpy(words[world], buffers[world][i], BYTES,
					    hipMemcpyDeviceToHost));
		for (int word = 0; word < WORDS; word++)
			if (words[UPDATED][word] != words[FRESH][word])
				example_fail(
					"step %u, buffer %d, word %d: %u, a fresh graph has %u",
					step, i, word, words[UPDATED][word], words[FRESH][word]);
	}
}

/* HIP does not promise an order between launches of one executable into two streams, so the
 * program makes it. */
static void switch_stream(struct run *run)
{
	HIP_CHECK(hipEventRecord(run->switched, run->streams[run->stream]));
	run->stream ^= 1;
	HIP_CHECK(hipStreamWaitEvent(run->streams[run->stream], run->switched, 0));
}

static void update(struct run *run)
{
	const uint32_t *profile = run->profiles[draw(PROFILES)];
	bool is_rare = draw(16) == 0;
	hipGraph_t child;

	for (int i = 0; i < NODES; i++) {
		uint32_t variant = is_rare ? draw(VARIANTS) : profile[i];

		if (variant == run->variants[i] && draw(2))
			continue;
		child = i == CHILD_NODE && has_child ? child_of(variant) : NULL;
		CALL(set_node(run->exec, run->nodes[i], i, variant, child));
		run->variants[i] = variant;
	}
}

static void open_run(struct run *run)
{
	for (int i = 0; i < PROFILES; i++)
		for (int node = 0; node < NODES; node++)
			run->profiles[i][node] = draw(VARIANTS);
	for (int i = 0; i < 2; i++)
		HIP_CHECK(hipStreamCreateWithFlags(&run->streams[i], hipStreamNonBlocking));
	HIP_CHECK(hipStreamCreateWithFlags(&run->fresh_stream, hipStreamNonBlocking));
	HIP_CHECK(hipEventCreateWithFlags(&run->switched, hipEventDisableTiming));
	HIP_CHECK(hipGraphCreate(&run->graph, 0));
	for (int i = 0; i < NODES; i++)
		add_node(run->graph, run->nodes, UPDATED, i, run->variants[i]);
	CALL(hipGraphInstantiate(&run->exec, run->graph, NULL, NULL, 0));
}

static void close_run(struct run *run)
{
	CALL(hipGraphExecDestroy(run->exec));
	CALL(hipGraphDestroy(run->graph));
	HIP_CHECK(hipEventDestroy(run->switched));
	HIP_CHECK(hipStreamDestroy(run->fresh_stream));
	for (int i = 0; i < 2; i++)
		CALL(hipStreamDestroy(run->streams[i]));
}

static void run_steps(uint32_t steps, uint32_t between_compares)
{
	struct run run = {0};

	open_run(&run);
	for (uint32_t step = 1; step <= steps; step++) {
		if (draw(8))
			update(&run);
		if (draw(8) == 0 && step > steps / 4)
			switch_stream(&run);
		CALL(hipGraphLaunch(run.exec, run.streams[run.stream]));
		launch_fresh(&run);
		if (step % between_compares == 0)
			compare(&run, step);
	}
	compare(&run, steps);
	close_run(&run);
	destroy_kept();
}

/* ---- */

static void run_failures(uint32_t steps)
{
	uint64_t calls, seed = random_state;

	run_steps(steps, steps);
	calls = failing->calls;
	for (uint64_t at = 1; at <= calls; at++) {
		random_state = seed;
		*failing = (struct failing){.at = at};
		run_steps(steps, steps);
		if (!failing->failed)
			example_fail("call %llu was not made", (unsigned long long)at);
		for (int i = 0; i < FAILING_KINDS; i++)
			if (failing->live[i] > (failing->was_destroy == i + 1))
				example_fail("call %llu (%s): %d objects of kind %d are left",
					     (unsigned long long)at, failing->failed,
					     failing->live[i], i);
	}
	printf("%llu calls failed in turn\n", (unsigned long long)calls);
}

int main(int argc, char **argv)
{
	uint32_t steps = example_argument(argc, argv, 1, 200);
	uint32_t words[WORDS];
	int version;

	HIP_CHECK(hipRuntimeGetVersion(&version));
	has_memset = version < 60300000 || version >= 70200000;
	has_child = version >= 60400000;
	example_register(source, &kernel, 1);
	random_state = test_seed();
	for (int world = 0; world < WORLDS; world++)
		for (uint32_t i = 0; i < BUFFERS; i++) {
			for (uint32_t word = 0; word < WORDS; word++)
				words[word] = i * 1000 + word;
			HIP_CHECK(hipMalloc((void **)&buffers[world][i], BYTES));
			HIP_CHECK(
				hipMemcpy(buffers[world][i], words, BYTES, hipMemcpyHostToDevice));
		}
	failing = dlsym(RTLD_DEFAULT, "failing");
	if (argc > 2 && failing)
		run_failures(steps);
	else
		run_steps(steps, 20);
	printf("equal: %u steps\n", steps);
	return 0;
}
