/*
 * names-hip: kernels of two modules have one name and different parameters. Which one a function
 * belongs to cannot be known, so both executables have to pass through.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hsa/hsa.h>

#include "common/example.h"

enum { STEPS = 10, THREADS = 1 };

static const char *const sources[] = {
	"extern \"C\" __global__ void preload_twin(unsigned long long *out, unsigned value)\n"
	"{ *out += value; }\n",
	"extern \"C\" __global__ void preload_twin(unsigned value, unsigned long long *out)\n"
	"{ *out += value; }\n",
};

__attribute__((visibility("default"))) void
softgpu_kernel_preload_twin(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);
void softgpu_kernel_preload_twin(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	uint64_t words[2];
	uint64_t *out;
	bool is_value_first;

	memcpy(words, kernarg, sizeof(words));
	/* The values are small, and addresses are not. What is behind a value is not 0 always. */
	is_value_first = (uint32_t)words[0] <= STEPS;
	out = (uint64_t *)(uintptr_t)words[is_value_first];
	*out += (uint32_t)words[!is_value_first];
}

static uint64_t run(hipFunction_t function, int first, uint64_t *out)
{
	uint32_t value = 1;
	void *pointers[] = {first ? (void *)&value : (void *)&out,
			    first ? (void *)&out : (void *)&value};
	hipKernelNodeParams params = {.func = function,
				      .gridDim = {1, 1, 1},
				      .blockDim = {THREADS, 1, 1},
				      .kernelParams = pointers};
	hipGraphExec_t exec;
	hipGraphNode_t node;
	hipGraph_t graph;
	uint64_t sum;

	HIP_CHECK(hipGraphCreate(&graph, 0));
	HIP_CHECK(hipGraphAddKernelNode(&node, graph, NULL, 0, &params));
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	for (; value <= STEPS; value++) {
		HIP_CHECK(hipGraphExecKernelNodeSetParams(exec, node, &params));
		HIP_CHECK(hipGraphLaunch(exec, NULL));
	}
	HIP_CHECK(hipMemcpy(&sum, out, sizeof(sum), hipMemcpyDeviceToHost));
	HIP_CHECK(hipGraphExecDestroy(exec));
	HIP_CHECK(hipGraphDestroy(graph));
	return sum;
}

int main(void)
{
	hipFunction_t functions[2];
	uint64_t zero = 0, sum;

	for (int i = 0; i < 2; i++) {
		struct example_code code;
		hipModule_t module;

		example_compile(sources[i], &code);
		HIP_CHECK(hipModuleLoadData(&module, code.bytes));
		HIP_CHECK(hipModuleGetFunction(&functions[i], module, "preload_twin"));
	}
	for (int i = 0; i < 2; i++) {
		uint64_t *out;

		HIP_CHECK(hipMalloc((void **)&out, sizeof(*out)));
		HIP_CHECK(hipMemcpy(out, &zero, sizeof(zero), hipMemcpyHostToDevice));
		sum = run(functions[i], i, out);
		if (sum != STEPS * (STEPS + 1) / 2)
			example_fail("function %d: the sum is %llu", i, (unsigned long long)sum);
	}
	printf("both functions got their arguments\n");
	return 0;
}
