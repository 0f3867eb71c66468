/*
 * ext-launch N: launches a kernel N times with hipExtLaunchKernel, which takes a start and a stop
 * event for each launch, and prints the median of the times between them. hip_ext.h is for C++
 * only, but hip_runtime_api.h declares the call for C as well.
 */
#include "common/kernels.h"

#include <stdio.h>
#include <stdlib.h>

#define WORDS 64

static float launch_ms(uint32_t *data, uint32_t term, hipStream_t stream, const hipEvent_t *events)
{
	dim3 grid = {1, 1, 1}, block = {WORDS, 1, 1};
	uint32_t count = WORDS;
	void *arguments[] = {&data, &term, &count};
	float ms;

	HIP_CHECK(hipExtLaunchKernel(&example_kernels[MIX], grid, block, arguments, 0, stream,
				     events[0], events[1], 0));
	example_count_kernels(1);
	HIP_CHECK(hipEventSynchronize(events[1]));
	HIP_CHECK(hipEventElapsedTime(&ms, events[0], events[1]));
	return ms;
}

static int compare(const void *a, const void *b)
{
	float left = *(const float *)a, right = *(const float *)b;

	return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
	unsigned launches = example_argument(argc, argv, 1, 100);
	float *ms = calloc(launches, sizeof(*ms));
	uint32_t want[WORDS] = {0}, got[WORDS];
	hipEvent_t events[2];
	hipStream_t stream;
	uint32_t *data;

	if (!ms)
		example_fail("out of memory");
	kernels_register();
	HIP_CHECK(hipMalloc((void **)&data, sizeof(want)));
	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipEventCreate(&events[0]));
	HIP_CHECK(hipEventCreate(&events[1]));
	HIP_CHECK(hipMemsetAsync(data, 0, sizeof(want), stream));
	for (uint32_t i = 0; i < launches; i++) {
		ms[i] = launch_ms(data, i, stream, events);
		if (ms[i] <= 0)
			example_fail("launch %u took %f ms", i, (double)ms[i]);
		host_mix(want, i, WORDS);
	}
	HIP_CHECK(hipMemcpy(got, data, sizeof(got), hipMemcpyDeviceToHost));
	example_expect(got, want, WORDS, "ext-launch");
	qsort(ms, launches, sizeof(*ms), compare);
	printf("median ms: %.6f\n", (double)ms[launches / 2]);
	HIP_CHECK(hipEventDestroy(events[1]));
	HIP_CHECK(hipEventDestroy(events[0]));
	HIP_CHECK(hipStreamDestroy(stream));
	HIP_CHECK(hipFree(data));
	free(ms);
	return example_finish();
}
