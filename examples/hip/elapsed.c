/*
 * elapsed K I: replays a graph of K kernels between two events I times and prints the median of
 * hipEventElapsedTime. Comparing runs with and without a tracer shows the tracer's cost.
 */
#include "common/kernels.h"

#include <stdio.h>
#include <stdlib.h>

#define WORDS 256

static hipGraphExec_t capture(uint32_t *data, unsigned kernels, hipStream_t stream)
{
	uint32_t count = WORDS;
	hipGraphExec_t exec;
	hipGraph_t graph;

	HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
	for (uint32_t i = 0; i < kernels; i++) {
		void *arguments[] = {&data, &i, &count};

		example_capture(&example_kernels[MIX], 1, WORDS, arguments, stream);
	}
	HIP_CHECK(hipStreamEndCapture(stream, &graph));
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP_CHECK(hipGraphDestroy(graph));
	return exec;
}

static float launch_ms(hipGraphExec_t exec, hipEvent_t start, hipEvent_t stop, hipStream_t stream)
{
	float ms;

	HIP_CHECK(hipEventRecord(start, stream));
	HIP_CHECK(hipGraphLaunch(exec, stream));
	HIP_CHECK(hipEventRecord(stop, stream));
	HIP_CHECK(hipEventSynchronize(stop));
	HIP_CHECK(hipEventElapsedTime(&ms, start, stop));
	return ms;
}

static int compare(const void *a, const void *b)
{
	float left = *(const float *)a, right = *(const float *)b;

	return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
	unsigned kernels = example_argument(argc, argv, 1, 200);
	unsigned replays = example_argument(argc, argv, 2, 20);
	float *ms = calloc(replays, sizeof(*ms));
	uint32_t want[WORDS] = {0}, got[WORDS];
	hipEvent_t start, stop;
	hipGraphExec_t exec;
	hipStream_t stream;
	uint32_t *data;

	if (!ms)
		example_fail("out of memory");
	kernels_register();
	HIP_CHECK(hipMalloc((void **)&data, sizeof(want)));
	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipEventCreate(&start));
	HIP_CHECK(hipEventCreate(&stop));
	HIP_CHECK(hipMemsetAsync(data, 0, sizeof(want), stream));
	exec = capture(data, kernels, stream);
	for (unsigned replay = 0; replay < replays; replay++) {
		ms[replay] = launch_ms(exec, start, stop, stream);
		example_count_kernels(kernels);
		for (uint32_t i = 0; i < kernels; i++)
			host_mix(want, i, WORDS);
	}
	HIP_CHECK(hipMemcpy(got, data, sizeof(got), hipMemcpyDeviceToHost));
	example_expect(got, want, WORDS, "elapsed");
	qsort(ms, replays, sizeof(*ms), compare);
	printf("median ms: %.6f\n", (double)ms[replays / 2]);

	HIP_CHECK(hipGraphExecDestroy(exec));
	HIP_CHECK(hipEventDestroy(stop));
	HIP_CHECK(hipEventDestroy(start));
	HIP_CHECK(hipStreamDestroy(stream));
	HIP_CHECK(hipFree(data));
	free(ms);
	return example_finish();
}
