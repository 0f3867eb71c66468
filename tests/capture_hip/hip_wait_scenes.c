/* Records and waits under the real HIP, for test_capture_hip_waits.c; the argument selects the
 * program. Each wait prints which record it is for, as far as the program can know that. */
#include "kernels.h"
#include "waits.h"

#include <dlfcn.h>
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

/* Events that are recorded again, destroyed and created again, with every kind of stream. */
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

/* In a capture, records and waits become edges. They are neither records nor waits, and they do
 * not replace the records that were made before. */
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

/* Two threads take turns: each waits for the other's record and records the event again. */
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

/* ---- events that graphs record ---- */

static uint32_t *graph_data;
static uint32_t graph_term = 1, graph_count = WORDS;

static hipGraphNode_t add_kernel(hipGraph_t graph, const hipGraphNode_t *before)
{
	void *arguments[] = {&graph_data, &graph_term, &graph_count};
	hipKernelNodeParams parameters = {.func = (void *)&example_kernels[MIX],
					  .gridDim = {1, 1, 1},
					  .blockDim = {WORDS, 1, 1},
					  .kernelParams = arguments};
	hipGraphNode_t node;

	HIP_CHECK(hipGraphAddKernelNode(&node, graph, before, before != NULL, &parameters));
	return node;
}

/* Builds a kernel, the event's record and another kernel; returns the record's node. */
static hipGraphNode_t build(hipGraph_t graph, hipEvent_t event)
{
	hipGraphNode_t first = add_kernel(graph, NULL), record;

	HIP_CHECK(hipGraphAddEventRecordNode(&record, graph, &first, 1, event));
	add_kernel(graph, &record);
	return record;
}

/* Returns the position of a node in HIP's own list. */
static unsigned index_of(hipGraph_t graph, hipGraphNode_t wanted)
{
	hipGraphNode_t nodes[16];
	size_t count = 16;

	HIP_CHECK(hipGraphGetNodes(graph, nodes, &count));
	for (unsigned i = 0; i < count; i++)
		if (nodes[i] == wanted)
			return i;
	example_fail("the graph lacks a node");
}

static void replay(hipGraphExec_t exec, hipStream_t stream)
{
	HIP_CHECK(hipGraphLaunch(exec, stream));
}

/* Checks with HIP that the replay records the event: the event was complete before, and is not
 * complete while the replay's kernel runs. */
static void must_be_recorded_by(hipGraphExec_t exec, hipStream_t stream, hipEvent_t event)
{
	void (*hold)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "softgpu_clock_hold");
	void (*release)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "softgpu_clock_release");

	HIP_CHECK(hipDeviceSynchronize());
	waits_host_for_all();
	if (!hold || !release)
		example_fail("no software GPU");
	HIP_CHECK(hipEventQuery(event));
	hold();
	replay(exec, stream);
	if (hipEventQuery(event) != hipErrorNotReady)
		example_fail("HIP has not recorded the event");
	release();
}

static int graphs(void)
{
	struct tracked first = make(), second = make();
	hipStream_t main_stream, side;
	hipGraph_t graph, child;
	hipGraphNode_t node, child_node, held;
	hipGraphExec_t exec, child_exec;
	unsigned index, child_index;

	graph_data = device_words();
	HIP_CHECK(hipStreamCreate(&main_stream));
	HIP_CHECK(hipStreamCreate(&side));
	HIP_CHECK(hipGraphCreate(&graph, 0));
	node = build(graph, first.event);
	index = index_of(graph, node);
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));

	record(&first, side);
	wait_by(main_stream, &first);
	must_be_recorded_by(exec, main_stream, first.event);
	waits_replayed(&first.record, main_stream, index, 0);
	wait_by(side, &first);
	HIP_CHECK(hipEventSynchronize(first.event));
	waits_host(&first.record);
	replay(exec, side);
	waits_replayed(&first.record, side, index, 1);
	wait_by(main_stream, &first);

	HIP_CHECK(hipGraphExecEventRecordNodeSetEvent(exec, node, second.event));
	replay(exec, main_stream);
	waits_replayed(&second.record, main_stream, index, 2);
	wait_by(side, &second);
	wait_by(side, &first);
	record(&second, side);
	wait_by(main_stream, &second);

	/* The instantiated graph above keeps the event that it was made with. */
	HIP_CHECK(hipGraphCreate(&child, 0));
	add_kernel(child, NULL);
	held = add_kernel(child, NULL);
	HIP_CHECK(hipGraphAddChildGraphNode(&child_node, child, &held, 1, graph));
	child_index = index;
	HIP_CHECK(hipGraphInstantiate(&child_exec, child, NULL, NULL, 0));
	replay(child_exec, side);
	waits_replayed(&first.record, side, child_index, 0);
	wait_by(main_stream, &first);
	wait_by(main_stream, &second);
	HIP_CHECK(hipDeviceSynchronize());
	waits_host_for_all();
	return 0;
}

/* A record that a capture turns into a node. The event keeps its state until the graph is
 * launched. */
static int external(void)
{
#ifdef hipEventRecordExternal
	uint32_t *data = device_words(), term = 1, count = WORDS;
	void *arguments[] = {&data, &term, &count};
	struct tracked event = make();
	hipStream_t main_stream, side;
	hipGraph_t graph;
	hipGraphExec_t exec;
	hipGraphNode_t nodes[16];
	hipGraphNodeType type = hipGraphNodeTypeEmpty;
	size_t node_count = 16, node = 0;

	HIP_CHECK(hipStreamCreate(&main_stream));
	HIP_CHECK(hipStreamCreate(&side));
	record(&event, side);
	HIP_CHECK(hipStreamBeginCapture(main_stream, hipStreamCaptureModeThreadLocal));
	example_capture(&example_kernels[MIX], 1, WORDS, arguments, main_stream);
	HIP_CHECK(hipEventRecordWithFlags(event.event, main_stream, hipEventRecordExternal));
	example_capture(&example_kernels[MIX], 1, WORDS, arguments, main_stream);
	HIP_CHECK(hipStreamEndCapture(main_stream, &graph));
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	wait_by(main_stream, &event);
	HIP_CHECK(hipGraphGetNodes(graph, nodes, &node_count));
	for (; node < node_count && type != hipGraphNodeTypeEventRecord; node++)
		HIP_CHECK(hipGraphNodeGetType(nodes[node], &type));
	if (type != hipGraphNodeTypeEventRecord)
		example_fail("the capture has no node for the record");
	must_be_recorded_by(exec, main_stream, event.event);
	waits_replayed(&event.record, main_stream, (unsigned)node - 1, 0);
	wait_by(side, &event);
	HIP_CHECK(hipDeviceSynchronize());
	waits_host_for_all();
	return 0;
#else
	return 2; /* HIP 5.2 does not have this flag */
#endif
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
	if (!strcmp(argv[1], "graphs"))
		return graphs();
	if (!strcmp(argv[1], "external"))
		return external();
	return strcmp(argv[1], "threads") ? 2 : threads();
}
