/* vector-add N: the textbook program, for machines with hipcc: N launches with <<<>>>, checked. */
#include <hip/hip_runtime.h>
#include <hsa/hsa.h>

#include <cstdio>
#include <cstdlib>

static const unsigned words = 1024;

extern "C" __global__ void vector_add(unsigned *sum, const unsigned *a, unsigned count)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		sum[i] += a[i];
}

/* The software GPU finds this by name and computes with it; a real GPU never calls it. */
struct vector_add_arguments {
	unsigned *sum;
	const unsigned *a;
	unsigned count;
};

extern "C" void softgpu_kernel_vector_add(const void *kernarg, const hsa_kernel_dispatch_packet_t *)
{
	const vector_add_arguments *v = static_cast<const vector_add_arguments *>(kernarg);

	for (unsigned i = 0; i < v->count; i++)
		v->sum[i] += v->a[i];
}

static void check(hipError_t error, const char *what)
{
	if (error == hipSuccess)
		return;
	fprintf(stderr, "vector-add: %s: %s\n", what, hipGetErrorString(error));
	exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	unsigned launches = argc > 1 ? strtoul(argv[1], nullptr, 10) : 100;
	static unsigned host[words], result[words];
	unsigned *sum, *a;

	for (unsigned i = 0; i < words; i++)
		host[i] = i;
	check(hipMalloc(&sum, sizeof(host)), "malloc");
	check(hipMalloc(&a, sizeof(host)), "malloc");
	check(hipMemset(sum, 0, sizeof(host)), "memset");
	check(hipMemcpy(a, host, sizeof(host), hipMemcpyHostToDevice), "copy in");
	for (unsigned i = 0; i < launches; i++)
		vector_add<<<words / 256, 256>>>(sum, a, words);
	check(hipGetLastError(), "launch");
	check(hipMemcpy(result, sum, sizeof(result), hipMemcpyDeviceToHost), "copy out");
	for (unsigned i = 0; i < words; i++)
		if (result[i] != launches * i)
			check(hipErrorUnknown, "wrong sum");
	check(hipFree(a), "free");
	check(hipFree(sum), "free");
	printf("kernels launched: %u\n", launches);
	return EXIT_SUCCESS;
}
