/*
 * raw-counted FILE THREADS: threads dispatch into one queue without end, for a test that kills the
 * program with SIGKILL. FILE holds the pid and, for each thread, the launches begun and the
 * launches that returned.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"

#define THREADS_MOST 16
#define QUEUE_SIZE   4096
#define ROOM_LEAST   64

struct page {
	_Atomic uint64_t pid;
	struct {
		_Atomic uint64_t begun;
		_Atomic uint64_t returned;
	} of[THREADS_MOST];
};

static struct page *page;
static struct device device;
static hsa_queue_t *queue;
/*
 * Slots are written in the order of reservation. A packet behind an unwritten one cannot run, and
 * the tool need not have recorded it.
 */
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

__attribute__((visibility("default"))) void
softgpu_kernel_ticket(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet);
void softgpu_kernel_ticket(const void *kernarg, const hsa_kernel_dispatch_packet_t *packet)
{
	(void)kernarg;
	(void)packet;
}

static uint64_t write_packet(void)
{
	hsa_kernel_dispatch_packet_t packet = {.workgroup_size_x = 1,
					       .workgroup_size_y = 1,
					       .workgroup_size_z = 1,
					       .grid_size_x = 1,
					       .grid_size_y = 1,
					       .grid_size_z = 1,
					       .private_segment_size = device.private_bytes,
					       .group_segment_size = device.group_bytes,
					       .kernel_object = device.kernel_object};
	uint64_t index;
	char *slot;

	pthread_mutex_lock(&order);
	while (hsa_queue_load_write_index_relaxed(queue) -
		       hsa_queue_load_read_index_scacquire(queue) >
	       QUEUE_SIZE - ROOM_LEAST)
		sched_yield();
	index = hsa_queue_add_write_index_screlease(queue, 1);
	slot = (char *)queue->base_address + index % QUEUE_SIZE * sizeof(packet);
	memcpy(slot + 4, (const char *)&packet + 4, sizeof(packet) - 4);
	__atomic_store_n((uint32_t *)slot, HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << 16,
			 __ATOMIC_RELEASE);
	pthread_mutex_unlock(&order);
	return index;
}

static void *launch(void *number)
{
	uintptr_t i = (uintptr_t)number;

	for (;;) {
		atomic_fetch_add(&page->of[i].begun, 1);
		hsa_signal_store_screlease(queue->doorbell_signal,
					   (hsa_signal_value_t)write_packet());
		atomic_fetch_add(&page->of[i].returned, 1);
	}
	return NULL;
}

static void open_page(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	if (file < 0 || ftruncate(file, sizeof(*page)) < 0)
		driver_fail("%s: cannot be made", path);
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (page == MAP_FAILED)
		driver_fail("%s: cannot be mapped", path);
}

int main(int argc, char **argv)
{
	uintptr_t threads = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	pthread_t thread;

	if (threads < 1 || threads > THREADS_MOST)
		driver_fail("usage: raw-counted FILE THREADS");
	open_page(argv[1]);
	device_open(&device);
	HSA_CHECK(hsa_queue_create(device.gpu, QUEUE_SIZE, HSA_QUEUE_TYPE_MULTI, NULL, NULL,
				   UINT32_MAX, UINT32_MAX, &queue));
	atomic_store(&page->pid, (uint64_t)getpid());
	for (uintptr_t i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, launch, (void *)i))
			driver_fail("thread %zu cannot be made", (size_t)i);
	pthread_join(thread, NULL);
}
