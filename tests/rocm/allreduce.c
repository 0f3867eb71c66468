/*
 * allreduce WORDS COUNT: sums WORDS floats over all GPUs of this process COUNT times with RCCL,
 * with one stream for each GPU. RCCL's kernel has no host version: on the software GPU it takes its
 * time and does not change the data.
 */
#include "common/example.h"

#include <stdio.h>
#include <stdlib.h>

#include <rccl/rccl.h>

#define GPUS_MOST   8
#define CHECK(call) check((call), #call)

struct gpu {
	float *data;
	hipStream_t stream;
};

static void check(ncclResult_t result, const char *call)
{
	if (result != ncclSuccess)
		example_fail("%s: %s", call, ncclGetErrorString(result));
}

static void sum(ncclComm_t *communicators, const struct gpu *gpus, int count, size_t words)
{
	CHECK(ncclGroupStart());
	for (int i = 0; i < count; i++)
		CHECK(ncclAllReduce(gpus[i].data, gpus[i].data, words, ncclFloat, ncclSum,
				    communicators[i], gpus[i].stream));
	CHECK(ncclGroupEnd());
}

static void open_gpu(int device, size_t words, struct gpu *ret_gpu)
{
	HIP_CHECK(hipSetDevice(device));
	HIP_CHECK(hipMalloc((void **)&ret_gpu->data, words * sizeof(float)));
	HIP_CHECK(hipMemset(ret_gpu->data, 0, words * sizeof(float)));
	HIP_CHECK(hipStreamCreate(&ret_gpu->stream));
}

int main(int argc, char **argv)
{
	size_t words = example_argument(argc, argv, 1, 1 << 16);
	unsigned rounds = example_argument(argc, argv, 2, 3);
	ncclComm_t communicators[GPUS_MOST];
	struct gpu gpus[GPUS_MOST];
	int count;

	HIP_CHECK(hipGetDeviceCount(&count));
	if (count > GPUS_MOST)
		count = GPUS_MOST;
	CHECK(ncclCommInitAll(communicators, count, NULL));
	for (int i = 0; i < count; i++)
		open_gpu(i, words, &gpus[i]);
	for (unsigned round = 0; round < rounds; round++)
		sum(communicators, gpus, count, words);
	for (int i = 0; i < count; i++) {
		HIP_CHECK(hipSetDevice(i));
		HIP_CHECK(hipStreamSynchronize(gpus[i].stream));
		HIP_CHECK(hipStreamDestroy(gpus[i].stream));
		HIP_CHECK(hipFree(gpus[i].data));
	}
	for (int i = 0; i < count; i++)
		CHECK(ncclCommDestroy(communicators[i]));
	printf("all-reduces: %u on each of %d GPUs\n", rounds, count);
	return EXIT_SUCCESS;
}
