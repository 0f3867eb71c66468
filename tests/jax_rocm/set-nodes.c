/*
 * set-nodes STEPS: builds graphs node by node and sets their nodes between launches, each to
 * something that a recording shows: one kernel node gets another grid before every launch, a second
 * one another kernel with the same grid before every second launch, a fill another value. Two such
 * graphs are launched in turn; after STEPS launches of each, two other graphs replace them.
 */
#include "common/kernels.h"

#include <stdio.h>
#include <string.h>

#define ROUNDS 2
#define MODELS 2
#define BLOCK  64
#define BLOCKS 4
#define WORDS  (BLOCK * BLOCKS)

/* What a kernel node does with its buffer, and the expected content. */
struct part {
	hipGraphNode_t node;
	uint32_t *data;
	uint32_t want[WORDS];
};

struct model {
	hipGraph_t graph;
	hipGraphExec_t exec;
	hipGraphNode_t fill;
	uint32_t *filled;
	struct part grown; /* its grid changes */
	struct part mixed; /* its kernel changes */
};

struct work {
	void *pointers[3];
	uint32_t value, count;
	hipKernelNodeParams parameters;
};

static void work_init(struct work *work, struct part *part, int kernel, unsigned blocks,
		      uint32_t value)
{
	*work = (struct work){
		.pointers = {&part->data, &work->value, &work->count},
		.value = value,
		.count = WORDS,
		.parameters = {.func = (void *)(uintptr_t)&example_kernels[kernel],
			       .gridDim = {blocks, 1, 1},
			       .blockDim = {BLOCK, 1, 1},
			       .kernelParams = work->pointers},
	};
}

static void add_kernel(struct model *model, struct part *part, hipGraphNode_t after)
{
	struct work work;

	HIP_CHECK(hipMalloc((void **)&part->data, sizeof(part->want)));
	HIP_CHECK(hipMemset(part->data, 0, sizeof(part->want)));
	memset(part->want, 0, sizeof(part->want));
	work_init(&work, part, MIX, BLOCKS, 1);
	HIP_CHECK(hipGraphAddKernelNode(&part->node, model->graph, &after, 1, &work.parameters));
}

static hipMemsetParams fill_parameters(const struct model *model, unsigned value)
{
	return (hipMemsetParams){.dst = model->filled,
				 .elementSize = 4,
				 .value = value,
				 .width = WORDS,
				 .height = 1};
}

static void model_create(struct model *model)
{
	hipMemsetParams parameters;

	HIP_CHECK(hipMalloc((void **)&model->filled, WORDS * sizeof(uint32_t)));
	parameters = fill_parameters(model, 1);
	HIP_CHECK(hipGraphCreate(&model->graph, 0));
	HIP_CHECK(hipGraphAddMemsetNode(&model->fill, model->graph, NULL, 0, &parameters));
	add_kernel(model, &model->grown, model->fill);
	add_kernel(model, &model->mixed, model->grown.node);
	HIP_CHECK(hipGraphInstantiate(&model->exec, model->graph, NULL, NULL, 0));
}

static void model_destroy(struct model *model)
{
	HIP_CHECK(hipGraphExecDestroy(model->exec));
	HIP_CHECK(hipGraphDestroy(model->graph));
	HIP_CHECK(hipFree(model->mixed.data));
	HIP_CHECK(hipFree(model->grown.data));
	HIP_CHECK(hipFree(model->filled));
}

static void set_kernel(struct model *model, struct part *part, int kernel, unsigned blocks,
		       uint32_t value)
{
	struct work work;

	work_init(&work, part, kernel, blocks, value);
	HIP_CHECK(hipGraphExecKernelNodeSetParams(model->exec, part->node, &work.parameters));
}

static void expect(const struct part *part, const char *what)
{
	uint32_t got[WORDS];

	HIP_CHECK(hipMemcpy(got, part->data, sizeof(got), hipMemcpyDeviceToHost));
	example_expect(got, part->want, WORDS, what);
}

static void run_step(struct model *model, unsigned step, hipStream_t stream)
{
	unsigned blocks = 1 + step % (BLOCKS - 1);
	bool is_mixed = step / 2 % 2 == 0;
	hipMemsetParams fill = fill_parameters(model, step);

	set_kernel(model, &model->grown, MIX, blocks, step);
	host_mix(model->grown.want, step, blocks * BLOCK);
	if (step % 2 == 0) {
		set_kernel(model, &model->mixed, is_mixed ? ROTATE : MIX, BLOCKS, 1);
		HIP_CHECK(hipGraphExecMemsetNodeSetParams(model->exec, model->fill, &fill));
	}
	if (is_mixed)
		host_rotate(model->mixed.want, 1, WORDS);
	else
		host_mix(model->mixed.want, 1, WORDS);

	HIP_CHECK(hipGraphLaunch(model->exec, stream));
	example_count_kernels(2);
	HIP_CHECK(hipStreamSynchronize(stream));
	expect(&model->grown, "grown");
	expect(&model->mixed, "mixed");
}

int main(int argc, char **argv)
{
	unsigned steps = example_argument(argc, argv, 1, 5);
	static struct model models[MODELS];
	hipStream_t stream;

	kernels_register();
	HIP_CHECK(hipStreamCreate(&stream));
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < MODELS; i++)
			model_create(&models[i]);
		for (unsigned step = 0; step < steps * MODELS; step++)
			run_step(&models[step % MODELS], step / MODELS + 2 * (step % MODELS),
				 stream);
		for (unsigned i = 0; i < MODELS; i++)
			model_destroy(&models[i]);
	}
	HIP_CHECK(hipStreamDestroy(stream));
	return example_finish();
}
