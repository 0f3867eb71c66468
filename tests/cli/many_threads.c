/* many_threads N: N threads that live at the same time set 16 bytes each. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>

static pthread_barrier_t all_have_worked;
static void *device;

static void *work(void *context)
{
	hipError_t *result = context;

	*result = hipMemset(device, 1, 16);
	pthread_barrier_wait(&all_have_worked);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	pthread_t *threads = calloc(count, sizeof(*threads));
	hipError_t *results = calloc(count, sizeof(*results));
	int failed = 0;

	if (!threads || !results || hipMalloc(&device, 16) != hipSuccess)
		return 1;
	pthread_barrier_init(&all_have_worked, NULL, count);
	for (unsigned i = 0; i < count; i++) {
		if (pthread_create(&threads[i], NULL, work, &results[i]))
			exit(1);
	}
	for (unsigned i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		failed |= results[i] != hipSuccess;
	}
	free(threads);
	free(results);
	puts(failed ? "many_threads: HIP failed" : "set");
	return failed;
}
