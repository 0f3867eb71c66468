/* What the scenes share (hsa_scene.h). */
#include "hsa_scene.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <hsa/amd_hsa_signal.h>

#define COUNTERS_MOST 64

struct device device;
static void *kernarg;
atomic_uint ran;
const hsa_signal_t none;

/* The software GPU finds this function by its name. */
__attribute__((visibility("default"))) void
softgpu_kernel_ticket(const void *arguments, const hsa_kernel_dispatch_packet_t *packet);
void softgpu_kernel_ticket(const void *arguments, const hsa_kernel_dispatch_packet_t *packet)
{
	(void)arguments;
	(void)packet;
	atomic_fetch_add(&ran, 1);
}

/* ---- device, queues and signals ---- */

void open_device(void)
{
	device_open(&device);
	kernarg = device_allocate(&device, 4096);
}

void close_device(void)
{
	HSA_CHECK(hsa_amd_memory_pool_free(kernarg));
	device_close(&device);
}

hsa_queue_t *queue_make(uint32_t size)
{
	hsa_queue_t *queue;

	HSA_CHECK(hsa_queue_create(device.gpu, size, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX,
				   UINT32_MAX, &queue));
	HSA_CHECK(hsa_amd_profiling_set_profiler_enabled(queue, 1));
	return queue;
}

hsa_signal_t signal_make(hsa_signal_value_t value)
{
	hsa_signal_t signal;

	HSA_CHECK(hsa_signal_create(value, 0, NULL, &signal));
	return signal;
}

void signal_await(hsa_signal_t signal)
{
	while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					 HSA_WAIT_STATE_BLOCKED) > 0)
		;
}

char *packet_at(hsa_queue_t *queue, uint64_t index)
{
	return (char *)queue->base_address + (index & (queue->size - 1)) * 64;
}

void packet_put(hsa_queue_t *queue, uint64_t index, const void *packet, uint16_t header)
{
	char *slot = packet_at(queue, index);
	uint32_t setup;

	while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		sched_yield();
	memcpy(&setup, packet, sizeof(setup));
	memcpy(slot + 4, (const char *)packet + 4, 60);
	__atomic_store_n((uint32_t *)slot, header | (setup & 0xffff0000u), __ATOMIC_RELEASE);
}

hsa_kernel_dispatch_packet_t dispatch_packet(uint64_t index, hsa_signal_t signal)
{
	return (hsa_kernel_dispatch_packet_t){
		.setup = 1,
		.workgroup_size_x = 1,
		.workgroup_size_y = 1,
		.workgroup_size_z = 1,
		.grid_size_x = (uint32_t)index + 1,
		.grid_size_y = 1,
		.grid_size_z = 1,
		.kernel_object = device.kernel_object,
		.kernarg_address = kernarg,
		.completion_signal = signal,
	};
}

void dispatch_put(hsa_queue_t *queue, uint64_t index, hsa_signal_t signal)
{
	hsa_kernel_dispatch_packet_t packet = dispatch_packet(index, signal);

	packet_put(queue, index, &packet,
		   HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER);
}

void ring(hsa_queue_t *queue, uint64_t index)
{
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

void dispatch(hsa_queue_t *queue, hsa_signal_t signal)
{
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);

	dispatch_put(queue, index, signal);
	ring(queue, index);
}

void barrier(hsa_queue_t *queue, hsa_signal_t dependency, hsa_signal_t completion)
{
	hsa_barrier_and_packet_t packet = {.dep_signal = {dependency},
					   .completion_signal = completion};
	uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);

	packet_put(queue, index, &packet,
		   HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER);
	ring(queue, index);
}

void drain(hsa_queue_t *queue)
{
	hsa_signal_t done = signal_make(1);

	barrier(queue, none, done);
	signal_await(done);
	HSA_CHECK(hsa_signal_destroy(done));
}

void check_signal(hsa_signal_t signal)
{
	const amd_signal_t *block = (const amd_signal_t *)(uintptr_t)signal.handle;
	hsa_amd_profiling_dispatch_time_t time;

	CHECK(hsa_signal_load_scacquire(signal) == 0);
	CHECK(block->start_ts && block->end_ts >= block->start_ts);
	HSA_CHECK(hsa_amd_profiling_get_dispatch_time(device.gpu, signal, &time));
	CHECK(time.end >= time.start);
	printf("ticks %llu %llu\n", (unsigned long long)block->start_ts,
	       (unsigned long long)block->end_ts);
}

uint64_t device_count(const char *name)
{
	const char *names[COUNTERS_MOST];
	uint64_t values[COUNTERS_MOST];
	uint32_t count = softgpu_counters(values, names, COUNTERS_MOST);

	for (uint32_t i = 0; i < count && i < COUNTERS_MOST; i++) {
		if (!strcmp(names[i], name))
			return values[i];
	}
	return 0;
}
