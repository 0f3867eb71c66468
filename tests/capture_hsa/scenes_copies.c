/* Scenes about copies, alone and beside packets. test_capture_hsa_programs.c checks what was
 * recorded of them. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "hsa_scene.h"

static hsa_status_t copy(char *memory, size_t bytes, hsa_signal_t signal)
{
	return hsa_amd_memory_async_copy(memory + 65536, device.gpu, memory, device.cpu, bytes, 0,
					 NULL, signal);
}

#define COPY_NS 2000000 /* the device's configured copy time */

/* The copy begins at the time of the call and ends when the clock has advanced by COPY_NS. */
static void copy_by_the_clock(char *memory, size_t bytes, hsa_signal_t signal)
{
	uint64_t begun = device_count("copies_begun");

	HSA_CHECK(copy(memory, bytes, signal));
	softgpu_await("copies_begun", begun + 1);
	softgpu_clock_step(COPY_NS);
	signal_await(signal);
}

/* Submits the copies so that none begins before all are submitted. */
static void copy_together(char *memory, int count, hsa_signal_t signal)
{
	hsa_signal_t held = signal_make(1);

	for (int i = 0; i < count; i++)
		HSA_CHECK(hsa_amd_memory_async_copy(memory + 65536, device.gpu, memory, device.cpu,
						    65536, 1, &held, signal));
	hsa_signal_store_screlease(held, 0);
	signal_await(signal);
	HSA_CHECK(hsa_signal_destroy(held));
}

/* One signal used again and again, one signal shared by two copies, and one copy that is
 * refused. */
static void scene_copies(void)
{
	char *memory = device_allocate(&device, 131072);
	hsa_signal_t signal = signal_make(1);

	softgpu_clock_hold();
	for (size_t i = 1; i <= 100; i++) {
		memory[0] = (char)i;
		copy_by_the_clock(memory, i, signal);
		CHECK(memory[65536] == (char)i);
		hsa_signal_store_relaxed(signal, 1);
	}
	softgpu_clock_release();
	hsa_signal_store_relaxed(signal, 2);
	copy_together(memory, 2, signal);
	CHECK(copy(memory, 1, none) != HSA_STATUS_SUCCESS);
	HSA_CHECK(hsa_signal_destroy(signal));
	HSA_CHECK(hsa_amd_memory_pool_free(memory));
}

/* Finds a function in the extension table of a newer runtime (newer_tool.c). */
static void *newer_function(size_t offset)
{
	uint64_t *(*table)(void) = NULL;
	void *tool = dlopen("hsa_newer_tool.so", RTLD_NOLOAD | RTLD_LAZY);
	void *get = tool ? dlsym(tool, "newer_table") : NULL;

	CHECK(get);
	memcpy(&table, &get, sizeof(table));
	return (void *)(uintptr_t)table()[offset / 8];
}

struct operation {
	uint16_t version, type, entries, traffic_class;
	hsa_signal_t done;
	void *src;
	hsa_agent_t src_agent;
	uint64_t dst_agent;
	void *dst;
	uint64_t bytes;
	uint64_t rest[9];
};

#define NEWER_COPIES	 80
#define NEWER_BROADCASTS 3

/* NEWER_COPIES operations in one call, each with a signal; the last one has three destinations. */
static void copy_in_a_batch(char *memory)
{
	hsa_status_t (*copy_batch)(const struct operation *, uint32_t, uint32_t,
				   const hsa_signal_t *);
	void *found = newer_function(640);
	struct operation operations[NEWER_COPIES];
	hsa_agent_t agents[NEWER_BROADCASTS] = {device.gpu, device.gpu, device.gpu};
	void *destinations[NEWER_BROADCASTS] = {memory + 8192, memory + 16384, memory + 24576};

	memcpy(&copy_batch, &found, sizeof(copy_batch));
	for (uint64_t i = 0; i < NEWER_COPIES; i++)
		operations[i] = (struct operation){
			.version = 1,
			.done = signal_make(1),
			.src = memory,
			.src_agent = device.cpu,
			.dst_agent = device.gpu.handle,
			.dst = memory + 4096,
			.bytes = i + 1,
		};
	operations[1].type = 1;
	operations[1].entries = NEWER_BROADCASTS;
	operations[1].dst = destinations;
	operations[1].dst_agent = (uint64_t)(uintptr_t)agents;
	HSA_CHECK(copy_batch(operations, NEWER_COPIES, 0, NULL));
	for (int i = 0; i < NEWER_COPIES; i++) {
		signal_await(operations[i].done);
		HSA_CHECK(hsa_signal_destroy(operations[i].done));
	}
	CHECK(memory[24576] == 7 && memory[8192 + 1] == 7 && memory[4096] == 7);
}

/* Copies on an engine that the program chooses, and in batches. */
static void scene_newer_copies(void)
{
	hsa_status_t (*copy_on_engine)(void *, hsa_agent_t, const void *, hsa_agent_t, size_t,
				       uint32_t, const hsa_signal_t *, hsa_signal_t, uint32_t,
				       bool);
	void *found = newer_function(144);
	char *memory = device_allocate(&device, 131072);
	hsa_signal_t signal = signal_make(1);

	memset(memory, 7, 64);
	memcpy(&copy_on_engine, &found, sizeof(copy_on_engine));
	HSA_CHECK(copy_on_engine(memory + 65536, device.gpu, memory, device.cpu, 64, 0, NULL,
				 signal, 2, true));
	signal_await(signal);
	CHECK(memory[65536 + 63] == 7);
	copy_in_a_batch(memory);
	HSA_CHECK(hsa_signal_destroy(signal));
	HSA_CHECK(hsa_amd_memory_pool_free(memory));
}

/* Copies a box of 4 x 3 x 2 words out of a larger one. */
static void scene_rect_copies(void)
{
	char *memory = device_allocate(&device, 131072);
	hsa_pitched_ptr_t src = {.base = memory, .pitch = 256, .slice = 4096};
	hsa_pitched_ptr_t dst = {.base = memory + 65536, .pitch = 64, .slice = 1024};
	hsa_dim3_t origin = {0, 0, 0}, range = {16, 3, 2};
	hsa_signal_t signal = signal_make(1);

	memset(memory, 5, 65536);
	HSA_CHECK(hsa_amd_memory_async_copy_rect(&dst, &origin, &src, &origin, &range, device.gpu,
						 hsaHostToDevice, 0, NULL, signal));
	signal_await(signal);
	CHECK(memory[65536 + 1024 + 2 * 64 + 15] == 5 && !memory[65536 + 16]);
	HSA_CHECK(hsa_signal_destroy(signal));
	HSA_CHECK(hsa_amd_memory_pool_free(memory));
}

#define MIX_THREADS 8
#define MIX_ROUNDS  300

struct mixer {
	pthread_t thread;
	unsigned number;
	hsa_queue_t *queues[2];
	char *memory;
};

/* Uses one signal for a packet on either queue, a barrier packet and a copy, and destroys and
 * creates it again; each use begins when the previous one has ended. */
static void *mix(void *argument)
{
	struct mixer *m = argument;
	hsa_signal_t signal = signal_make(1);

	for (unsigned i = m->number; i < m->number + MIX_ROUNDS; i++) {
		switch (i % 4) {
		case 0:
		case 1:
			dispatch(m->queues[i % 2], signal);
			break;
		case 2:
			barrier(m->queues[i / 4 % 2], none, signal);
			break;
		default:
			HSA_CHECK(copy(m->memory, 64, signal));
		}
		signal_await(signal);
		CHECK(hsa_signal_load_relaxed(signal) == 0);
		if (i % 3) {
			hsa_signal_silent_store_relaxed(signal, 1);
		} else {
			HSA_CHECK(hsa_signal_destroy(signal));
			signal = signal_make(1);
		}
	}
	HSA_CHECK(hsa_signal_destroy(signal));
	return NULL;
}

static void scene_mix(void)
{
	struct mixer mixers[MIX_THREADS];
	hsa_queue_t *queues[2] = {queue_make(64), queue_make(64)};

	for (unsigned i = 0; i < MIX_THREADS; i++) {
		mixers[i] = (struct mixer){.number = i,
					   .queues = {queues[0], queues[1]},
					   .memory = device_allocate(&device, 131072)};
		pthread_create(&mixers[i].thread, NULL, mix, &mixers[i]);
	}
	for (unsigned i = 0; i < MIX_THREADS; i++) {
		pthread_join(mixers[i].thread, NULL);
		HSA_CHECK(hsa_amd_memory_pool_free(mixers[i].memory));
	}
	HSA_CHECK(hsa_queue_destroy(queues[0]));
	HSA_CHECK(hsa_queue_destroy(queues[1]));
}

const struct scene copy_scenes[] = {
	{"copies", scene_copies},
	{"newer-copies", scene_newer_copies},
	{"rect-copies", scene_rect_copies},
	{"mix", scene_mix},
	{NULL, NULL},
};
