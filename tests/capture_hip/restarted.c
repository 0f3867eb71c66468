/* restarted [late]: a program that is recorded three times and works between the recordings.
 * With "late" the GPU runtime starts between two recordings. For each recording it prints what
 * the recording must hold, "recording K G C": kernels, kernels of graphs among them, and copies.
 * At the end it prints "kernels launched: N" for the whole run. */
#include <dagtap/annotate.h>
#include <dagtap/session.h>
#include <stdio.h>

#include "kernels.h"

#define WORDS 64

static uint32_t *data;
static uint32_t host[WORDS];

static void launch(hipStream_t stream, unsigned times)
{
	for (uint32_t i = 0; i < times; i++) {
		uint32_t count = WORDS;
		void *arguments[] = {&data, &i, &count};

		example_launch(&example_kernels[MIX], 1, WORDS, arguments, stream);
	}
}

static hipGraphExec_t capture(hipStream_t stream, unsigned kernels)
{
	hipGraph_t graph;
	hipGraphExec_t exec;

	HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
	for (uint32_t i = 0; i < kernels; i++) {
		uint32_t count = WORDS;
		void *arguments[] = {&data, &i, &count};

		example_capture(&example_kernels[i % 3 ? MIX : ROTATE], 1, WORDS, arguments,
				stream);
	}
	HIP_CHECK(hipStreamEndCapture(stream, &graph));
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP_CHECK(hipGraphDestroy(graph));
	return exec;
}

static void replay(hipGraphExec_t exec, hipStream_t stream, unsigned kernels, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		HIP_CHECK(hipGraphLaunch(exec, stream));
		example_count_kernels(kernels);
	}
}

static void copy_back(void)
{
	HIP_CHECK(hipMemcpy(host, data, sizeof(host), hipMemcpyDeviceToHost));
}

static int be_late(void)
{
	dagtap_session_start();
	dagtap_session_stop();
	printf("recording 0 0 0\n");
	kernels_register();
	HIP_CHECK(hipMalloc((void **)&data, sizeof(host)));
	launch(NULL, 3);
	dagtap_session_start();
	launch(NULL, 5);
	copy_back();
	printf("recording 5 0 1\n");
	return example_finish();
}

static int be_restarted(void)
{
	hipStream_t first, second;
	hipGraphExec_t kept, gone, between;

	kernels_register();
	HIP_CHECK(hipMalloc((void **)&data, sizeof(host)));
	HIP_CHECK(hipStreamCreate(&first));
	kept = capture(first, 10);
	gone = capture(first, 4);
	dagtap_scope_push("first");
	replay(kept, first, 10, 3);
	replay(gone, first, 4, 1);
	launch(first, 5);
	copy_back();
	dagtap_scope_pop();
	printf("recording 39 34 1\n");
	dagtap_session_stop();

	launch(first, 7);
	HIP_CHECK(hipGraphExecDestroy(gone));
	HIP_CHECK(hipStreamCreate(&second));
	between = capture(second, 6);
	replay(between, second, 6, 1);
	replay(kept, first, 10, 2);
	copy_back();

	/* Start without waiting for the work in flight. */
	dagtap_session_start();
	dagtap_scope_push("second");
	replay(kept, first, 10, 4);
	replay(between, second, 6, 5);
	launch(first, 8);
	launch(second, 9);
	copy_back();
	copy_back();
	dagtap_scope_pop();
	printf("recording 87 70 2\n");
	HIP_CHECK(hipDeviceSynchronize());
	dagtap_session_stop();
	launch(second, 3);
	HIP_CHECK(hipDeviceSynchronize());

	dagtap_session_start();
	printf("recording 0 0 0\n");
	dagtap_session_stop();
	launch(first, 1);
	HIP_CHECK(hipDeviceSynchronize());
	return example_finish();
}

int main(int argc, char **argv)
{
	return argc > 1 ? be_late() : be_restarted();
}
