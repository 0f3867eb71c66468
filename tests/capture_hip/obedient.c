/* obedient: a program that does what it is told on standard input, one request a line, and answers
 * each with a line when it is done.
 *   launch N   launches N kernels and waits for them
 *   replay N   replays a graph of 5 kernels N times; the first of these requests builds it
 *   step N     replays the graph once within each of N scopes "step", and once after each
 *   close      closes all descriptors but the standard ones, as a daemon does
 * It begins with a line that has its process id, before it uses a GPU, and ends with its input. */
#include <dagtap/annotate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels.h"

#define WORDS 64

static uint32_t *data;

static void prepare(void)
{
	if (data)
		return;
	kernels_register();
	HIP_CHECK(hipMalloc((void **)&data, WORDS * sizeof(*data)));
}

static void launch(unsigned times)
{
	prepare();
	for (uint32_t i = 0; i < times; i++) {
		uint32_t count = WORDS;
		void *arguments[] = {&data, &i, &count};

		example_launch(&example_kernels[MIX], 1, WORDS, arguments, NULL);
	}
	HIP_CHECK(hipDeviceSynchronize());
}

static hipGraphExec_t build(void)
{
	hipStream_t stream;
	hipGraph_t graph;
	hipGraphExec_t exec;

	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t count = WORDS;
		void *arguments[] = {&data, &i, &count};

		example_capture(&example_kernels[MIX], 1, WORDS, arguments, stream);
	}
	HIP_CHECK(hipStreamEndCapture(stream, &graph));
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	return exec;
}

static void replay(unsigned times)
{
	static hipGraphExec_t exec;

	prepare();
	if (!exec)
		exec = build();
	for (unsigned i = 0; i < times; i++)
		HIP_CHECK(hipGraphLaunch(exec, NULL));
	HIP_CHECK(hipDeviceSynchronize());
}

static void step(unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		dagtap_scope_push("step");
		replay(1);
		dagtap_scope_pop();
		replay(1);
	}
}

int main(void)
{
	char line[64];

	printf("pid %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		unsigned number = 0;

		if (sscanf(line, "launch %u", &number) == 1)
			launch(number);
		else if (sscanf(line, "replay %u", &number) == 1)
			replay(number);
		else if (sscanf(line, "step %u", &number) == 1)
			step(number);
		else if (!strcmp(line, "close\n"))
			for (int fd = 3; fd < 1024; fd++)
				close(fd);
		else
			return 1;
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}
