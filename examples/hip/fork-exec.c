/*
 * fork-exec N: shows a process that forks after it has used the GPU. The child executes this
 * program again and uses the GPU as well, while the parent continues. Each launches N kernels
 * twice.
 */
#include "common/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 64

static void use_gpu(unsigned launches)
{
	uint32_t want[WORDS] = {0}, got[WORDS], count = WORDS;
	hipStream_t stream;
	uint32_t *data;

	HIP_CHECK(hipMalloc((void **)&data, sizeof(want)));
	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipMemsetAsync(data, 0, sizeof(want), stream));
	for (uint32_t i = 0; i < launches; i++) {
		void *arguments[] = {&data, &i, &count};

		example_launch(&example_kernels[MIX], 1, WORDS, arguments, stream);
		host_mix(want, i, WORDS);
	}
	HIP_CHECK(hipMemcpyAsync(got, data, sizeof(got), hipMemcpyDeviceToHost, stream));
	HIP_CHECK(hipStreamSynchronize(stream));
	example_expect(got, want, WORDS, "process");
	HIP_CHECK(hipStreamDestroy(stream));
	HIP_CHECK(hipFree(data));
}

static pid_t start_child(char *program, char *launches)
{
	pid_t child = fork();

	if (child < 0)
		example_fail("cannot fork");
	if (child == 0) {
		execl("/proc/self/exe", program, launches, "child", (char *)NULL);
		_exit(127);
	}
	return child;
}

static void wait_for_child(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		example_fail("the child failed");
}

int main(int argc, char **argv)
{
	unsigned launches = example_argument(argc, argv, 1, 200);
	char text[16];
	pid_t child;

	kernels_register();
	use_gpu(launches);
	if (argc > 2 && !strcmp(argv[2], "child")) {
		use_gpu(launches);
		return EXIT_SUCCESS;
	}
	snprintf(text, sizeof(text), "%u", launches);
	child = start_child(argv[0], text);
	use_gpu(launches);
	wait_for_child(child);
	example_count_kernels(2 * (uint64_t)launches); /* for the child, which prints nothing */
	return example_finish();
}
