/*
 * graph-bubbles K I [W]: captures a chain of K short kernels into a graph and replays it I times,
 * with a wait after every W replays (0: only after the last). The idle gaps between such kernels
 * are the usual reason to look at the trace of a graph.
 */
#include "common/kernels.h"
#include "common/roctx.h"

#include <stdio.h>

#define WORDS 256

/* Every fourth kernel is another one, so that the trace has two kernel names. */
static void capture_step(uint32_t *data, uint32_t step, hipStream_t stream)
{
	uint32_t count = WORDS;
	void *arguments[] = {&data, &step, &count};

	example_capture(&example_kernels[step % 4 == 3 ? ROTATE : MIX], WORDS / 256, 256, arguments,
			stream);
}

static void host_replay(uint32_t *data, unsigned steps)
{
	for (uint32_t step = 0; step < steps; step++)
		if (step % 4 == 3)
			host_rotate(data, step, WORDS);
		else
			host_mix(data, step, WORDS);
}

static hipGraphExec_t capture_chain(uint32_t *data, unsigned steps, hipStream_t stream)
{
	hipGraph_t graph;
	hipGraphExec_t exec;

	HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
	for (uint32_t step = 0; step < steps; step++)
		capture_step(data, step, stream);
	HIP_CHECK(hipStreamEndCapture(stream, &graph));
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP_CHECK(hipGraphDestroy(graph));
	return exec;
}

int main(int argc, char **argv)
{
	unsigned steps = example_argument(argc, argv, 1, 100);
	unsigned replays = example_argument(argc, argv, 2, 10);
	unsigned at_once = example_argument(argc, argv, 3, 0);
	uint32_t want[WORDS], got[WORDS];
	hipGraphExec_t exec;
	hipStream_t stream;
	uint32_t *data;

	kernels_register();
	for (uint32_t i = 0; i < WORDS; i++)
		want[i] = i;
	HIP_CHECK(hipMalloc((void **)&data, sizeof(want)));
	HIP_CHECK(hipMemcpy(data, want, sizeof(want), hipMemcpyHostToDevice));
	HIP_CHECK(hipStreamCreate(&stream));
	exec = capture_chain(data, steps, stream);

	for (unsigned replay = 0; replay < replays; replay++) {
		roctx_push("graph_launch");
		HIP_CHECK(hipGraphLaunch(exec, stream));
		roctx_pop();
		example_count_kernels(steps);
		host_replay(want, steps);
		if (at_once && replay % at_once == at_once - 1)
			HIP_CHECK(hipStreamSynchronize(stream));
	}
	HIP_CHECK(hipStreamSynchronize(stream));
	HIP_CHECK(hipMemcpy(got, data, sizeof(got), hipMemcpyDeviceToHost));
	example_expect(got, want, WORDS, "chain");

	HIP_CHECK(hipGraphExecDestroy(exec));
	HIP_CHECK(hipStreamDestroy(stream));
	HIP_CHECK(hipFree(data));
	printf("graph of %u kernels, launched %u times\n", steps, replays);
	return example_finish();
}
