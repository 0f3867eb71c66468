/*
 * modules-in-steps N: runs N training steps as a machine learning compiler's runtime does: each
 * step runs a module twice, its operations are named by scopes, and the last two operations are in
 * a graph that was captured once.
 */
#include <dagtap/annotate.h>

#include "common/kernels.h"

#define WORDS	     64
#define SHARED_BYTES 1024

struct model {
	uint32_t *data;
	uint32_t terms[3];
	uint32_t count;
	uint32_t want[WORDS];
	hipStream_t stream;
	hipGraphExec_t exec;
};

static void begin_module(void)
{
	const struct dagtap_attribute attributes[] = {
		dagtap_attribute_text("hlo_module", "jit_step"),
		dagtap_attribute_int64("program_id", 7),
	};

	dagtap_scope_push_with("XlaModule:", attributes, 2);
}

static void begin_operation(const char *name)
{
	const struct dagtap_attribute attribute = dagtap_attribute_text("hlo_op", name);

	dagtap_scope_push_with("Thunk:", &attribute, 1);
}

static void launch(struct model *model, unsigned term)
{
	void *arguments[] = {&model->data, &model->terms[term], &model->count};
	const dim3 one = {1, 1, 1}, block = {WORDS, 1, 1};

	HIP_CHECK(hipLaunchKernel(&example_kernels[MIX], one, block, arguments, SHARED_BYTES,
				  model->stream));
}

static void record_graph(struct model *model)
{
	hipGraph_t graph;

	HIP_CHECK(hipStreamBeginCapture(model->stream, hipStreamCaptureModeThreadLocal));
	begin_module();
	begin_operation("fusion.2");
	launch(model, 1);
	dagtap_scope_pop();
	begin_operation("fusion.3");
	launch(model, 2);
	dagtap_scope_pop();
	dagtap_scope_pop();
	HIP_CHECK(hipStreamEndCapture(model->stream, &graph));
	HIP_CHECK(hipGraphInstantiate(&model->exec, graph, NULL, NULL, 0));
	HIP_CHECK(hipGraphDestroy(graph));
}

static void run_module(struct model *model)
{
	begin_module();
	begin_operation("fusion.1");
	launch(model, 0);
	dagtap_scope_pop();
	/* The same attribute in XLA's text form. */
	dagtap_scope_push("Thunk:#hlo_op=command_buffer_0#");
	HIP_CHECK(hipGraphLaunch(model->exec, model->stream));
	dagtap_scope_pop();
	dagtap_scope_pop();
	example_count_kernels(3);
	for (unsigned i = 0; i < 3; i++)
		host_mix(model->want, model->terms[i], WORDS);
}

int main(int argc, char **argv)
{
	unsigned steps = example_argument(argc, argv, 1, 3);
	struct model model = {.terms = {1, 2, 3}, .count = WORDS};
	uint32_t got[WORDS];

	kernels_register();
	HIP_CHECK(hipMalloc((void **)&model.data, sizeof(got)));
	HIP_CHECK(hipStreamCreate(&model.stream));
	HIP_CHECK(hipMemsetAsync(model.data, 0, sizeof(got), model.stream));
	record_graph(&model);
	for (unsigned step = 0; step < steps; step++) {
		dagtap_step_begin("train", step);
		run_module(&model);
		run_module(&model);
		HIP_CHECK(hipStreamSynchronize(model.stream));
		dagtap_step_end();
	}
	HIP_CHECK(hipMemcpy(got, model.data, sizeof(got), hipMemcpyDeviceToHost));
	example_expect(got, model.want, WORDS, "steps");
	HIP_CHECK(hipGraphExecDestroy(model.exec));
	HIP_CHECK(hipStreamDestroy(model.stream));
	HIP_CHECK(hipFree(model.data));
	return example_finish();
}
