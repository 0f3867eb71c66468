/*
 * module N: launches kernels by the module interface: hiprtc, hipModuleLoadData,
 * hipModuleLaunchKernel. Passes the arguments N times as pointers and N times as one packed buffer.
 */
#include "common/example.h"

#include <hsa/hsa.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS 128

static const char source[] =
	"__device__ unsigned module_bias = 1;\n"
	"extern \"C\" __global__ void module_step(unsigned *data, unsigned factor, unsigned term)\n"
	"{\n"
	"	data[threadIdx.x] = data[threadIdx.x] * factor + term;\n"
	"}\n";

struct step_arguments {
	uint32_t *data;
	uint32_t factor;
	uint32_t term;
};

static void host_step(uint32_t *data, uint32_t factor, uint32_t term)
{
	for (uint32_t i = 0; i < WORDS; i++)
		data[i] = data[i] * factor + term;
}

/* The software GPU finds this function by name; see common/kernels.c. */
__attribute__((visibility("default"))) void
softgpu_kernel_module_step(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);
void softgpu_kernel_module_step(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	const struct step_arguments *a = kernarg;

	(void)packet;
	host_step(a->data, a->factor, a->term);
}

static void launch_by_pointers(hipFunction_t function, struct step_arguments a)
{
	void *pointers[] = {&a.data, &a.factor, &a.term};

	HIP_CHECK(hipModuleLaunchKernel(function, 1, 1, 1, WORDS, 1, 1, 0, NULL, pointers, NULL));
	example_count_kernels(1);
}

static void launch_by_buffer(hipFunction_t function, struct step_arguments a)
{
	size_t size = sizeof(a);
	void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &a, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
			 HIP_LAUNCH_PARAM_END};

	HIP_CHECK(hipModuleLaunchKernel(function, 1, 1, 1, WORDS, 1, 1, 0, NULL, NULL, extra));
	example_count_kernels(1);
}

static void check_global(hipModule_t module)
{
	hipDeviceptr_t address;
	uint32_t value;
	size_t size;

	HIP_CHECK(hipModuleGetGlobal(&address, &size, module, "module_bias"));
	if (size != sizeof(value))
		example_fail("module_bias has %zu bytes", size);
	HIP_CHECK(hipMemcpyDtoH(&value, address, sizeof(value)));
	if (value != 1)
		example_fail("module_bias is %u", value);
}

int main(int argc, char **argv)
{
	unsigned launches = example_argument(argc, argv, 1, 100);
	uint32_t want[WORDS] = {0}, got[WORDS];
	struct example_code code;
	hipFunction_t function;
	hipModule_t module;
	uint32_t *data;

	example_compile(source, &code);
	HIP_CHECK(hipModuleLoadData(&module, code.bytes));
	HIP_CHECK(hipModuleGetFunction(&function, module, "module_step"));
	check_global(module);
	HIP_CHECK(hipMalloc((void **)&data, sizeof(want)));
	HIP_CHECK(hipMemset(data, 0, sizeof(want)));
	for (uint32_t i = 0; i < launches; i++) {
		launch_by_pointers(function, (struct step_arguments){data, 3, i});
		launch_by_buffer(function, (struct step_arguments){data, 7, i});
		host_step(want, 3, i);
		host_step(want, 7, i);
	}
	HIP_CHECK(hipDeviceSynchronize());
	HIP_CHECK(hipMemcpy(got, data, sizeof(got), hipMemcpyDeviceToHost));
	example_expect(got, want, WORDS, "module");
	HIP_CHECK(hipFree(data));
	HIP_CHECK(hipModuleUnload(module));
	free(code.bytes);
	return example_finish();
}
