/* Scenes about queues that other calls than hsa_queue_create make, and about signals that
 * processes share. */
#include "hsa_scene.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "vendor/hsa_newest.h"

#define EACH 40

static hsa_amd_queue_create_desc_t description(uint8_t engine, uint32_t bytes)
{
	hsa_amd_queue_create_desc_t desc = {.version = HSA_AMD_QUEUE_CREATE_DESC_VERSION,
					    .engine_type = engine,
					    .queue_size_bytes = bytes,
					    .priority = HSA_AMD_QUEUE_PRIORITY_NORMAL};

	if (engine == HSA_AMD_QUEUE_ENGINE_COMPUTE) {
		desc.engine.compute.type = HSA_QUEUE_TYPE_MULTI;
		desc.engine.compute.private_segment_size = HSA_AMD_PRIVATE_SEGMENT_SIZE_DEFAULT;
	} else {
		desc.engine.sdma.sdma_engine_id = HSA_AMD_SDMA_ENGINE_ID_ANY;
	}
	return desc;
}

/* Submits EACH dispatches, every fourth with a signal whose times are then checked, and a
 * barrier packet. */
static void use(hsa_queue_t *queue)
{
	hsa_signal_t done = signal_make(1);

	for (int i = 0; i < EACH; i++) {
		dispatch(queue, i % 4 ? none : done);
		if (i % 4 == 0) {
			signal_await(done);
			hsa_signal_store_relaxed(done, 1);
		}
	}
	drain(queue);
	HSA_CHECK(hsa_signal_destroy(done));
}

static void *use_thread(void *queue)
{
	use(queue);
	return NULL;
}

static void use_together(hsa_queue_t *const *queues, int count)
{
	pthread_t threads[8];

	for (int i = 0; i < count; i++)
		CHECK(!pthread_create(&threads[i], NULL, use_thread, queues[i]));
	for (int i = 0; i < count; i++)
		CHECK(!pthread_join(threads[i], NULL));
}

/* One of the descriptions is wrong, so the call fails although it creates two queues. */
static void play_described_queues(void)
{
	hsa_amd_queue_create_desc_t descs[3] = {
		description(HSA_AMD_QUEUE_ENGINE_COMPUTE, 64 * 64),
		description(HSA_AMD_QUEUE_ENGINE_COMPUTE, 100),
		description(HSA_AMD_QUEUE_ENGINE_COMPUTE, 256 * 64)};
	hsa_queue_t *made[2];

	descs[1].queue = (hsa_queue_t *)descs;
	CHECK(hsa_amd_queue_create(device.gpu, descs, 3) == HSA_STATUS_ERROR_INVALID_ARGUMENT);
	CHECK(descs[0].queue && !descs[1].queue && descs[2].queue);
	made[0] = descs[0].queue;
	made[1] = descs[2].queue;
	for (int i = 0; i < 2; i++)
		HSA_CHECK(hsa_amd_profiling_set_profiler_enabled(made[i], 1));
	use_together(made, 2);
	CHECK(ran == 2 * EACH);
	HSA_CHECK(hsa_queue_destroy(made[0]));
	HSA_CHECK(hsa_queue_destroy(made[1]));
}

/* The process is killed before the tool writes its counts. */
static void play_killed_at_once(void)
{
	hsa_amd_queue_create_desc_t desc = description(HSA_AMD_QUEUE_ENGINE_COMPUTE, 64 * 64);

	HSA_CHECK(hsa_amd_queue_create(device.gpu, &desc, 1));
	dispatch(desc.queue, none);
	raise(SIGKILL);
}

static hsa_queue_t *acquire(void)
{
	hsa_queue_t *queue = NULL;

	HSA_CHECK(hsa_amd_counted_queue_acquire(device.gpu, HSA_QUEUE_TYPE_MULTI,
						HSA_AMD_QUEUE_PRIORITY_NORMAL, NULL, NULL, 0,
						&queue));
	return queue;
}

/* Three handles of two hardware queues are used together. Then one is released and replaced, and
 * one is never released. */
static void play_counted_queues(void)
{
	hsa_queue_t *queues[3];

	setenv("GPU_MAX_HW_QUEUES", "2", 1);
	for (int i = 0; i < 3; i++)
		queues[i] = acquire();
	CHECK(queues[0]->base_address == queues[2]->base_address);
	use_together(queues, 3);
	HSA_CHECK(hsa_amd_counted_queue_release(queues[0]));
	use(queues[2]);
	queues[0] = acquire();
	use_together(queues, 3);
	CHECK(ran == 7 * EACH);
	HSA_CHECK(hsa_amd_counted_queue_release(queues[0]));
	HSA_CHECK(hsa_amd_counted_queue_release(queues[1]));
}

static void put_address(uint32_t *words, const void *address)
{
	words[0] = (uint32_t)(uintptr_t)address;
	words[1] = (uint32_t)((uintptr_t)address >> 32);
}

/* Two copies with a doorbell each. */
static void play_engine_queue(void)
{
	hsa_amd_queue_create_desc_t desc = description(HSA_AMD_QUEUE_ENGINE_SDMA, 4096);
	uint64_t *memory = device_allocate(&device, 4096);
	uint32_t *ring;

	HSA_CHECK(hsa_amd_queue_create(device.gpu, &desc, 1));
	ring = desc.queue->base_address;
	memory[0] = 7;
	for (uint32_t i = 0; i < 2; i++, ring += 7) {
		ring[0] = 1;
		ring[1] = sizeof(*memory) - 1;
		put_address(ring + 3, &memory[i]);
		put_address(ring + 5, &memory[i + 1]);
		hsa_queue_store_write_index_screlease(desc.queue, 28 * (i + 1));
		hsa_signal_store_screlease(desc.queue->doorbell_signal, 28 * (i + 1));
	}
	CHECK(memory[2] == 7);
	HSA_CHECK(hsa_queue_destroy(desc.queue));
	HSA_CHECK(hsa_amd_memory_pool_free(memory));
}

/* A signal is used before it has an IPC handle, while it has one, and through the attached
 * signal. */
static void play_attached_signal(void)
{
	hsa_queue_t *queue = queue_make(64);
	hsa_amd_ipc_signal_t handle;
	hsa_signal_t made, attached;

	HSA_CHECK(hsa_amd_signal_create(1, 0, NULL, HSA_AMD_SIGNAL_IPC, &made));
	dispatch(queue, made);
	signal_await(made);
	hsa_signal_store_relaxed(made, 1);
	HSA_CHECK(hsa_amd_ipc_signal_create(made, &handle));
	dispatch(queue, made);
	signal_await(made);
	HSA_CHECK(hsa_amd_ipc_signal_attach(&handle, &attached));
	hsa_signal_store_relaxed(attached, 1);
	dispatch(queue, attached);
	signal_await(attached);
	drain(queue);
	HSA_CHECK(hsa_signal_destroy(attached));
	HSA_CHECK(hsa_signal_destroy(made));
	HSA_CHECK(hsa_queue_destroy(queue));
}

const struct scene queue_scenes[] = {
	{"described-queues", play_described_queues}, {"killed-at-once", play_killed_at_once},
	{"counted-queues", play_counted_queues},     {"engine-queue", play_engine_queue},
	{"attached-signal", play_attached_signal},   {NULL, NULL},
};
