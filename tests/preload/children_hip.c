/*
 * children-hip STEPS: sets a child graph as a whole, again and again, to graphs that are kept,
 * changed in place or built anew. Prints what each call returns and what the launch after it does.
 * Run by tests/rocm: HIP 5.2.3 crashes in such calls.
 */
#include <stdio.h>
#include <string.h>

#include <hsa/hsa.h>

#include "../launched.h"
#include "common/example.h"

enum { WORDS = 64, BYTES = WORDS * 4, BUFFERS = 4, VARIANTS = 4 };

static const char source[] =
	"extern \"C\" __global__ void preload_part(unsigned *out, const unsigned *in, "
	"unsigned long long scalar, unsigned n)\n"
	"{ unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"  if (i < n) out[i] = out[i] * 31 + in[i] + (unsigned)scalar; }\n";
static const struct example_kernel kernel = {"preload_part"};

struct part {
	uint32_t *out;
	const uint32_t *in;
	uint64_t scalar;
	uint32_t n;
};

__attribute__((visibility("default"))) void
softgpu_kernel_preload_part(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);
void softgpu_kernel_preload_part(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct part *at = kernarg;

	for (uint32_t i = 0; i < at->n && i < packet->grid_size_x; i++)
		at->out[i] = at->out[i] * 31 + at->in[i] + (uint32_t)at->scalar;
}

static uint32_t *buffers[BUFFERS];
static uint64_t random_state;

static uint32_t draw(uint32_t count)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % count;
}

/* ---- child graphs ---- */

struct call {
	struct part part;
	void *pointers[4];
	hipKernelNodeParams params;
};

static hipKernelNodeParams *fill(struct call *call, int node, uint32_t variant)
{
	*call = (struct call){
		.part = {buffers[(node + variant) % BUFFERS], buffers[(node + 1) % BUFFERS],
			 variant * 77u + node, WORDS - variant},
		.params = {.func = (void *)&kernel,
			   .gridDim = {1, 1, 1},
			   .blockDim = {WORDS, 1, 1}},
	};
	call->pointers[0] = &call->part.out;
	call->pointers[1] = &call->part.in;
	call->pointers[2] = &call->part.scalar;
	call->pointers[3] = &call->part.n;
	call->params.kernelParams = call->pointers;
	return &call->params;
}

enum { KERNELS = 3 };

/* Has a child graph of its own, with one more kernel, if HAS_INNER. */
struct child {
	hipGraph_t graph;
	hipGraphNode_t nodes[KERNELS];
};

static void build_child(struct child *child, uint32_t variant, bool has_inner, bool has_memset)
{
	hipMemsetParams memset = {.dst = buffers[variant],
				  .elementSize = 4,
				  .value = 1000 + variant,
				  .width = WORDS,
				  .height = 1,
				  .pitch = BYTES};
	struct call call;
	hipGraphNode_t node;
	hipGraph_t inner;

	HIP_CHECK(hipGraphCreate(&child->graph, 0));
	for (int i = 0; i < KERNELS; i++)
		HIP_CHECK(hipGraphAddKernelNode(&child->nodes[i], child->graph,
						i ? &child->nodes[i - 1] : NULL, i > 0,
						fill(&call, i, variant)));
	if (has_memset)
		HIP_CHECK(hipGraphAddMemsetNode(&node, child->graph, &child->nodes[KERNELS - 1], 1,
						&memset));
	if (!has_inner)
		return;
	HIP_CHECK(hipGraphCreate(&inner, 0));
	HIP_CHECK(hipGraphAddKernelNode(&node, inner, NULL, 0, fill(&call, KERNELS, variant)));
	HIP_CHECK(hipGraphAddChildGraphNode(&node, child->graph, &child->nodes[KERNELS - 1], 1,
					    inner));
	HIP_CHECK(hipGraphDestroy(inner));
}

static void change_child(struct child *child, uint32_t variant)
{
	struct call call;

	for (int i = 0; i < KERNELS; i++)
		HIP_CHECK(hipGraphKernelNodeSetParams(child->nodes[i], fill(&call, i, variant)));
}

/* ---- a run ---- */

struct run {
	hipStream_t stream;
	hipGraph_t graph;
	hipGraphNode_t first, child, last;
	hipGraphExec_t exec;
	struct child kept[VARIANTS];
	bool has_inner, has_memset;
};

static void open_run(struct run *run)
{
	struct call call;

	for (uint32_t i = 0; i < VARIANTS; i++)
		build_child(&run->kept[i], i, run->has_inner, run->has_memset);
	HIP_CHECK(hipStreamCreateWithFlags(&run->stream, hipStreamNonBlocking));
	HIP_CHECK(hipGraphCreate(&run->graph, 0));
	HIP_CHECK(hipGraphAddKernelNode(&run->first, run->graph, NULL, 0, fill(&call, 0, 1)));
	HIP_CHECK(hipGraphAddChildGraphNode(&run->child, run->graph, &run->first, 1,
					    run->kept[0].graph));
	HIP_CHECK(hipGraphAddKernelNode(&run->last, run->graph, &run->child, 1, fill(&call, 2, 3)));
	HIP_CHECK(hipGraphInstantiate(&run->exec, run->graph, NULL, NULL, 0));
}

static void close_run(struct run *run)
{
	HIP_CHECK(hipGraphExecDestroy(run->exec));
	HIP_CHECK(hipGraphDestroy(run->graph));
	HIP_CHECK(hipStreamDestroy(run->stream));
	for (uint32_t i = 0; i < VARIANTS; i++)
		HIP_CHECK(hipGraphDestroy(run->kept[i].graph));
}

static void launch(struct run *run, const char *what, int result)
{
	uint32_t words[WORDS];
	uint64_t sum = 0;

	HIP_CHECK(hipGraphLaunch(run->exec, run->stream));
	HIP_CHECK(hipStreamSynchronize(run->stream));
	for (int i = 0; i < BUFFERS; i++) {
		HIP_CHECK(hipMemcpy(words, buffers[i], BYTES, hipMemcpyDeviceToHost));
		for (int word = 0; word < WORDS; word++)
			sum = sum * 31 + words[word];
	}
	printf("%s: %d, %016llx\n", what, result, (unsigned long long)sum);
}

static void step(struct run *run)
{
	uint32_t variant = draw(VARIANTS), choice = draw(16);
	struct child *kept = &run->kept[variant];
	struct call call;

	if (choice == 0) {
		HIP_CHECK(hipGraphDestroy(kept->graph));
		build_child(kept, draw(VARIANTS), run->has_inner, run->has_memset);
	} else if (choice == 1) {
		change_child(kept, draw(VARIANTS));
	}
	if (draw(4) == 0)
		HIP_CHECK(hipGraphExecKernelNodeSetParams(run->exec, run->last,
							  fill(&call, 2, draw(VARIANTS))));
	launch(run, "set", hipGraphExecChildGraphNodeSetParams(run->exec, run->child, kept->graph));
}

/* Of another shape, and none. */
static void set_wrongly(struct run *run)
{
	struct child other;

	build_child(&other, 1, !run->has_inner, !run->has_memset);
	launch(run, "another shape",
	       hipGraphExecChildGraphNodeSetParams(run->exec, run->child, other.graph));
	launch(run, "no graph", hipGraphExecChildGraphNodeSetParams(run->exec, run->child, NULL));
	HIP_CHECK(hipGraphDestroy(other.graph));
}

static void run_steps(uint32_t steps, bool has_inner, bool has_memset)
{
	struct run run = {.has_inner = has_inner, .has_memset = has_memset};

	open_run(&run);
	for (uint32_t i = 0; i < steps; i++)
		step(&run);
	set_wrongly(&run);
	for (uint32_t i = 0; i < steps / 8; i++)
		step(&run);
	close_run(&run);
}

int main(int argc, char **argv)
{
	uint32_t steps = example_argument(argc, argv, 1, 200);
	uint32_t words[WORDS];

	example_register(source, &kernel, 1);
	random_state = test_seed();
	for (uint32_t i = 0; i < BUFFERS; i++) {
		for (uint32_t word = 0; word < WORDS; word++)
			words[word] = i * 1000 + word;
		HIP_CHECK(hipMalloc((void **)&buffers[i], BYTES));
		HIP_CHECK(hipMemcpy(buffers[i], words, BYTES, hipMemcpyHostToDevice));
	}
	run_steps(steps, false, false);
	run_steps(steps, true, false);
	run_steps(steps, false, true);
	return 0;
}
