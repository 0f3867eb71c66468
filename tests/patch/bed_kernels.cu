/* The kernels of bed.h for CUDA; scripts/gen-cuda-kernels.sh makes bed_kernels.ptx of them. */
#include <stdint.h>

struct bed_struct {
	uint32_t *dst;
	uint64_t scalar;
	uint32_t count;
	uint32_t unused;
	const uint32_t *src;
};

struct __attribute__((packed)) bed_packed {
	uint32_t count;
	uint32_t *dst;
	uint8_t scalar;
	const uint32_t *src;
	uint8_t unused[3];
};

static __device__ uint32_t element()
{
	return blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" __global__ void bed_add(uint32_t *c, const uint32_t *a, const uint32_t *b, uint32_t n)
{
	if (element() < n)
		c[element()] = a[element()] + b[element()];
}

extern "C" __global__ void bed_mul(uint32_t *c, const uint32_t *a, const uint32_t *b, uint32_t n)
{
	if (element() < n)
		c[element()] = a[element()] * b[element()];
}

extern "C" __global__ void bed_fold(uint64_t *out, const uint64_t *in, uint64_t scalar, uint32_t n)
{
	if (element() < n)
		out[element()] = out[element()] * 31 + in[element()] + scalar;
}

extern "C" __global__ void bed_mark(uint32_t *at, uint32_t value)
{
	if (element() == 0)
		at[0] += value;
}

extern "C" __global__ void bed_struct(struct bed_struct args)
{
	if (element() < args.count)
		args.dst[element()] = args.src[element()] + (uint32_t)args.scalar;
}

extern "C" __global__ void bed_packed(struct bed_packed args)
{
	if (element() < args.count)
		args.dst[element()] = args.src[element()] + args.scalar;
}

extern "C" __global__ void bed_hold(const uint32_t *flag)
{
	while (element() == 0 && !*(const volatile uint32_t *)flag)
		;
}

extern "C" __global__ void bed_count_down(int32_t *counter, uint32_t *sum, uint32_t value)
{
	if (element() == 0) {
		sum[0] += value;
		counter[0]--;
	}
}
