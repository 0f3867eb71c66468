/*
 * async-memory N: uses memory of the stream-ordered allocator, which ROCm 7 takes from virtual
 * memory: N times allocates, fills, computes, copies back and frees, all in stream order.
 */
#include "common/kernels.h"

#include <stdio.h>
#include <stdlib.h>

#define WORDS 1024

static void once(uint32_t term, hipStream_t stream)
{
	uint32_t got[WORDS], want[WORDS];
	uint32_t count = WORDS;
	uint32_t *data;
	void *arguments[] = {&data, &term, &count};

	HIP_CHECK(hipMallocAsync((void **)&data, sizeof(got), stream));
	HIP_CHECK(hipMemsetD32Async(data, (int)(term + 5), WORDS, stream));
	example_launch(&example_kernels[MIX], WORDS / 256, 256, arguments, stream);
	HIP_CHECK(hipMemcpyAsync(got, data, sizeof(got), hipMemcpyDeviceToHost, stream));
	HIP_CHECK(hipFreeAsync(data, stream));
	HIP_CHECK(hipStreamSynchronize(stream));
	for (uint32_t i = 0; i < WORDS; i++)
		want[i] = term + 5;
	host_mix(want, term, WORDS);
	example_expect(got, want, WORDS, "memory of the stream");
}

int main(int argc, char **argv)
{
	unsigned rounds = example_argument(argc, argv, 1, 10);
	hipStream_t stream;

	kernels_register();
	HIP_CHECK(hipStreamCreate(&stream));
	for (uint32_t i = 0; i < rounds; i++)
		once(i, stream);
	HIP_CHECK(hipStreamDestroy(stream));
	return example_finish();
}
