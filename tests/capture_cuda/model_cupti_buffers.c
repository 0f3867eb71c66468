/*
 * The buffers of the model of CUPTI: asks the tool for them, fills them with records and gives them
 * back: model_cupti.h.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "model_cupti_inner.h"

enum { QUEUE_MOST = 2048 };

struct full_buffer {
	uint8_t *bytes;
	size_t size, used;
};

static struct {
	cupti_buffer_requested *requested;
	cupti_buffer_completed *completed;
	/* protects what follows; a spin lock, because some tests replace the mutex functions */
	atomic_flag lock;
	uint8_t *buffer;
	size_t size, used;
	size_t records, records_most; /* in the buffer; 0: as many as fit */
	struct full_buffer queue[QUEUE_MOST];
	uint32_t queue_first, queue_end;
	_Atomic size_t dropped; /* since the tool last asked */
	_Atomic size_t to_lose; /* activities, without counting them */
	pthread_t worker;
} buffers = {.lock = ATOMIC_FLAG_INIT};

void model_buffers_register(cupti_buffer_requested *requested, cupti_buffer_completed *completed)
{
	buffers.requested = requested;
	buffers.completed = completed;
}

size_t model_buffers_take_dropped(void)
{
	static _Atomic bool is_asked;
	const char *planned = getenv("MODEL_DROPS");

	if (planned && !atomic_exchange(&is_asked, true))
		buffers.dropped += (size_t)atoi(planned);
	return atomic_exchange(&buffers.dropped, 0);
}

static void lock_buffer(void)
{
	while (atomic_flag_test_and_set_explicit(&buffers.lock, memory_order_acquire))
		sched_yield();
}

static void unlock_buffer(void)
{
	atomic_flag_clear_explicit(&buffers.lock, memory_order_release);
}

static bool ask_for_buffer(void)
{
	size_t size = 0, most = 0;
	uint8_t *buffer = NULL;

	model_come_to(MODEL_AT_REQUEST);
	if (buffers.requested)
		buffers.requested(&buffer, &size, &most);
	lock_buffer();
	buffers.buffer = buffer;
	buffers.size = size;
	buffers.used = 0;
	buffers.records = 0;
	unlock_buffer();
	return buffer;
}

/* Returns false when there is no room. */
static bool copy_record(const void *record, size_t bytes, size_t room, bool *ret_is_full)
{
	bool fits;

	lock_buffer();
	fits = buffers.buffer && buffers.used + room <= buffers.size &&
	       (!buffers.records_most || buffers.records < buffers.records_most);
	*ret_is_full = buffers.buffer && !fits;
	if (fits) {
		memset(buffers.buffer + buffers.used, 0xee, room);
		memcpy(buffers.buffer + buffers.used, record, bytes);
		buffers.used += room;
		buffers.records++;
	}
	unlock_buffer();
	return fits;
}

static bool is_wait(uint32_t kind)
{
	return kind == CUPTI_KIND_SYNCHRONIZATION || kind == CUPTI_KIND_CUDA_EVENT;
}

void model_queue_buffers(size_t records)
{
	buffers.records_most = records;
}

/* Queues the current buffer for the worker. */
static void queue_buffer(void)
{
	lock_buffer();
	if (buffers.queue_end == QUEUE_MOST)
		abort();
	if (buffers.buffer)
		buffers.queue[buffers.queue_end++] =
			(struct full_buffer){buffers.buffer, buffers.size, buffers.used};
	buffers.buffer = NULL;
	unlock_buffer();
}

static bool take_queued(struct full_buffer *ret_full)
{
	bool is_there;

	lock_buffer();
	is_there = buffers.queue_first < buffers.queue_end;
	if (is_there)
		*ret_full = buffers.queue[buffers.queue_first++];
	unlock_buffer();
	return is_there;
}

static void deliver_queue(void)
{
	struct full_buffer full;

	while (take_queued(&full))
		buffers.completed(NULL, 0, full.bytes, full.size, full.used);
}

void model_lose(size_t count)
{
	buffers.to_lose += count;
}

/* Returns whether an activity of KIND is lost. */
static bool is_lost(uint32_t kind)
{
	static _Atomic bool is_asked;
	const char *planned = getenv("MODEL_LOSES");

	if (kind != CUPTI_KIND_CONCURRENT_KERNEL && kind != CUPTI_KIND_MEMCPY &&
	    kind != CUPTI_KIND_MEMSET)
		return false;
	if (planned && !atomic_exchange(&is_asked, true))
		model_lose((size_t)atoi(planned));
	if (!buffers.to_lose)
		return false;
	buffers.to_lose--;
	return true;
}

/* Other threads may flush at the same time. */
void model_put(const void *record, size_t bytes)
{
	const struct cupti_activity *activity = record;
	size_t room = model_record_bytes(activity->kind);
	bool is_full;

	if (is_wait(activity->kind) && !model_is_kind_enabled(activity->kind))
		return;
	if (is_lost(activity->kind))
		return;
	if (room < bytes)
		bytes = room;
	while (!copy_record(record, bytes, room, &is_full)) {
		if (is_full && buffers.records_most) {
			queue_buffer();
		} else if (is_full) {
			model_deliver(0);
		} else if (!ask_for_buffer()) {
			buffers.dropped++;
			return;
		}
	}
}

void model_drop(size_t count)
{
	buffers.dropped += count;
}

void model_deliver(size_t cut_bytes)
{
	size_t size, used;
	uint8_t *buffer;

	deliver_queue();
	lock_buffer();
	buffer = buffers.buffer;
	size = buffers.size;
	used = buffers.used;
	buffers.buffer = NULL;
	unlock_buffer();
	if (!buffer)
		return;
	model_come_to(MODEL_AT_DELIVERY);
	buffers.completed(NULL, 0, buffer, size, used - cut_bytes);
}

static void *deliver(void *unused)
{
	model_deliver(0);
	return unused;
}

void model_worker_deliver(void)
{
	if (pthread_create(&buffers.worker, NULL, deliver, NULL))
		abort();
}

static void *deliver_queued(void *unused)
{
	deliver_queue();
	return unused;
}

void model_worker_deliver_queue(void)
{
	if (pthread_create(&buffers.worker, NULL, deliver_queued, NULL))
		abort();
}

void model_worker_await(void)
{
	pthread_join(buffers.worker, NULL);
}
