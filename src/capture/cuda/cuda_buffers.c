/* The pool of buffers for CUPTI, and the thread that may read them; see cuda_buffers.h. */
#include "capture/cuda/cuda_buffers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/timer.h"
#include "capture/cuda/cuda_activities.h"
#include "capture/cuda/cupti.h"

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;  /* over the next five lines */
static uint8_t *made[CUDA_BUFFERS_MOST + CUDA_BUFFER_THREADS]; /* all buffers */
/* A stack: the buffer that was used last is given out first, since its pages are in memory. */
static uint8_t *idle[CUDA_BUFFERS_KEPT + CUDA_BUFFER_THREADS];
static uint32_t idle_count, made_count;
static uint32_t thread_count; /* threads that have asked, up to CUDA_BUFFER_THREADS */
static __thread bool has_asked;

/* What CUPTI gets that must not be refused. Several of its threads may write into it at a time. */
static uint8_t lost[1 << 14] __attribute__((aligned(64)));

/* Held while a thread reads records. */
static pthread_mutex_t read_lock = PTHREAD_MUTEX_INITIALIZER;
/* Odd while a recording takes records. A buffer that is being read when the recording closes is
 * read on; once period has advanced by two, its reader stops. */
static _Atomic uint32_t period;
/* Buffers that CUPTI has returned and that are not in the pool again. */
static _Atomic uint32_t brought;
static _Atomic bool is_draining;	  /* nothing is passed over */
static _Atomic bool is_last_call;	  /* CUPTI was asked for unfinished records, too */
static _Atomic uint64_t torn, unfinished; /* see cuda_buffers_torn and the like */
static _Atomic uint64_t refused, passed_over;

static uint8_t *make_buffer(void)
{
	void *buffer = mmap(NULL, CUDA_BUFFER_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return buffer == MAP_FAILED ? NULL : buffer;
}

/* Under pool_lock. A buffer that is idle or new, if there may be another one; or NULL. */
static uint8_t *take_buffer(void)
{
	uint8_t *buffer;

	if (idle_count)
		return idle[--idle_count];
	if (made_count >= CUDA_BUFFERS_MOST + thread_count || !(buffer = make_buffer()))
		return NULL;
	return made[made_count++] = buffer;
}

void cuda_buffers_lend(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*max_records = 0; /* no limit but the buffer's size */
	pthread_mutex_lock(&pool_lock);
	if (!has_asked && thread_count < CUDA_BUFFER_THREADS)
		thread_count++;
	has_asked = true;
	*buffer = take_buffer();
	pthread_mutex_unlock(&pool_lock);
	*size = *buffer ? CUDA_BUFFER_BYTES : 0;
	if (*buffer)
		return;
	atomic_fetch_add_explicit(&refused, 1, memory_order_relaxed);
	if (cupti.version < CUPTI_WITH_REFUSALS) {
		*buffer = lost;
		*size = sizeof(lost);
	}
}

/* Under pool_lock. How many buffers stay mapped. */
static uint32_t kept(void)
{
	return CUDA_BUFFERS_KEPT + thread_count;
}

/* By the thread that reads. Whether the next buffer is counted and not read. */
static bool is_next_passed_over(void)
{
	static uint32_t skipped;
	bool is_behind;

	if (atomic_load(&is_draining))
		return false;
	pthread_mutex_lock(&pool_lock);
	is_behind = made_count - idle_count > kept();
	pthread_mutex_unlock(&pool_lock);
	skipped = is_behind && skipped < CUDA_BUFFERS_SKIPPED ? skipped + 1 : 0;
	return skipped > 0;
}

/* Under pool_lock. Returns the place of BUFFER in made, or made_count if it is not ours. */
static uint32_t place_of(const uint8_t *buffer)
{
	uint32_t place = 0;

	while (place < made_count && made[place] != buffer)
		place++;
	return place;
}

/* Puts BUFFER into the pool, or unmaps it if there are more than are kept. Does nothing if it is
 * not ours: between two recordings CUPTI may return a buffer that another tool has given it, and
 * after a fork one of the parent's. While there are more than are kept, none is idle. */
static void give_back(uint8_t *buffer)
{
	bool is_spare = false;
	uint32_t place;

	pthread_mutex_lock(&pool_lock);
	place = place_of(buffer);
	if (place < made_count && made_count > kept()) {
		made[place] = made[--made_count];
		is_spare = true;
	} else if (place < made_count && idle_count < made_count) {
		idle[idle_count++] = buffer;
	}
	pthread_mutex_unlock(&pool_lock);
	if (is_spare)
		munmap(buffer, CUDA_BUFFER_BYTES);
}

/* Returns whether the recording of period BEGUN is given up. */
static bool is_over(uint32_t begun)
{
	return atomic_load(&period) - begun >= 2;
}

static void read_records(uint8_t *buffer, size_t valid_bytes, uint32_t begun)
{
	bool is_passed_over = is_next_passed_over();
	struct cupti_activity *record = NULL;
	uint64_t unread = 0;
	uint32_t result;

	while ((result = cupti.next_record(buffer, valid_bytes, &record)) == CUPTI_OK &&
	       !is_over(begun)) {
		if (is_passed_over && cuda_activity_is_skippable(record))
			unread++;
		else
			cuda_activity_record(record);
	}
	atomic_fetch_add_explicit(&passed_over, unread, memory_order_relaxed);
	if (result == CUPTI_OK || result == CUPTI_MAX_LIMIT_REACHED)
		return;
	if (result == CUPTI_INVALID_KIND && atomic_load(&is_last_call)) {
		atomic_fetch_add_explicit(&unfinished, 1, memory_order_relaxed);
		return;
	}
	cupti_note(CUPTI_FAILURE_NEXT_RECORD, result);
	atomic_fetch_add_explicit(&torn, 1, memory_order_relaxed);
}

/* Waits with a limit for a reader that does not finish, and then gives the buffer up: CUPTI's
 * flush, and so the stop of the session, would wait for this thread. */
static void take_records(uint8_t *buffer, size_t valid_bytes, uint32_t begun)
{
	if (!timer_lock(&read_lock, timer_start(TIMER_CUDA_BUFFERS))) {
		atomic_fetch_add_explicit(&torn, 1, memory_order_relaxed);
		return;
	}
	if (!is_over(begun))
		read_records(buffer, valid_bytes, begun);
	pthread_mutex_unlock(&read_lock);
}

/* Sequentially consistent, with cuda_buffers_close: either close sees this buffer in brought, or
 * this thread sees the recording closed. */
void cuda_buffers_take(void *context, uint32_t stream, uint8_t *buffer, size_t size,
		       size_t valid_bytes)
{
	uint32_t begun;

	if (!buffer || buffer == lost)
		return;
	atomic_fetch_add(&brought, 1);
	begun = atomic_load(&period);
	if (valid_bytes && begun % 2)
		take_records(buffer, valid_bytes < size ? valid_bytes : size, begun);
	give_back(buffer);
	atomic_fetch_sub(&brought, 1);
}

void cuda_buffers_open(void)
{
	atomic_store(&is_draining, false);
	atomic_store(&is_last_call, false);
	atomic_fetch_add(&period, 1);
}

void cuda_buffers_drain(void)
{
	atomic_store(&is_draining, true);
}

void cuda_buffers_last_call(void)
{
	atomic_store(&is_last_call, true);
}

/* Waits until all returned buffers are in the pool again. Returns how many are not. */
static uint32_t await_brought(struct timer_limit limit)
{
	const struct timespec pause = {.tv_nsec = 100000};
	uint32_t left;

	while ((left = atomic_load(&brought)) && !timer_is_over(limit))
		nanosleep(&pause, NULL);
	return left;
}

/* Waits first for the buffers that CUPTI's threads have returned before, then for those that
 * were returned while the recording was being closed. */
void cuda_buffers_close(void)
{
	struct timer_limit limit = timer_start(TIMER_CUDA_BUFFERS);
	uint32_t left;

	await_brought(limit);
	atomic_fetch_add(&period, 1);
	left = await_brought(limit);
	if (!left)
		return;
	atomic_fetch_add(&period, 2);
	atomic_fetch_add_explicit(&torn, left, memory_order_relaxed);
}

uint64_t cuda_buffers_torn(void)
{
	return atomic_load_explicit(&torn, memory_order_relaxed);
}

uint64_t cuda_buffers_unfinished(void)
{
	return atomic_load_explicit(&unfinished, memory_order_relaxed);
}

uint64_t cuda_buffers_refused(void)
{
	return atomic_load_explicit(&refused, memory_order_relaxed);
}

uint64_t cuda_buffers_passed_over(void)
{
	return atomic_load_explicit(&passed_over, memory_order_relaxed);
}

void cuda_buffers_forget(void)
{
	pool_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	read_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	memcpy(made, idle, idle_count * sizeof(*made));
	made_count = idle_count;
	thread_count = 0;
	has_asked = false;
	atomic_store(&period, 0);
	atomic_store_explicit(&brought, 0, memory_order_relaxed);
}
