/*
 * multistream S N: launches N kernels on each of S streams in turn, each stream with its own
 * buffer. With far more streams than hardware queues, the packets of several streams share one
 * queue.
 */
#include "common/kernels.h"

#include <stdio.h>
#include <stdlib.h>

#define WORDS 64

static void launch_round(uint32_t *data, hipStream_t *streams, unsigned count, uint32_t round)
{
	for (unsigned i = 0; i < count; i++) {
		uint32_t *own = data + (size_t)i * WORDS;
		uint32_t term = round + i, words = WORDS;
		void *arguments[] = {&own, &term, &words};

		example_launch(&example_kernels[(round + i) % 4 ? MIX : ROTATE], 1, WORDS,
			       arguments, streams[i]);
	}
}

static void host_stream(uint32_t *want, unsigned stream, unsigned rounds)
{
	for (uint32_t round = 0; round < rounds; round++)
		if ((round + stream) % 4)
			host_mix(want, round + stream, WORDS);
		else
			host_rotate(want, round + stream, WORDS);
}

static void check(const uint32_t *data, unsigned streams, unsigned rounds)
{
	size_t bytes = (size_t)streams * WORDS * sizeof(*data);
	uint32_t *got = malloc(bytes);

	if (!got)
		example_fail("out of memory");
	HIP_CHECK(hipMemcpy(got, data, bytes, hipMemcpyDeviceToHost));
	for (unsigned i = 0; i < streams; i++) {
		uint32_t want[WORDS] = {0};

		host_stream(want, i, rounds);
		example_expect(got + (size_t)i * WORDS, want, WORDS, "stream");
	}
	free(got);
}

int main(int argc, char **argv)
{
	unsigned count = example_argument(argc, argv, 1, 100);
	unsigned rounds = example_argument(argc, argv, 2, 100);
	hipStream_t *streams = calloc(count, sizeof(*streams));
	uint32_t *data;

	if (!streams)
		example_fail("out of memory");
	kernels_register();
	HIP_CHECK(hipMalloc((void **)&data, (size_t)count * WORDS * sizeof(*data)));
	HIP_CHECK(hipMemset(data, 0, (size_t)count * WORDS * sizeof(*data)));
	HIP_CHECK(hipDeviceSynchronize());
	for (unsigned i = 0; i < count; i++)
		HIP_CHECK(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
	for (uint32_t round = 0; round < rounds; round++)
		launch_round(data, streams, count, round);
	for (unsigned i = 0; i < count; i++)
		HIP_CHECK(hipStreamSynchronize(streams[i]));
	check(data, count, rounds);
	for (unsigned i = 0; i < count; i++)
		HIP_CHECK(hipStreamDestroy(streams[i]));
	HIP_CHECK(hipFree(data));
	free(streams);
	return example_finish();
}
