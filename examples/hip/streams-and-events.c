/* streams-and-events R: two streams hand one buffer to and fro R times, each waiting for the event
 * that the other has just recorded again. */
#include "common/kernels.h"

#include <stdio.h>

#define WORDS 256

struct side {
	hipStream_t stream;
	hipEvent_t done;
	int kernel;
};

static void take_turn(const struct side *own, const struct side *other, uint32_t *data,
		      uint32_t value)
{
	uint32_t count = WORDS;
	void *arguments[] = {&data, &value, &count};

	HIP_CHECK(hipStreamWaitEvent(own->stream, other->done, 0));
	example_launch(&example_kernels[own->kernel], 1, WORDS, arguments, own->stream);
	HIP_CHECK(hipEventRecord(own->done, own->stream));
}

static void side_create(struct side *side, int kernel)
{
	HIP_CHECK(hipStreamCreateWithFlags(&side->stream, hipStreamNonBlocking));
	HIP_CHECK(hipEventCreateWithFlags(&side->done, hipEventDisableTiming));
	side->kernel = kernel;
}

static void side_destroy(struct side *side)
{
	HIP_CHECK(hipEventDestroy(side->done));
	HIP_CHECK(hipStreamDestroy(side->stream));
}

int main(int argc, char **argv)
{
	unsigned rounds = example_argument(argc, argv, 1, 100);
	uint32_t want[WORDS], got[WORDS];
	struct side left, right;
	uint32_t *data;

	kernels_register();
	for (uint32_t i = 0; i < WORDS; i++)
		want[i] = i;
	HIP_CHECK(hipMalloc((void **)&data, sizeof(want)));
	HIP_CHECK(hipMemcpy(data, want, sizeof(want), hipMemcpyHostToDevice));
	side_create(&left, MIX);
	side_create(&right, ROTATE);

	for (uint32_t round = 0; round < rounds; round++) {
		take_turn(&left, &right, data, round);
		take_turn(&right, &left, data, round);
		host_mix(want, round, WORDS);
		host_rotate(want, round, WORDS);
	}
	HIP_CHECK(hipEventSynchronize(right.done));
	HIP_CHECK(hipEventQuery(left.done));
	HIP_CHECK(hipStreamSynchronize(left.stream));
	HIP_CHECK(hipDeviceSynchronize());
	HIP_CHECK(hipMemcpy(got, data, sizeof(got), hipMemcpyDeviceToHost));
	example_expect(got, want, WORDS, "turns");

	side_destroy(&right);
	side_destroy(&left);
	HIP_CHECK(hipFree(data));
	printf("events recorded: %u\n", 2 * rounds);
	return example_finish();
}
