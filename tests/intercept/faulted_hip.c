/* intercept-faulted-hip: five kernels in one stream; the third accesses an address that is not
 * there, and the runtime, or HIP, ends the process. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <hsa/hsa.h>

#include "common/example.h"

#define KERNELS 5
#define ODD_ONE 2

static const char source[] = "extern \"C\" __global__ void ticket(unsigned number)\n"
			     "{\n"
			     "}\n";
static const struct example_kernel kernels[] = {{"ticket"}};

/* The software GPU's, which takes the place of HIP's HSA runtime. */
static void *softgpu(const char *name)
{
	void *function = dlsym(RTLD_DEFAULT, name);

	if (!function) {
		fprintf(stderr, "no %s\n", name);
		exit(9);
	}
	return function;
}

__attribute__((visibility("default"))) void
softgpu_kernel_ticket(const void *arguments, const hsa_kernel_dispatch_packet_t *packet);
void softgpu_kernel_ticket(const void *arguments, const hsa_kernel_dispatch_packet_t *packet)
{
	void (*fault)(const void *address);

	(void)packet;
	*(void **)&fault = softgpu("softgpu_memory_fault");
	if (*(const unsigned *)arguments == ODD_ONE)
		fault((const void *)0xdead000);
}

int main(void)
{
	void (*hold)(void), (*release)(void);
	hipStream_t stream;

	*(void **)&hold = softgpu("softgpu_clock_hold");
	*(void **)&release = softgpu("softgpu_clock_release");
	example_register(source, kernels, 1);
	HIP_CHECK(hipStreamCreate(&stream));
	/* All are in the queue before the first one ends. */
	hold();
	for (unsigned i = 0; i < KERNELS; i++) {
		void *arguments[] = {&i};

		example_launch(&kernels[0], 1, 1, arguments, stream);
	}
	release();
	HIP_CHECK(hipStreamSynchronize(stream));
	return 7;
}
