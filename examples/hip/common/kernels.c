/* The examples' kernels: HIP source, and the same arithmetic as C functions: kernels.h. */
#include "kernels.h"

#include <hsa/hsa.h>

#define EXPORT __attribute__((visibility("default")))

static const char source[] =
	"extern \"C\" __global__ void mix(unsigned *data, unsigned term, unsigned count)\n"
	"{\n"
	"	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	if (i < count)\n"
	"		data[i] = data[i] * 3 + term;\n"
	"}\n"
	"extern \"C\" __global__ void rotate(unsigned *data, unsigned key, unsigned count)\n"
	"{\n"
	"	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	if (i < count)\n"
	"		data[i] = (data[i] << 7 | data[i] >> 25) ^ key;\n"
	"}\n"
	"extern \"C\" __global__ void branch(unsigned *out, const unsigned *in, unsigned factor,\n"
	"				    unsigned count)\n"
	"{\n"
	"	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	if (i < count)\n"
	"		out[i] = in[i] * factor + 1;\n"
	"}\n"
	"extern \"C\" __global__ void reduce(unsigned *data, const unsigned *parts, unsigned "
	"width,\n"
	"				    unsigned count)\n"
	"{\n"
	"	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"	for (unsigned w = 0; i < count && w < width; w++)\n"
	"		data[i] = data[i] * 31 + parts[w * count + i];\n"
	"}\n";

const struct example_kernel example_kernels[KERNEL_COUNT] = {
	[MIX] = {"mix"},
	[ROTATE] = {"rotate"},
	[BRANCH] = {"branch"},
	[REDUCE] = {"reduce"},
};

void kernels_register(void)
{
	example_register(source, example_kernels, KERNEL_COUNT);
}

void host_mix(uint32_t *data, uint32_t term, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		data[i] = data[i] * 3 + term;
}

void host_rotate(uint32_t *data, uint32_t key, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		data[i] = (data[i] << 7 | data[i] >> 25) ^ key;
}

void host_branch(uint32_t *out, const uint32_t *in, uint32_t factor, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		out[i] = in[i] * factor + 1;
}

void host_reduce(uint32_t *data, const uint32_t *parts, uint32_t width, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t w = 0; w < width; w++)
			data[i] = data[i] * 31 + parts[(size_t)w * count + i];
}

/* The kernel arguments as the compiler lays them out, each aligned to its own size. */
struct one_buffer_arguments {
	uint32_t *data;
	uint32_t value;
	uint32_t count;
};

struct two_buffer_arguments {
	uint32_t *out;
	const uint32_t *in;
	uint32_t value;
	uint32_t count;
};

/* The software GPU looks these functions up by name in the program; a real GPU never calls them. */
EXPORT void softgpu_kernel_mix(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);
EXPORT void softgpu_kernel_rotate(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);
EXPORT void softgpu_kernel_branch(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);
EXPORT void softgpu_kernel_reduce(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);

void softgpu_kernel_mix(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct one_buffer_arguments *a = kernarg;

	host_mix(a->data, a->value,
		 a->count < packet->grid_size_x ? a->count : packet->grid_size_x);
}

void softgpu_kernel_rotate(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct one_buffer_arguments *a = kernarg;

	host_rotate(a->data, a->value,
		    a->count < packet->grid_size_x ? a->count : packet->grid_size_x);
}

void softgpu_kernel_branch(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct two_buffer_arguments *a = kernarg;

	host_branch(a->out, a->in, a->value,
		    a->count < packet->grid_size_x ? a->count : packet->grid_size_x);
}

void softgpu_kernel_reduce(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct two_buffer_arguments *a = kernarg;

	if (packet->grid_size_x >= a->count)
		host_reduce(a->out, a->in, a->value, a->count);
}
