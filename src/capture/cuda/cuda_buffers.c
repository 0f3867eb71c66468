#include "capture/cuda/cuda_buffers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>

#include "base/clock.h"
#include "capture/cuda/cuda_activities.h"
#include "capture/cuda/cupti.h"

#define BROUGHT_WAIT_LIMIT_NS 3000000000u

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *idle[CUDA_BUFFERS_MOST]; /* the one used last is lent first: its pages are there */
static uint32_t idle_count, made_count;

static pthread_mutex_t read_lock = PTHREAD_MUTEX_INITIALIZER;
/* Odd while a recording takes records. What is read when it closes is read on; two steps later no more. */
static _Atomic uint32_t period;
static _Atomic uint32_t brought; /* and not given back yet */
static _Atomic uint64_t taken, torn;

static uint8_t *make_buffer(void)
{
	void *buffer = mmap(NULL, CUDA_BUFFER_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return buffer == MAP_FAILED ? NULL : buffer;
}

void cuda_buffers_lend(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = NULL;
	*max_records = 0; /* as many as fit */
	pthread_mutex_lock(&pool_lock);
	if (idle_count)
		*buffer = idle[--idle_count];
	else if (made_count < CUDA_BUFFERS_MOST && (*buffer = make_buffer()))
		made_count++;
	pthread_mutex_unlock(&pool_lock);
	*size = *buffer ? CUDA_BUFFER_BYTES : 0;
}

static void give_back(uint8_t *buffer)
{
	pthread_mutex_lock(&pool_lock);
	/* One that was lent before a fork is not of this pool. */
	if (idle_count < made_count)
		idle[idle_count++] = buffer;
	pthread_mutex_unlock(&pool_lock);
}

static bool is_over(uint32_t begun)
{
	return atomic_load(&period) - begun >= 2;
}

static void read_records(uint8_t *buffer, size_t valid_bytes, uint32_t begun)
{
	struct cupti_activity *record = NULL;
	uint32_t result = CUPTI_OK;

	while (!is_over(begun) &&
	       (result = cupti.next_record(buffer, valid_bytes, &record)) == CUPTI_OK &&
	       !is_over(begun))
		cuda_activity_record(record);
	if (result == CUPTI_OK || result == CUPTI_MAX_LIMIT_REACHED)
		return;
	cupti_note(CUPTI_FAILURE_NEXT_RECORD, result);
	atomic_fetch_add_explicit(&torn, 1, memory_order_relaxed);
}

static void take_records(uint8_t *buffer, size_t valid_bytes)
{
	uint32_t begun;

	pthread_mutex_lock(&read_lock);
	begun = atomic_load(&period);
	if (begun % 2) {
		read_records(buffer, valid_bytes, begun);
		atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
	}
	pthread_mutex_unlock(&read_lock);
}

/* Sequentially consistent against close: either it finds us, or we find it closed. */
void cuda_buffers_take(void *context, uint32_t stream, uint8_t *buffer, size_t size,
		       size_t valid_bytes)
{
	if (!buffer)
		return;
	atomic_fetch_add(&brought, 1);
	if (valid_bytes)
		take_records(buffer, valid_bytes < size ? valid_bytes : size);
	give_back(buffer);
	atomic_fetch_sub(&brought, 1);
}

void cuda_buffers_open(void)
{
	atomic_fetch_add(&period, 1);
}

static uint32_t await_brought(uint64_t deadline_ns)
{
	const struct timespec pause = {.tv_nsec = 100000};
	uint32_t left;

	while ((left = atomic_load(&brought)) && clock_now_ns() < deadline_ns)
		nanosleep(&pause, NULL);
	return left;
}

/* First those that a thread of CUPTI's has come with, then those that have met the close. */
void cuda_buffers_close(void)
{
	uint64_t deadline_ns = clock_now_ns() + BROUGHT_WAIT_LIMIT_NS;
	uint32_t left;

	await_brought(deadline_ns);
	atomic_fetch_add(&period, 1);
	left = await_brought(deadline_ns);
	if (!left)
		return;
	atomic_fetch_add(&period, 2);
	atomic_fetch_add_explicit(&torn, left, memory_order_relaxed);
}

uint64_t cuda_buffers_taken(void)
{
	return atomic_load_explicit(&taken, memory_order_relaxed);
}

uint64_t cuda_buffers_torn(void)
{
	return atomic_load_explicit(&torn, memory_order_relaxed);
}

void cuda_buffers_forget(void)
{
	pool_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	read_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	made_count = idle_count;
	atomic_store(&period, 0);
	atomic_store_explicit(&brought, 0, memory_order_relaxed);
}
