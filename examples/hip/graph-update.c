/*
 * graph-update R: builds a graph node by node (memset, copy in, kernel, device copy, copy out) and
 * changes the kernel's arguments in the executable graph before each of R replays.
 */
#include "common/kernels.h"

#include <stdio.h>
#include <string.h>

#define WORDS 1024
#define BYTES (WORDS * sizeof(uint32_t))
#define FILL  0x05050505u

struct buffers {
	uint32_t *in; /* host, pinned: copied to the device by each replay */
	/* the parts of reduce(): row 0 comes from the host, the memset fills row 1 */
	uint32_t *device;
	uint32_t *result; /* device */
	uint32_t *copy;	  /* device: copy of result by the device-to-device node */
	uint32_t *out;	  /* host, pinned */
};

struct kernel_arguments {
	uint32_t *data;
	uint32_t *parts;
	uint32_t width;
	uint32_t count;
	void *pointers[4];
};

static void kernel_arguments_set(struct kernel_arguments *a, const struct buffers *b,
				 uint32_t width)
{
	*a = (struct kernel_arguments){.data = b->result,
				       .parts = b->device,
				       .width = width,
				       .count = WORDS,
				       .pointers = {&a->data, &a->parts, &a->width, &a->count}};
}

static hipKernelNodeParams kernel_parameters(struct kernel_arguments *a)
{
	hipKernelNodeParams parameters = {.func = (void *)&example_kernels[REDUCE],
					  .gridDim = {WORDS / 256, 1, 1},
					  .blockDim = {256, 1, 1},
					  .kernelParams = a->pointers};

	return parameters;
}

static hipGraphNode_t add_memset(hipGraph_t graph, void *target, unsigned value, unsigned element,
				 size_t count)
{
	hipMemsetParams parameters = {.dst = target,
				      .elementSize = element,
				      .value = value,
				      .width = count,
				      .height = 1,
				      .pitch = count * element};
	hipGraphNode_t node;

	HIP_CHECK(hipGraphAddMemsetNode(&node, graph, NULL, 0, &parameters));
	return node;
}

/* Builds two memsets and a copy in -> kernel -> device copy -> copy out. */
static hipGraphNode_t build(hipGraph_t graph, const struct buffers *b, struct kernel_arguments *a)
{
	hipKernelNodeParams parameters = kernel_parameters(a);
	hipGraphNode_t first[3], kernel, device_copy, copy_out;

	first[0] = add_memset(graph, b->result, 0, 4, WORDS);
	first[1] = add_memset(graph, b->device + WORDS, FILL & 0xff, 1, BYTES);
	HIP_CHECK(hipGraphAddMemcpyNode1D(&first[2], graph, NULL, 0, b->device, b->in, BYTES,
					  hipMemcpyHostToDevice));
	HIP_CHECK(hipGraphAddKernelNode(&kernel, graph, first, 3, &parameters));
	HIP_CHECK(hipGraphAddMemcpyNode1D(&device_copy, graph, &kernel, 1, b->copy, b->result,
					  BYTES, hipMemcpyDeviceToDevice));
	HIP_CHECK(hipGraphAddMemcpyNode1D(&copy_out, graph, &device_copy, 1, b->out, b->copy, BYTES,
					  hipMemcpyDeviceToHost));
	return kernel;
}

static void check(const struct buffers *b, uint32_t width)
{
	static uint32_t want[WORDS], parts[2 * WORDS];

	memset(want, 0, sizeof(want));
	memcpy(parts, b->in, BYTES);
	for (size_t i = 0; i < WORDS; i++)
		parts[WORDS + i] = FILL;
	host_reduce(want, parts, width, WORDS);
	example_expect(b->out, want, WORDS, width == 1 ? "first arguments" : "updated arguments");
}

static void buffers_create(struct buffers *b)
{
	HIP_CHECK(hipHostMalloc((void **)&b->in, BYTES, 0));
	HIP_CHECK(hipHostMalloc((void **)&b->out, BYTES, 0));
	HIP_CHECK(hipMalloc((void **)&b->device, 2 * BYTES));
	HIP_CHECK(hipMalloc((void **)&b->result, BYTES));
	HIP_CHECK(hipMalloc((void **)&b->copy, BYTES));
}

static void buffers_destroy(struct buffers *b)
{
	HIP_CHECK(hipFree(b->copy));
	HIP_CHECK(hipFree(b->result));
	HIP_CHECK(hipFree(b->device));
	HIP_CHECK(hipHostFree(b->out));
	HIP_CHECK(hipHostFree(b->in));
}

int main(int argc, char **argv)
{
	unsigned replays = example_argument(argc, argv, 1, 20);
	struct kernel_arguments arguments;
	hipKernelNodeParams parameters;
	hipGraphNode_t kernel;
	hipGraphExec_t exec;
	hipStream_t stream;
	hipGraph_t graph;
	struct buffers b;

	kernels_register();
	buffers_create(&b);
	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipGraphCreate(&graph, 0));
	kernel_arguments_set(&arguments, &b, 1);
	kernel = build(graph, &b, &arguments);
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));

	for (unsigned replay = 0; replay < replays; replay++) {
		uint32_t width = 1 + replay % 2;

		for (uint32_t i = 0; i < WORDS; i++)
			b.in[i] = replay * WORDS + i;
		kernel_arguments_set(&arguments, &b, width);
		parameters = kernel_parameters(&arguments);
		HIP_CHECK(hipGraphExecKernelNodeSetParams(exec, kernel, &parameters));
		HIP_CHECK(hipGraphLaunch(exec, stream));
		example_count_kernels(1);
		HIP_CHECK(hipStreamSynchronize(stream));
		check(&b, width);
	}

	HIP_CHECK(hipGraphExecDestroy(exec));
	HIP_CHECK(hipGraphDestroy(graph));
	HIP_CHECK(hipStreamDestroy(stream));
	buffers_destroy(&b);
	printf("copies made: %u\nmemsets made: %u\n", 3 * replays, 2 * replays);
	return example_finish();
}
