/* ranged profiler|pause|steps|threads|exit|api: a program that works inside and outside the ranges
 * that it opens, in the way that its argument names. For each time that may be recorded it prints
 * "range K G": kernels, and kernels of graphs among them. At the end it prints "kernels launched:
 * N" for the whole run. */
#include <dagtap/annotate.h>
#include <dagtap/session.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

#define WORDS	64
#define THREADS 4
#define ROUNDS	6

static uint32_t *data;
static hipGraphExec_t early; /* of 5 kernels, built before anything is recorded */

static void launch(hipStream_t stream, unsigned times)
{
	for (uint32_t i = 0; i < times; i++) {
		uint32_t count = WORDS;
		void *arguments[] = {&data, &i, &count};

		example_launch(&example_kernels[MIX], 1, WORDS, arguments, stream);
	}
}

static hipGraphExec_t capture(unsigned kernels)
{
	hipStream_t stream;
	hipGraph_t graph;
	hipGraphExec_t exec;

	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
	for (uint32_t i = 0; i < kernels; i++) {
		uint32_t count = WORDS;
		void *arguments[] = {&data, &i, &count};

		example_capture(&example_kernels[MIX], 1, WORDS, arguments, stream);
	}
	HIP_CHECK(hipStreamEndCapture(stream, &graph));
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP_CHECK(hipGraphDestroy(graph));
	HIP_CHECK(hipStreamDestroy(stream));
	return exec;
}

static void replay(hipGraphExec_t exec, unsigned kernels, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		HIP_CHECK(hipGraphLaunch(exec, NULL));
		example_count_kernels(kernels);
	}
}

/* HIP answers that the functions are not supported, and its header that they are deprecated. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void hip_start(void)
{
	(void)hipProfilerStart();
}

static void hip_stop(void)
{
	(void)hipProfilerStop();
}

static void call_roctx(const char *function)
{
	int (*call)(uint64_t) = (int (*)(uint64_t))dlsym(RTLD_DEFAULT, function);

	if (call)
		call(0);
}

static void roctx_resume(void)
{
	call_roctx("roctxProfilerResume");
}

static void roctx_pause(void)
{
	call_roctx("roctxProfilerPause");
}

/* Twice, with a graph from before, one from between, and more calls than are needed. */
static void be_called(void (*start)(void), void (*stop)(void))
{
	hipGraphExec_t between;

	launch(NULL, 3);
	stop();
	start();
	start();
	launch(NULL, 5);
	replay(early, 5, 3);
	printf("range 20 15\n");
	stop();
	launch(NULL, 2);
	between = capture(4);
	replay(between, 4, 1);
	stop();
	start();
	replay(early, 5, 2);
	replay(between, 4, 6);
	launch(NULL, 1);
	printf("range 35 34\n");
	stop();
	launch(NULL, 4);
}

static void be_stepped(void)
{
	for (unsigned i = 1; i <= ROUNDS; i++) {
		launch(NULL, 1);
		dagtap_scope_push("step");
		launch(NULL, i);
		dagtap_scope_push("step");
		replay(early, 5, 1);
		dagtap_scope_pop();
		launch(NULL, 2);
		dagtap_scope_pop();
		printf("range %u 5\n", i + 7);
	}
	launch(NULL, 1);
}

static pthread_barrier_t turn;

/* All of them are inside when the first one works, and outside when they work outside. */
static void *step_on_thread(void *unused)
{
	hipStream_t stream;

	HIP_CHECK(hipStreamCreate(&stream));
	for (unsigned i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&turn);
		launch(stream, 2);
		HIP_CHECK(hipStreamSynchronize(stream));
		pthread_barrier_wait(&turn);
		dagtap_scope_push("step");
		launch(stream, 10);
		dagtap_scope_pop();
		pthread_barrier_wait(&turn);
	}
	return NULL;
}

static void be_threaded(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&turn, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, step_on_thread, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("range %d 0\n", THREADS * ROUNDS * 10);
}

static void start_at_exit(void)
{
	hip_start();
	launch(NULL, 6);
	HIP_CHECK(hipDeviceSynchronize());
}

static void be_late(void)
{
	launch(NULL, 3);
	printf("range 6 0\n");
	atexit(start_at_exit);
}

static void start_session(void)
{
	dagtap_session_start();
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	kernels_register();
	HIP_CHECK(hipMalloc((void **)&data, WORDS * sizeof(*data)));
	early = capture(5);
	if (!strcmp(way, "profiler"))
		be_called(hip_start, hip_stop);
	else if (!strcmp(way, "pause"))
		be_called(roctx_resume, roctx_pause);
	else if (!strcmp(way, "api"))
		be_called(start_session, dagtap_session_stop);
	else if (!strcmp(way, "steps"))
		be_stepped();
	else if (!strcmp(way, "threads"))
		be_threaded();
	else
		be_late();
	HIP_CHECK(hipDeviceSynchronize());
	return example_finish();
}
