/* The library that plugin.c loads: launches N kernels eagerly and replays a small graph N times. */
#include "common/kernels.h"

#include <hsa/hsa.h>

#define WORDS 64

typedef void (*host_kernel)(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);

/*
 * The software GPU cannot look up symbols of an RTLD_LOCAL library, so the host versions of the
 * kernels are registered with it, if it is the device.
 */
extern int softgpu_kernel_register(const char *name, host_kernel function) __attribute__((weak));
void softgpu_kernel_mix(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);
void softgpu_kernel_rotate(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);

__attribute__((visibility("default"))) int plugin_work(int argc, char **argv);

static void register_host_kernels(void)
{
	if (!softgpu_kernel_register)
		return;
	softgpu_kernel_register("mix", softgpu_kernel_mix);
	softgpu_kernel_register("rotate", softgpu_kernel_rotate);
}

static hipGraphExec_t capture(uint32_t *data, uint32_t key, hipStream_t stream)
{
	uint32_t count = WORDS;
	void *arguments[] = {&data, &key, &count};
	hipGraphExec_t exec;
	hipGraph_t graph;

	HIP_CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
	example_capture(&example_kernels[ROTATE], 1, WORDS, arguments, stream);
	HIP_CHECK(hipStreamEndCapture(stream, &graph));
	HIP_CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	HIP_CHECK(hipGraphDestroy(graph));
	return exec;
}

int plugin_work(int argc, char **argv)
{
	unsigned rounds = example_argument(argc, argv, 1, 100);
	uint32_t want[WORDS] = {0}, got[WORDS], count = WORDS;
	hipGraphExec_t exec;
	hipStream_t stream;
	uint32_t *data;

	register_host_kernels();
	kernels_register();
	HIP_CHECK(hipMalloc((void **)&data, sizeof(want)));
	HIP_CHECK(hipStreamCreate(&stream));
	HIP_CHECK(hipMemsetAsync(data, 0, sizeof(want), stream));
	exec = capture(data, 0x1234567, stream);
	for (uint32_t i = 0; i < rounds; i++) {
		void *arguments[] = {&data, &i, &count};

		example_launch(&example_kernels[MIX], 1, WORDS, arguments, stream);
		HIP_CHECK(hipGraphLaunch(exec, stream));
		example_count_kernels(1);
		host_mix(want, i, WORDS);
		host_rotate(want, 0x1234567, WORDS);
	}
	HIP_CHECK(hipMemcpyAsync(got, data, sizeof(got), hipMemcpyDeviceToHost, stream));
	HIP_CHECK(hipStreamSynchronize(stream));
	example_expect(got, want, WORDS, "plugin");
	HIP_CHECK(hipGraphExecDestroy(exec));
	HIP_CHECK(hipStreamDestroy(stream));
	HIP_CHECK(hipFree(data));
	return example_finish();
}
