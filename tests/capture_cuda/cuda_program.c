/* Stands in for a program that uses CUDA: loads the tool as the driver does, replays a graph of LAUNCHES
 * launches of three kernels, and names its steps through NVTX where its headers are there. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

#include "cuda_play.h"

enum { GRAPH = 5, EXEC = 20 };

/* Without one it runs as it would have. */
static void load_tool(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(void) =
		library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;

	if (initialize)
		initialize();
}

static void push(const char *text)
{
#ifdef HAVE_NVTX
	nvtxDomainHandle_t domain = nvtxDomainCreateA("trainer");
	nvtxEventAttributes_t attributes = {
		.version = NVTX_VERSION,
		.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
		.payloadType = NVTX_PAYLOAD_TYPE_INT64,
		.payload.llValue = 42,
		.messageType = NVTX_MESSAGE_TYPE_ASCII,
		.message.ascii = text,
	};

	nvtxDomainRangePushEx(domain, &attributes);
#endif
}

static void pop(void)
{
#ifdef HAVE_NVTX
	nvtxDomainRangePop(nvtxDomainCreateA("trainer"));
#endif
}

int main(int argc, char **argv)
{
	uint32_t launches = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;

	load_tool();
	play_device(DEVICE, "NVIDIA H200");
	play_graph(GRAPH);
	for (uint64_t node = 0; node < 3; node++)
		play_node(GRAPH, 11 + node, CUDA_NODE_KERNEL);
	play_exec(EXEC, GRAPH);
	for (uint32_t launch = 1; launch <= launches; launch++) {
		push("step");
		play_launch(launch, EXEC);
		pop();
		for (uint64_t node = 0; node < 3; node++)
			play_graph_kernel(launch, EXEC, 11 + node, "kernel");
	}
	printf("kernels: %u\n", 3 * launches);
	return 0;
}
