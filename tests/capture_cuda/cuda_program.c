/*
 * cuda-program [LAUNCHES [paced | killed | beside]]: plays a program that uses CUDA. It loads the
 * tool as the driver does, replays a graph of three kernels LAUNCHES times, and names its steps
 * through NVTX if NVTX's headers are installed. No GPU slows it down, so records may come faster
 * than chunks are prepared; with "paced" it waits for chunks, and no record is dropped. With
 * "killed" it ends by SIGKILL: CUPTI has then delivered the buffers that are full, and holds the
 * last one. With "beside" it first subscribes to CUPTI for a profiler of its own, which it looks up
 * in the library, and prints the result; then it unsubscribes.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

#include "cuda_play.h"
#include "record/spool.h"

enum { GRAPH = 5, EXEC = 20 };

/* Chunks: less than the least that is kept ready, more than the launches in between fill. */
enum { PACE_READY = 256, PACE_LAUNCHES = 1000 };

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

/* Returns the spool that this process writes, -1 if it is not traced. */
static int spool_open(void)
{
	const char *folder = getenv("DAGTAP_SPOOL");
	glob_t found = {0};
	char pattern[4096];
	int file = -1;

	if (!folder)
		return -1;
	snprintf(pattern, sizeof(pattern), "%s/%d.*.spool", folder, (int)getpid());
	if (glob(pattern, 0, NULL, &found) == 0)
		file = open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC);
	globfree(&found);
	return file;
}

static void wait_for_room(int spool)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	struct spool_live live;

	while (pread(spool, &live, sizeof(live), SPOOL_LIVE_OFFSET) == sizeof(live) &&
	       live.chunks_ready - live.chunks_taken < PACE_READY)
		nanosleep(&pause, NULL);
}

static void hear_nothing(void *userdata, uint32_t domain, uint32_t cbid, const void *told)
{
}

static void profile_itself(void)
{
	void *library = dlopen(getenv("DAGTAP_CUPTI"), RTLD_NOW | RTLD_LOCAL), *subscriber = NULL;
	uint32_t (*subscribe)(void **, cupti_callback *, void *);
	uint32_t (*unsubscribe)(void *);
	uint32_t result;

	*(void **)&subscribe = dlsym(library, "cuptiSubscribe");
	*(void **)&unsubscribe = dlsym(library, "cuptiUnsubscribe");
	result = subscribe(&subscriber, hear_nothing, NULL);
	printf("subscribed: %u\n", result);
	if (result == CUPTI_OK)
		unsubscribe(subscriber);
}

int main(int argc, char **argv)
{
	uint32_t launches = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
	bool is_paced = argc > 2 && !strcmp(argv[2], "paced");
	int spool;

	play_load_tool();
	play_device(DEVICE, "NVIDIA H200");
	play_graph(GRAPH);
	for (uint64_t node = 0; node < 3; node++)
		play_node(GRAPH, 11 + node, CUDA_NODE_KERNEL);
	play_exec(EXEC, GRAPH);
	if (argc > 2 && !strcmp(argv[2], "beside"))
		profile_itself();
	spool = is_paced ? spool_open() : -1;
	for (uint32_t launch = 1; launch <= launches; launch++) {
		if (spool >= 0 && launch % PACE_LAUNCHES == 0)
			wait_for_room(spool);
		push("step");
		play_launch(launch, EXEC);
		pop();
		for (uint64_t node = 0; node < 3; node++)
			play_graph_kernel(launch, EXEC, 11 + node, "kernel");
	}
	if (spool >= 0)
		close(spool);
	if (argc > 2 && !strcmp(argv[2], "killed"))
		raise(SIGKILL);
	printf("kernels: %u\n", 3 * launches);
	return 0;
}
