/*
 * graph-forkjoin W D R [--print-waits]: captures a graph of D diamonds in sequence and replays it R
 * times. Each diamond has W branches, captured through events that fork to W streams and join
 * again. The captured waits become edges of the graph: at replay no stream waits for an event.
 */
#include "common/kernels.h"
#include "common/roctx.h"
#include "common/waits.h"

#include <stdio.h>
#include <stdlib.h>

#define WORDS	  64
#define MAX_WIDTH 64

struct forkjoin {
	unsigned width;
	unsigned diamonds;
	hipStream_t main_stream;
	hipStream_t branch_stream[MAX_WIDTH];
	hipEvent_t fork;
	hipEvent_t join[MAX_WIDTH];
	uint32_t *data;	 /* WORDS */
	uint32_t *parts; /* WORDS for each branch */
};

static void capture_branch(struct forkjoin *f, unsigned branch)
{
	uint32_t *out = f->parts + (size_t)branch * WORDS;
	uint32_t factor = 2 * branch + 3, count = WORDS;
	void *arguments[] = {&out, &f->data, &factor, &count};

	HIP_CHECK(hipStreamWaitEvent(f->branch_stream[branch], f->fork, 0));
	example_capture(&example_kernels[BRANCH], 1, WORDS, arguments, f->branch_stream[branch]);
	HIP_CHECK(hipEventRecord(f->join[branch], f->branch_stream[branch]));
}

static void capture_diamond(struct forkjoin *f, uint32_t number)
{
	uint32_t count = WORDS, width = f->width;
	void *top[] = {&f->data, &number, &count};
	void *bottom[] = {&f->data, &f->parts, &width, &count};

	example_capture(&example_kernels[MIX], 1, WORDS, top, f->main_stream);
	HIP_CHECK(hipEventRecord(f->fork, f->main_stream));
	for (unsigned branch = 0; branch < f->width; branch++)
		capture_branch(f, branch);
	for (unsigned branch = 0; branch < f->width; branch++)
		HIP_CHECK(hipStreamWaitEvent(f->main_stream, f->join[branch], 0));
	example_capture(&example_kernels[REDUCE], 1, WORDS, bottom, f->main_stream);
}

static hipGraphExec_t capture(struct forkjoin *f)
{
	hipGraph_t graph;
	hipGraphExec_t exec;

	HIP_CHECK(hipStreamBeginCapture(f->main_stream, hipStreamCaptureModeThreadLocal));
	for (unsigned number = 0; number < f->diamonds; number++)
		capture_diamond(f, number);
	HIP_CHECK(hipStreamEndCapture(f->main_stream, &graph));
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP_CHECK(hipGraphDestroy(graph));
	return exec;
}

static void host_replay(const struct forkjoin *f, uint32_t *data)
{
	static uint32_t parts[MAX_WIDTH * WORDS];

	for (unsigned number = 0; number < f->diamonds; number++) {
		host_mix(data, number, WORDS);
		for (unsigned branch = 0; branch < f->width; branch++)
			host_branch(parts + (size_t)branch * WORDS, data, 2 * branch + 3, WORDS);
		host_reduce(data, parts, f->width, WORDS);
	}
}

static void create(struct forkjoin *f, const uint32_t *initial)
{
	HIP_CHECK(hipStreamCreate(&f->main_stream));
	HIP_CHECK(hipEventCreateWithFlags(&f->fork, hipEventDisableTiming));
	for (unsigned branch = 0; branch < f->width; branch++) {
		HIP_CHECK(hipStreamCreate(&f->branch_stream[branch]));
		HIP_CHECK(hipEventCreateWithFlags(&f->join[branch], hipEventDisableTiming));
	}
	HIP_CHECK(hipMalloc((void **)&f->data, WORDS * sizeof(uint32_t)));
	HIP_CHECK(hipMalloc((void **)&f->parts, sizeof(uint32_t) * f->width * WORDS));
	HIP_CHECK(hipMemcpy(f->data, initial, WORDS * sizeof(uint32_t), hipMemcpyHostToDevice));
}

static void destroy(struct forkjoin *f)
{
	HIP_CHECK(hipFree(f->parts));
	HIP_CHECK(hipFree(f->data));
	for (unsigned branch = 0; branch < f->width; branch++) {
		HIP_CHECK(hipEventDestroy(f->join[branch]));
		HIP_CHECK(hipStreamDestroy(f->branch_stream[branch]));
	}
	HIP_CHECK(hipEventDestroy(f->fork));
	HIP_CHECK(hipStreamDestroy(f->main_stream));
}

int main(int argc, char **argv)
{
	uint32_t want[WORDS], got[WORDS];
	struct forkjoin f = {0};
	hipGraphExec_t exec;
	unsigned replays;

	waits_option(&argc, argv);
	f.width = example_argument(argc, argv, 1, 8);
	f.diamonds = example_argument(argc, argv, 2, 8);
	replays = example_argument(argc, argv, 3, 50);
	if (f.width > MAX_WIDTH)
		example_fail("at most %d branches", MAX_WIDTH);
	for (uint32_t i = 0; i < WORDS; i++)
		want[i] = i + 1;
	kernels_register();
	create(&f, want);
	exec = capture(&f);
	for (unsigned replay = 0; replay < replays; replay++) {
		roctx_push("graph_launch");
		HIP_CHECK(hipGraphLaunch(exec, f.main_stream));
		roctx_pop();
		example_count_kernels((uint64_t)f.diamonds * (f.width + 2));
		host_replay(&f, want);
	}
	HIP_CHECK(hipStreamSynchronize(f.main_stream));
	waits_host_for_stream(f.main_stream);
	HIP_CHECK(hipMemcpy(got, f.data, sizeof(got), hipMemcpyDeviceToHost));
	example_expect(got, want, WORDS, "diamonds");
	HIP_CHECK(hipGraphExecDestroy(exec));
	destroy(&f);
	printf("%u diamonds of %u branches, launched %u times\n", f.diamonds, f.width, replays);
	return example_finish();
}
