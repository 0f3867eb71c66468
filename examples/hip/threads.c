/*
 * threads T N: T threads launch N kernels each; every thread has its own stream, buffer and kernel.
 * The kernel's name identifies its thread, so a test can see whether a trace confuses threads.
 */
#include "common/example.h"

#include <hsa/hsa.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define WORDS	    64
#define MAX_THREADS 8

#define WORKERS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

#define WORKER_SOURCE(number)                                                                      \
	"extern \"C\" __global__ void worker_" #number "(unsigned *data, unsigned term)\n"         \
	"{\n"                                                                                      \
	"	data[threadIdx.x] = data[threadIdx.x] * 5 + term + " #number ";\n"                 \
	"}\n"
static const char source[] = WORKERS(WORKER_SOURCE);

#define WORKER_KERNEL(number) {"worker_" #number},
static const struct example_kernel kernels[MAX_THREADS] = {WORKERS(WORKER_KERNEL)};

struct worker_arguments {
	uint32_t *data;
	uint32_t term;
};

static void host_worker(uint32_t *data, uint32_t term, uint32_t number)
{
	for (uint32_t i = 0; i < WORDS; i++)
		data[i] = data[i] * 5 + term + number;
}

/* The software GPU finds these functions by name; see common/kernels.c. */
#define WORKER_HOST(number)                                                                        \
	__attribute__((visibility("default"))) void softgpu_kernel_worker_##number(                \
		const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);                  \
	void softgpu_kernel_worker_##number(const void *kernarg,                                   \
					    const hsa_kernel_dispatch_packet_t *packet)            \
	{                                                                                          \
		const struct worker_arguments *a = kernarg;                                        \
		(void)packet;                                                                      \
		host_worker(a->data, a->term, number);                                             \
	}
WORKERS(WORKER_HOST)

struct worker {
	pthread_t thread;
	uint32_t number;
	unsigned launches;
};

static void *work(void *argument)
{
	const struct worker *worker = argument;
	uint32_t want[WORDS] = {0}, got[WORDS];
	hipStream_t stream;
	uint32_t *data;

	HIP_CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	HIP_CHECK(hipMalloc((void **)&data, sizeof(want)));
	HIP_CHECK(hipMemsetAsync(data, 0, sizeof(want), stream));
	for (uint32_t i = 0; i < worker->launches; i++) {
		void *arguments[] = {&data, &i};

		example_launch(&kernels[worker->number], 1, WORDS, arguments, stream);
		host_worker(want, i, worker->number);
	}
	HIP_CHECK(hipMemcpyAsync(got, data, sizeof(got), hipMemcpyDeviceToHost, stream));
	HIP_CHECK(hipStreamSynchronize(stream));
	example_expect(got, want, WORDS, kernels[worker->number].name);
	HIP_CHECK(hipFree(data));
	HIP_CHECK(hipStreamDestroy(stream));
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned threads = example_argument(argc, argv, 1, MAX_THREADS);
	unsigned launches = example_argument(argc, argv, 2, 1000);
	struct worker workers[MAX_THREADS];

	if (threads > MAX_THREADS)
		example_fail("at most %d threads", MAX_THREADS);
	example_register(source, kernels, MAX_THREADS);
	for (uint32_t i = 0; i < threads; i++) {
		workers[i].number = i;
		workers[i].launches = launches;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			example_fail("thread %u cannot be made", i);
	}
	for (uint32_t i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	printf("%u threads, %u launches each\n", threads, launches);
	return example_finish();
}
