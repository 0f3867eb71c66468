/*
 * streams-and-events R [--print-waits]: two streams pass one buffer back and forth R times. Each
 * waits for the event that the other has just recorded again.
 */
#include "common/kernels.h"
#include "common/waits.h"

#include <stdio.h>

#define WORDS 256

struct side {
	hipStream_t stream;
	hipEvent_t done;
	struct waits_record record; /* the latest record of DONE */
	int kernel;
};

static void take_turn(struct side *own, const struct side *other, uint32_t *data, uint32_t value)
{
	uint32_t count = WORDS;
	void *arguments[] = {&data, &value, &count};

	HIP_CHECK(hipStreamWaitEvent(own->stream, other->done, 0));
	waits_stream(own->stream, &other->record);
	example_launch(&example_kernels[own->kernel], 1, WORDS, arguments, own->stream);
	HIP_CHECK(hipEventRecord(own->done, own->stream));
	waits_recorded(&own->record, own->stream);
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
	uint32_t want[WORDS], got[WORDS];
	struct side left = {0}, right = {0};
	unsigned rounds;
	uint32_t *data;

	waits_option(&argc, argv);
	rounds = example_argument(argc, argv, 1, 100);
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
	waits_host(&right.record);
	HIP_CHECK(hipEventQuery(left.done));
	HIP_CHECK(hipStreamSynchronize(left.stream));
	waits_host_for_stream(left.stream);
	HIP_CHECK(hipDeviceSynchronize());
	waits_host_for_all();
	HIP_CHECK(hipMemcpy(got, data, sizeof(got), hipMemcpyDeviceToHost));
	example_expect(got, want, WORDS, "turns");

	side_destroy(&right);
	side_destroy(&left);
	HIP_CHECK(hipFree(data));
	printf("events recorded: %u\n", 2 * rounds);
	return example_finish();
}
