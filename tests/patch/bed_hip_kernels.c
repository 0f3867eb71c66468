/* The kernels of the bed on HIP: their source, and host functions of the same names, which the
 * software GPU runs. */
#include "bed_hip_kernels.h"

#include <sched.h>
#include <stdint.h>

#include <hsa/hsa.h>

#define EXPORT __attribute__((visibility("default")))
#define KERNEL(k)                                                                                  \
	EXPORT void softgpu_kernel_bed_##k(const void *, const hsa_kernel_dispatch_packet_t *)

const char bed_hip_source[] =
	"#define I (blockIdx.x * blockDim.x + threadIdx.x)\n"
	"typedef unsigned u32;\n"
	"typedef unsigned long long u64;\n"
	"struct by_struct { u32 *dst; u64 scalar; u32 count, unused; const u32 *src; };\n"
	"struct __attribute__((packed)) packed {\n"
	"	u32 count; u32 *dst; unsigned char scalar; const u32 *src; unsigned char "
	"unused[3];\n"
	"};\n"
	"extern \"C\" __global__ void bed_add(u32 *c, const u32 *a, const u32 *b, u32 n)\n"
	"{ if (I < n) c[I] = a[I] + b[I]; }\n"
	"extern \"C\" __global__ void bed_mul(u32 *c, const u32 *a, const u32 *b, u32 n)\n"
	"{ if (I < n) c[I] = a[I] * b[I]; }\n"
	"extern \"C\" __global__ void bed_fold(u64 *out, const u64 *in, u64 scalar, u32 n)\n"
	"{ if (I < n) out[I] = out[I] * 31 + in[I] + scalar; }\n"
	"extern \"C\" __global__ void bed_mark(u32 *at, u32 value)\n"
	"{ if (I == 0) at[0] += value; }\n"
	"extern \"C\" __global__ void bed_struct(by_struct s)\n"
	"{ if (I < s.count) s.dst[I] = s.src[I] + (u32)s.scalar; }\n"
	"extern \"C\" __global__ void bed_packed(packed s)\n"
	"{ if (I < s.count) s.dst[I] = s.src[I] + s.scalar; }\n"
	"extern \"C\" __global__ void bed_hold(const u32 *flag)\n"
	"{ while (I == 0 && *(const volatile u32 *)flag == 0) ; }\n"
	"extern \"C\" __global__ void bed_count_down(int *counter, u32 *sum, u32 value)\n"
	"{ if (I == 0) { sum[0] += value; counter[0]--; } }\n";

const struct example_kernel bed_hip_kernels[BED_KERNELS] = {
	[BED_ADD] = {"bed_add"},       [BED_MUL] = {"bed_mul"},
	[BED_FOLD] = {"bed_fold"},     [BED_MARK] = {"bed_mark"},
	[BED_STRUCT] = {"bed_struct"}, [BED_PACKED] = {"bed_packed"},
	[BED_HOLD] = {"bed_hold"},     [BED_COUNT_DOWN] = {"bed_count_down"},
};

struct three_arguments {
	uint32_t *c;
	const uint32_t *a, *b;
	uint32_t n;
};

static uint32_t threads(const hsa_kernel_dispatch_packet_t *packet, uint32_t n)
{
	return packet->grid_size_x < n ? packet->grid_size_x : n;
}

KERNEL(add);
void softgpu_kernel_bed_add(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct three_arguments *at = kernarg;

	for (uint32_t i = 0; i < threads(packet, at->n); i++)
		at->c[i] = at->a[i] + at->b[i];
}

KERNEL(mul);
void softgpu_kernel_bed_mul(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct three_arguments *at = kernarg;

	for (uint32_t i = 0; i < threads(packet, at->n); i++)
		at->c[i] = at->a[i] * at->b[i];
}

KERNEL(fold);
void softgpu_kernel_bed_fold(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct {
		uint64_t *out;
		const uint64_t *in;
		uint64_t scalar;
		uint32_t n;
	} *at = kernarg;

	for (uint32_t i = 0; i < threads(packet, at->n); i++)
		at->out[i] = at->out[i] * 31 + at->in[i] + at->scalar;
}

KERNEL(mark);
void softgpu_kernel_bed_mark(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct {
		uint32_t *at;
		uint32_t value;
	} *mark = kernarg;

	mark->at[0] += mark->value;
}

KERNEL(struct);
void softgpu_kernel_bed_struct(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct bed_struct *at = kernarg;

	for (uint32_t i = 0; i < threads(packet, at->count); i++)
		at->dst[i] = at->src[i] + (uint32_t)at->scalar;
}

KERNEL(packed);
void softgpu_kernel_bed_packed(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct bed_packed *at = kernarg;

	for (uint32_t i = 0; i < threads(packet, at->count); i++)
		at->dst[i] = at->src[i] + at->scalar;
}

KERNEL(hold);
void softgpu_kernel_bed_hold(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	uint32_t *const *flag = kernarg;

	while (__atomic_load_n(*flag, __ATOMIC_ACQUIRE) == 0)
		sched_yield();
}

KERNEL(count_down);
void softgpu_kernel_bed_count_down(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct {
		int32_t *counter;
		uint32_t *sum;
		uint32_t value;
	} *at = kernarg;

	at->sum[0] += at->value;
	at->counter[0]--;
}

/* The kernel with which a dagpatch context tests whether updates have an effect. */
EXPORT void softgpu_kernel_dagpatch_probe(const void *, const hsa_kernel_dispatch_packet_t *);
void softgpu_kernel_dagpatch_probe(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct {
		uint32_t *at;
		uint32_t value;
	} *probe = kernarg;

	*probe->at = probe->value;
}

EXPORT void softgpu_kernel_dagpatch_probe_other(const void *, const hsa_kernel_dispatch_packet_t *);
void softgpu_kernel_dagpatch_probe_other(const void *kernarg,
					 const hsa_kernel_dispatch_packet_t *packet)
{
	const struct {
		uint32_t first;
		uint32_t *at;
		uint32_t value;
	} *probe = kernarg;

	*probe->at = probe->first + probe->value;
}
