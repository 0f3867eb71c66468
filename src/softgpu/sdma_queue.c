/* The queues of copy engines (sdma_queue.h). */
#include "softgpu/sdma_queue.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softgpu/counters.h"
#include "softgpu/device_memory.h"
#include "softgpu/dma.h"
#include "softgpu/softgpu_threads.h"

/* The first 32-bit word of a packet has the operation in its lowest byte and the sub-operation in
 * the next one. */
#define OPERATION(word)	    ((word)&0xffu)
#define SUB_OPERATION(word) ((word) >> 8 & 0xffu)
#define OPERATION_NOP	    0u
#define OPERATION_COPY	    1u
#define OPERATION_FENCE	    5u
#define SUB_COPY_LINEAR	    0u
/* Sizes of packets in words. A no-op has a count of further words that it covers. */
#define COPY_WORDS	    7u
#define FENCE_WORDS	    4u
#define NOP_MORE(word)	    ((word) >> 16 & 0x3fffu)
#define COPY_COUNT_MASK	    0x3fffffffu /* of the count of bytes minus one */

struct sdma_queue {
	pthread_mutex_t lock;	       /* held while a thread executes packets */
	uint32_t engine;	       /* number of the copy engine */
	uint32_t words;		       /* size of the ring */
	volatile uint64_t write_bytes; /* the indices, in bytes */
	volatile uint64_t read_bytes;  /* written under the lock */
};

static _Atomic uint32_t next_engine; /* for the next queue that names no engine */

void sdma_queue_destroy(struct softgpu_queue *queue)
{
	const hsa_queue_t *hsa = &queue->amd.hsa_queue;

	queue_close(queue);
	if (hsa->base_address)
		munmap(hsa->base_address, hsa->size);
	pthread_mutex_destroy(&queue->sdma->lock);
	free(queue->sdma);
	free(queue);
}

hsa_status_t sdma_queue_make(const struct queue_request *request, uint32_t engine,
			     struct softgpu_queue **ret_queue)
{
	struct sdma_queue *sdma = calloc(1, sizeof(*sdma));
	struct softgpu_queue *queue = sdma ? queue_allocate(request) : NULL;
	hsa_queue_t *hsa;
	void *ring;

	if (!queue) {
		free(sdma);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	pthread_mutex_init(&sdma->lock, NULL);
	sdma->engine =
		engine == UINT32_MAX ? atomic_fetch_add(&next_engine, 1) % DMA_ENGINES : engine;
	sdma->words = request->size / sizeof(uint32_t);
	queue->sdma = sdma;
	queue->write_index = &sdma->write_bytes;
	queue->read_index = &sdma->read_bytes;
	hsa = &queue->amd.hsa_queue;
	hsa->type = HSA_QUEUE_TYPE_SINGLE;
	hsa->size = request->size;
	ring = mmap(NULL, request->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	hsa->base_address = ring == MAP_FAILED ? NULL : ring;
	if (!queue_add_doorbell(queue) || !hsa->base_address) {
		sdma_queue_destroy(queue);
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	}
	softgpu_count(queues_created, 1);
	*ret_queue = queue;
	return HSA_STATUS_SUCCESS;
}

uint32_t sdma_queue_engine(const struct softgpu_queue *queue)
{
	return queue->sdma->engine;
}

/* Returns the word at PLACE, an absolute count of words; address_at joins two of them. */
static uint32_t word_at(const struct softgpu_queue *queue, uint64_t place)
{
	const uint32_t *ring = queue->amd.hsa_queue.base_address;

	return __atomic_load_n(&ring[place % queue->sdma->words], __ATOMIC_ACQUIRE);
}

static void *address_at(const struct softgpu_queue *queue, uint64_t place)
{
	return (void *)(uintptr_t)(word_at(queue, place) | (uint64_t)word_at(queue, place + 1)
								   << 32);
}

static bool copy(const struct softgpu_queue *queue, uint64_t place)
{
	size_t bytes = (word_at(queue, place + 1) & COPY_COUNT_MASK) + (size_t)1;
	void *from = address_at(queue, place + 3), *to = address_at(queue, place + 5);

	if (!memory_range_fits(from, bytes) || !memory_range_fits(to, bytes))
		return false;
	memmove(memory_translate(to), memory_translate(from), bytes);
	softgpu_count(copies, 1);
	softgpu_count(copies_begun, 1);
	softgpu_count(copy_bytes, bytes);
	softgpu_count(copies_ended, 1);
	return true;
}

static bool fence(const struct softgpu_queue *queue, uint64_t place)
{
	uint32_t *to = address_at(queue, place + 1);

	if (!memory_range_fits(to, sizeof(*to)))
		return false;
	__atomic_store_n((uint32_t *)memory_translate(to), word_at(queue, place + 3),
			 __ATOMIC_RELEASE);
	return true;
}

/* Executes the packet at PLACE, an absolute count of words. Returns how many words it has; 0 when
 * it is invalid. */
static uint32_t do_packet(const struct softgpu_queue *queue, uint64_t place)
{
	uint32_t first = word_at(queue, place);

	if (OPERATION(first) == OPERATION_NOP)
		return 1 + NOP_MORE(first);
	if (OPERATION(first) == OPERATION_FENCE)
		return fence(queue, place) ? FENCE_WORDS : 0;
	if (OPERATION(first) == OPERATION_COPY && SUB_OPERATION(first) == SUB_COPY_LINEAR)
		return copy(queue, place) ? COPY_WORDS : 0;
	return 0;
}

/* Stops the queue and reports the error to the program. */
static void stop(struct softgpu_queue *queue)
{
	atomic_store(&queue->inactive, true);
	if (queue->error_callback)
		queue->error_callback(HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, &queue->amd.hsa_queue,
				      queue->error_data);
}

void sdma_queue_ring(struct softgpu_queue *queue, int64_t write_index)
{
	struct sdma_queue *sdma = queue->sdma;
	uint64_t end = (uint64_t)write_index, place;
	uint32_t words = 1;

	if (process_is_forked_child())
		return;
	pthread_mutex_lock(&sdma->lock);
	__atomic_store_n(&sdma->write_bytes, end, __ATOMIC_RELEASE);
	place = sdma->read_bytes / sizeof(uint32_t);
	while (words && place < end / sizeof(uint32_t) && !atomic_load(&queue->inactive)) {
		words = do_packet(queue, place);
		place += words;
		__atomic_store_n(&sdma->read_bytes, place * sizeof(uint32_t), __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&sdma->lock);
	if (!words)
		stop(queue);
}
