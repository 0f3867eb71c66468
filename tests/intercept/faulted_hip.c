/* intercept-faulted-hip memory
 *
 * hang: submits five kernels to one stream. The third one does not end.
 *
 * - memory: it accesses an unmapped address, and the runtime or HIP ends the process.
 * - hang: it never ends, and the program stops waiting and exits. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hsa/hsa.h>

#include "common/example.h"

#define KERNELS 5
#define ODD_ONE 2

static const char source[] = "extern \"C\" __global__ void ticket(unsigned number)\n"
			     "{\n"
			     "}\n";
static const struct example_kernel kernels[] = {{"ticket"}};

static bool touches_nothing;

/* Finds a function of the software GPU, which takes the place of the HSA runtime that HIP uses. */
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
	void (*memory_fault)(const void *address);

	(void)packet;
	*(void **)&memory_fault = softgpu("softgpu_memory_fault");
	if (touches_nothing && *(const unsigned *)arguments == ODD_ONE)
		memory_fault((const void *)0xdead000);
}

static void launch(unsigned first, unsigned end, hipStream_t stream)
{
	for (unsigned i = first; i < end; i++) {
		void *arguments[] = {&i};

		example_launch(&kernels[0], 1, 1, arguments, stream);
	}
}

int main(int argc, char **argv)
{
	bool hangs = argc > 1 && !strcmp(argv[1], "hang");
	int (*await)(const char *counter, uint64_t value);
	void (*take_hold)(void), (*take_release)(void), (*clock_hold)(void);
	hipStream_t stream;

	*(void **)&await = softgpu("softgpu_await");
	*(void **)&take_hold = softgpu("softgpu_take_hold");
	*(void **)&take_release = softgpu("softgpu_take_release");
	*(void **)&clock_hold = softgpu("softgpu_clock_hold");
	example_register(source, kernels, 1);
	HIP_CHECK(hipStreamCreate(&stream));
	launch(0, ODD_ONE, stream);
	await("packets_ended", ODD_ONE);
	/* All other kernels are in the queue before the device takes the one that does not end. */
	take_hold();
	launch(ODD_ONE, KERNELS, stream);
	touches_nothing = !hangs;
	if (hangs)
		clock_hold();
	take_release();
	if (!hangs)
		HIP_CHECK(hipStreamSynchronize(stream));
	await("packets_kernel_dispatch", ODD_ONE + 1);
	exit(7);
}
