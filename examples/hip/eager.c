/*
 * eager N: launches N kernels in a loop, without a graph. The base case that graph launches are
 * compared with.
 */
#include "common/kernels.h"

#define WORDS 64

int main(int argc, char **argv)
{
	unsigned launches = example_argument(argc, argv, 1, 1000);
	uint32_t want[WORDS] = {0}, got[WORDS], count = WORDS;
	hipStream_t stream;
	uint32_t *data;

	kernels_register();
	HIP_CHECK(hipMalloc((void **)&data, sizeof(want)));
	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipMemsetAsync(data, 0, sizeof(want), stream));
	for (uint32_t i = 0; i < launches; i++) {
		void *arguments[] = {&data, &i, &count};

		example_launch(&example_kernels[MIX], 1, WORDS, arguments, stream);
		host_mix(want, i, WORDS);
	}
	HIP_CHECK(hipStreamSynchronize(stream));
	HIP_CHECK(hipMemcpy(got, data, sizeof(got), hipMemcpyDeviceToHost));
	example_expect(got, want, WORDS, "loop");
	HIP_CHECK(hipStreamDestroy(stream));
	HIP_CHECK(hipFree(data));
	return example_finish();
}
