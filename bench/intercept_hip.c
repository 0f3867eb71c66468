/*
 * intercept-hip: the HIP program that `dagtap-bench intercept` runs untraced and traced. Prints one
 * "name value" line for each figure, in ns: the median hipGraphLaunch call of a large graph, and
 * the kernel times that HIP's events give. No kernel computes anything here. `mix` is set to take
 * no time, `rotate` some, and `branch` so much that delays of the host are small next to it: HIP
 * 5.2.3 puts barrier packets around a hipExtLaunchKernel with events and uses their times.
 */
#include "../examples/hip/common/kernels.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

#define GRAPH_NODES	4096
#define GRAPH_ROUNDS	9
#define ELAPSED_KERNELS 400
#define ELAPSED_ROUNDS	9
#define EXT_ROUNDS	31
#define ROUNDS_MOST	31
#define WORDS		64

static double rounds[ROUNDS_MOST], cpu_rounds[ROUNDS_MOST];
static hipStream_t stream;
static uint32_t *data;

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void print_median(const char *name, double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	printf("%s %.3f\n", name, values[count / 2]);
}

static hipGraphExec_t capture(int kernel, uint32_t nodes)
{
	hipGraph_t graph;
	hipGraphExec_t exec;

	HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t count = WORDS;
		void *arguments[] = {&data, &i, &count};

		example_capture(&example_kernels[kernel], 1, WORDS, arguments, stream);
	}
	HIP_CHECK(hipStreamEndCapture(stream, &graph));
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP_CHECK(hipGraphDestroy(graph));
	return exec;
}

static uint64_t cpu_now_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/*
 * Times the call alone, because the device's time would hide a tracer's cost. Uses the thread's CPU
 * time, which other load on the machine does not change.
 */
static void time_launch(hipGraphExec_t exec, int round)
{
	uint64_t since = clock_now_ns(), cpu_since = cpu_now_ns();

	HIP_CHECK(hipGraphLaunch(exec, stream));
	cpu_rounds[round] = (double)(cpu_now_ns() - cpu_since);
	rounds[round] = (double)(clock_now_ns() - since);
	HIP_CHECK(hipStreamSynchronize(stream));
}

static void time_graph(void)
{
	hipGraphExec_t exec = capture(MIX, GRAPH_NODES);

	time_launch(exec, 0);
	for (int i = 0; i < GRAPH_ROUNDS; i++)
		time_launch(exec, i);
	print_median("graph_call", rounds, GRAPH_ROUNDS);
	print_median("graph_cpu", cpu_rounds, GRAPH_ROUNDS);
	HIP_CHECK(hipGraphExecDestroy(exec));
}

static double elapsed_ns(hipEvent_t start, hipEvent_t stop)
{
	float ms;

	HIP_CHECK(hipEventSynchronize(stop));
	HIP_CHECK(hipEventElapsedTime(&ms, start, stop));
	return (double)ms * 1e6;
}

static void time_events(hipEvent_t start, hipEvent_t stop)
{
	hipGraphExec_t exec = capture(ROTATE, ELAPSED_KERNELS);

	for (int i = 0; i < ELAPSED_ROUNDS; i++) {
		HIP_CHECK(hipEventRecord(start, stream));
		HIP_CHECK(hipGraphLaunch(exec, stream));
		HIP_CHECK(hipEventRecord(stop, stream));
		rounds[i] = elapsed_ns(start, stop);
	}
	print_median("elapsed", rounds, ELAPSED_ROUNDS);
	HIP_CHECK(hipGraphExecDestroy(exec));
}

static void time_ext_launch(hipEvent_t start, hipEvent_t stop)
{
	dim3 one = {1, 1, 1}, block = {WORDS, 1, 1};

	for (uint32_t i = 0; i < EXT_ROUNDS; i++) {
		uint32_t count = WORDS;
		void *arguments[] = {&data, &data, &i, &count};

		HIP_CHECK(hipExtLaunchKernel(&example_kernels[BRANCH], one, block, arguments, 0,
					     stream, start, stop, 0));
		rounds[i] = elapsed_ns(start, stop);
	}
	print_median("ext_launch", rounds, EXT_ROUNDS);
}

int main(void)
{
	hipEvent_t start, stop;

	kernels_register();
	HIP_CHECK(hipMalloc((void **)&data, WORDS * sizeof(*data)));
	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipEventCreate(&start));
	HIP_CHECK(hipEventCreate(&stop));
	time_graph();
	time_events(start, stop);
	time_ext_launch(start, stop);
	HIP_CHECK(hipEventDestroy(stop));
	HIP_CHECK(hipEventDestroy(start));
	HIP_CHECK(hipStreamDestroy(stream));
	HIP_CHECK(hipFree(data));
	return 0;
}
