/* What all kinds of queues share: their memory, the registry, and the doorbell signal. */
#include <stdlib.h>
#include <string.h>

#include "softgpu/futex.h"
#include "softgpu/queue.h"
#include "softgpu/signal_block.h"
#include "softgpu/softgpu_threads.h"

static struct {
	pthread_mutex_t lock;
	pthread_once_t once;
	struct softgpu_queue *head;
	uint64_t next_id;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static void registry_init(void)
{
	process_guard_lock(&registry.lock);
}

static void registry_add(struct softgpu_queue *queue)
{
	pthread_once(&registry.once, registry_init);
	pthread_mutex_lock(&registry.lock);
	queue->amd.hsa_queue.id = registry.next_id++;
	queue->next = registry.head;
	registry.head = queue;
	pthread_mutex_unlock(&registry.lock);
}

void queue_forget(struct softgpu_queue *queue)
{
	pthread_mutex_lock(&registry.lock);
	for (struct softgpu_queue **at = &registry.head; *at; at = &(*at)->next) {
		if (*at == queue) {
			*at = queue->next;
			break;
		}
	}
	pthread_mutex_unlock(&registry.lock);
}

struct softgpu_queue *queue_find(const hsa_queue_t *handle)
{
	struct softgpu_queue *queue;

	pthread_mutex_lock(&registry.lock);
	for (queue = registry.head; queue; queue = queue->next)
		if (&queue->amd.hsa_queue == handle)
			break;
	pthread_mutex_unlock(&registry.lock);
	return queue;
}

struct softgpu_queue *queue_find_any(void)
{
	struct softgpu_queue *queue;

	pthread_mutex_lock(&registry.lock);
	for (queue = registry.head; queue && queue->is_behind_proxy; queue = queue->next)
		;
	pthread_mutex_unlock(&registry.lock);
	return queue;
}

struct softgpu_queue *queue_allocate(const struct queue_request *request)
{
	size_t bytes = (sizeof(struct softgpu_queue) + AMD_QUEUE_ALIGN_BYTES - 1) /
		       AMD_QUEUE_ALIGN_BYTES * AMD_QUEUE_ALIGN_BYTES;
	struct softgpu_queue *queue = aligned_alloc(AMD_QUEUE_ALIGN_BYTES, bytes);

	if (!queue)
		return NULL;
	memset(queue, 0, bytes);
	queue->write_index = &queue->amd.write_dispatch_id;
	queue->read_index = &queue->amd.read_dispatch_id;
	queue->known = &queue->amd.hsa_queue;
	queue->agent = request->agent;
	queue->error_callback = request->error_callback;
	queue->error_data = request->error_data;
	registry_add(queue);
	return queue;
}

bool queue_add_doorbell(struct softgpu_queue *queue)
{
	struct softgpu_signal *doorbell = signal_make(SIGNAL_DOORBELL, 0, queue);

	if (!doorbell)
		return false;
	doorbell->amd.hardware_doorbell_ptr = &queue->doorbell_value;
	queue->amd.hsa_queue.doorbell_signal = signal_handle(doorbell);
	return true;
}

void queue_close(struct softgpu_queue *queue)
{
	struct softgpu_signal *doorbell = signal_block(queue->amd.hsa_queue.doorbell_signal);

	queue_forget(queue);
	/* From here on, a late store to the doorbell is an error of the signal and does not reach
	 * the freed queue. */
	if (doorbell)
		signal_destroy(doorbell);
}

void queue_wake_all(void)
{
	pthread_mutex_lock(&registry.lock);
	for (struct softgpu_queue *queue = registry.head; queue; queue = queue->next) {
		atomic_fetch_add(&queue->doorbell_word, 1);
		futex_wake_all(&queue->doorbell_word);
	}
	pthread_mutex_unlock(&registry.lock);
}
