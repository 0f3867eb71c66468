/* The hardware queues of counted queues, and the handles to them (counted_queue.h). */
#include "softgpu/counted_queue.h"

#include <pthread.h>
#include <stdlib.h>

#include "softgpu/api.h"
#include "softgpu/config.h"
#include "softgpu/counters.h"
#include "softgpu/queue.h"
#include "softgpu/softgpu_threads.h"
#include "softgpu/system_state.h"

#define PRIORITIES   3u
#define QUEUES_MOST  16u
#define QUEUES_USUAL 4u
#define PACKETS	     4096u

/* The hardware queues of one agent and priority. */
struct pool {
	struct softgpu_queue *queues[QUEUES_MOST];
	uint32_t count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t lock_once = PTHREAD_ONCE_INIT;
static struct pool pools[SOFTGPU_MAX_GPUS + 1][PRIORITIES];

static void guard_lock(void)
{
	process_guard_lock(&lock);
}

/* Returns how many hardware queues a pool may have. */
static uint32_t most_queues(void)
{
	const char *text = getenv("GPU_MAX_HW_QUEUES");
	unsigned long most = text ? strtoul(text, NULL, 10) : 0;

	if (!most)
		return QUEUES_USUAL;
	return most < QUEUES_MOST ? (uint32_t)most : QUEUES_MOST;
}

static struct softgpu_queue *least_used(const struct pool *pool)
{
	struct softgpu_queue *least = pool->queues[0];

	for (uint32_t i = 1; i < pool->count; i++) {
		if (pool->queues[i]->use_count < least->use_count)
			least = pool->queues[i];
	}
	return least;
}

/* Under lock. Gives a new hardware queue, or the one with the fewest handles when POOL is full.
 * Errors of a hardware queue are reported to the callback of its first handle only. */
static hsa_status_t obtain(struct pool *pool, const struct queue_request *request,
			   struct softgpu_queue **ret_queue)
{
	hsa_status_t status;

	if (pool->count >= most_queues()) {
		*ret_queue = least_used(pool);
		return HSA_STATUS_SUCCESS;
	}
	status = queue_make_running(request, ret_queue);
	if (status != HSA_STATUS_SUCCESS)
		return status;
	__atomic_fetch_or(&(*ret_queue)->amd.queue_properties,
			  AMD_QUEUE_PROPERTIES_ENABLE_PROFILING, __ATOMIC_RELEASE);
	pool->queues[pool->count++] = *ret_queue;
	return HSA_STATUS_SUCCESS;
}

/* Under lock. Creates a handle to HARDWARE. */
static hsa_status_t make_handle(struct softgpu_queue *hardware, const struct queue_request *request,
				hsa_queue_t **ret_queue)
{
	struct softgpu_queue *handle = queue_allocate(request);

	if (!handle)
		return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
	handle->counted = hardware;
	handle->amd = hardware->amd;
	handle->write_index = hardware->write_index;
	handle->read_index = hardware->read_index;
	hardware->use_count++;
	*ret_queue = &handle->amd.hsa_queue;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t softgpu_hsa_amd_counted_queue_acquire(
	hsa_agent_t agent, hsa_queue_type_t type, hsa_amd_queue_priority_t priority,
	void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
	uint64_t flags, hsa_queue_t **queue)
{
	struct queue_request request = {agent_find(agent), PACKETS, HSA_QUEUE_TYPE_MULTI, callback,
					data};
	struct softgpu_queue *hardware;
	hsa_status_t status;

	(void)flags;
	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!queue || (uint32_t)priority >= PRIORITIES)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	if (type != HSA_QUEUE_TYPE_MULTI)
		return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
	if (!request.agent || !request.agent->is_gpu)
		return HSA_STATUS_ERROR_INVALID_AGENT;
	pthread_once(&lock_once, guard_lock);
	pthread_mutex_lock(&lock);
	status = obtain(&pools[request.agent->index][priority], &request, &hardware);
	if (status == HSA_STATUS_SUCCESS)
		status = make_handle(hardware, &request, queue);
	pthread_mutex_unlock(&lock);
	return status;
}

hsa_status_t softgpu_hsa_amd_counted_queue_release(hsa_queue_t *handle)
{
	struct softgpu_queue *queue;
	hsa_status_t status = HSA_STATUS_ERROR;

	if (!system_is_up())
		return HSA_STATUS_ERROR_NOT_INITIALIZED;
	if (!handle)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	pthread_once(&lock_once, guard_lock);
	pthread_mutex_lock(&lock);
	queue = queue_find(handle);
	if (queue && queue->counted) {
		queue->counted->use_count--;
		queue_destroy(queue);
		status = HSA_STATUS_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return status;
}

void counted_forget(void)
{
	pthread_once(&lock_once, guard_lock);
	pthread_mutex_lock(&lock);
	for (uint32_t i = 0; i <= SOFTGPU_MAX_GPUS; i++) {
		for (uint32_t p = 0; p < PRIORITIES; p++)
			pools[i][p].count = 0;
	}
	pthread_mutex_unlock(&lock);
}
