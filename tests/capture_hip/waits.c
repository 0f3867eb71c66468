/* Records and waits under the real HIP, for test_hip_waits: the argument says which. Each wait prints which
 * record it is for, as far as the program can know. */
#include "waits.h"
#include "kernels.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#define WORDS 64

static uint32_t *device_words(void)
{
	uint32_t *data;

	HIP_CHECK(hipMalloc((void **)&data, WORDS * sizeof(*data)));
	HIP_CHECK(hipMemset(data, 0, WORDS * sizeof(*data)));
	return data;
}

struct tracked {
	hipEvent_t event;
	struct waits_record record;
};

static struct tracked make(void)
{
	struct tracked result = {0};

	HIP_CHECK(hipEventCreate(&result.event));
	return result;
}

static void record(struct tracked *tracked, hipStream_t stream)
{
	HIP_CHECK(hipEventRecord(tracked->event, stream));
	waits_recorded(&tracked->record, stream);
}

static void wait_by(hipStream_t stream, const struct tracked *tracked)
{
	HIP_CHECK(hipStreamWaitEvent(stream, tracked->event, 0));
	waits_stream(stream, &tracked->record);
}

static void must_fail(hipError_t result, const char *what)
{
	if (result == hipSuccess)
		example_fail("%s went through", what);
}

/* Recorded again, destroyed and made again, by every kind of stream. */
static int handles(void)
{
	hipStream_t blocking, nonblocking, again;
	struct tracked first = make(), second = make();
	void *old = first.event;

	HIP_CHECK(hipStreamCreate(&blocking));
	HIP_CHECK(hipStreamCreateWithFlags(&nonblocking, hipStreamNonBlocking));
	record(&first, blocking);
	wait_by(nonblocking, &first);
	record(&first, nonblocking);
	wait_by(blocking, &first);
	record(&second, NULL);
	wait_by(blocking, &second);
	wait_by(NULL, &first);
	wait_by(NULL, &second);
	record(&first, hipStreamPerThread);
	wait_by(nonblocking, &first);
	must_fail(hipEventRecord(NULL, blocking), "a record of no event");
	must_fail(hipStreamWaitEvent(blocking, NULL, 0), "a wait for no event");
	HIP_CHECK(hipEventDestroy(first.event));
	first = make();
	printf("event handle used again: %d\n", first.event == old);
	wait_by(blocking, &first);
	record(&first, blocking);
	HIP_CHECK(hipEventSynchronize(first.event));
	waits_host(&first.record);
	HIP_CHECK(hipStreamSynchronize(nonblocking));
	waits_host_for_stream(nonblocking);
	HIP_CHECK(hipStreamDestroy(nonblocking));
	HIP_CHECK(hipStreamCreateWithPriority(&again, hipStreamNonBlocking, 0));
	printf("stream handle used again: %d\n", again == nonblocking);
	wait_by(again, &first);
	record(&first, again);
	wait_by(blocking, &first);
	HIP_CHECK(hipDeviceSynchronize());
	waits_host_for_all();
	return 0;
}

/* What is captured is an edge: neither a record nor a wait, and none that was before is forgotten. */
static int captured(void)
{
	uint32_t *data = device_words(), term = 1, count = WORDS;
	void *arguments[] = {&data, &term, &count};
	hipStream_t main_stream, side, other;
	struct tracked fork = make(), join = make();
	hipGraph_t graph;

	HIP_CHECK(hipStreamCreate(&main_stream));
	HIP_CHECK(hipStreamCreate(&side));
	HIP_CHECK(hipStreamCreate(&other));
	record(&fork, other);
	wait_by(side, &fork);
	HIP_CHECK(hipStreamBeginCapture(main_stream, hipStreamCaptureModeThreadLocal));
	example_capture(&example_kernels[MIX], 1, WORDS, arguments, main_stream);
	HIP_CHECK(hipEventRecord(fork.event, main_stream));
	HIP_CHECK(hipStreamWaitEvent(side, fork.event, 0));
	example_capture(&example_kernels[ROTATE], 1, WORDS, arguments, side);
	HIP_CHECK(hipEventRecord(join.event, side));
	HIP_CHECK(hipStreamWaitEvent(main_stream, join.event, 0));
	example_capture(&example_kernels[MIX], 1, WORDS, arguments, main_stream);
	HIP_CHECK(hipStreamEndCapture(main_stream, &graph));
	wait_by(other, &fork);
	record(&join, side);
	wait_by(main_stream, &join);
	HIP_CHECK(hipStreamSynchronize(main_stream));
	waits_host_for_stream(main_stream);
	return 0;
}

#define ROUNDS 50

static sem_t turns[2];
static struct tracked passed;
static hipStream_t streams[2];

/* Two threads take turns: one records, the other waits for it and records anew. */
static void *take_turns(void *argument)
{
	int own = (int)(intptr_t)argument;

	for (int round = 0; round < ROUNDS; round++) {
		sem_wait(&turns[own]);
		wait_by(streams[own], &passed);
		record(&passed, streams[own]);
		sem_post(&turns[!own]);
	}
	return NULL;
}

static int threads(void)
{
	pthread_t ids[2];

	passed = make();
	for (int i = 0; i < 2; i++) {
		HIP_CHECK(hipStreamCreate(&streams[i]));
		sem_init(&turns[i], 0, i == 0);
	}
	for (int i = 0; i < 2; i++)
		if (pthread_create(&ids[i], NULL, take_turns, (void *)(intptr_t)i))
			example_fail("no thread");
	for (int i = 0; i < 2; i++)
		pthread_join(ids[i], NULL);
	HIP_CHECK(hipEventSynchronize(passed.event));
	waits_host(&passed.record);
	return 0;
}

int main(int argc, char **argv)
{
	waits_option(&argc, argv);
	if (argc != 2)
		return 2;
	kernels_register();
	if (!strcmp(argv[1], "handles"))
		return handles();
	if (!strcmp(argv[1], "captured"))
		return captured();
	return strcmp(argv[1], "threads") ? 2 : threads();
}
