/* A tool that interposes queues as rocprofiler-sdk does since ROCm 7.14, loaded through
 * HSA_TOOLS_LIB before or after dagtap:
 *
 * - Each queue has a virtual write index, which the program's reservations advance.
 * - A doorbell takes the packets up to the first unwritten one out of the ring, gives each
 *   dispatch a completion signal whose value is one more than the program expects (a signal of a
 *   pool if the packet has none), and writes the packets back.
 * - The tool stores the queue's write_dispatch_id directly, without a call, and then rings
 *   through the next tool's function with the last index that it has written. A doorbell that
 *   finds no written packet rings with the previous index again.
 * - One thread waits for all completions and subtracts what was added.
 *
 * With INTERPOSER_AHEAD in the environment the device takes the packets after the index is
 * stored and before the doorbell rings, as a device may do that polls the index.
 *
 * When the tool is unloaded it prints how many dispatches it saw and how many of them had times. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dagtap/softgpu.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa_ext_amd.h>

#include "vendor/hsa_tables.h"

#define SHOWN	     __attribute__((visibility("default")))
#define PENDING_MOST 65536

union packet {
	uint16_t header;
	hsa_kernel_dispatch_packet_t dispatch;
	unsigned char bytes[64];
};

struct pending {
	hsa_signal_t signal;
	hsa_signal_value_t value; /* completed when the signal is below this */
	bool is_pooled;
};

struct shadow {
	_Atomic(amd_queue_t *) queue; /* NULL: the queue is destroyed */
	_Atomic uint64_t virtual_index;
	pthread_mutex_t gate;
	/* Protected by the gate: */
	/* packets taken out so far; equals the device's index, because the tool adds no packet */
	uint64_t submitted;
	union packet *packets;
	struct pending *added;
	struct shadow *older;
};

static struct hsa_core_table next; /* the functions that the table held before */
static _Atomic(struct shadow *) shadows;
static pthread_mutex_t shadows_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Protected by the lock: awaited completions, and signals that are free. */
static struct pending pending[PENDING_MOST];
static uint32_t pending_count;
static hsa_signal_t pool[PENDING_MOST];
static uint32_t pool_count;
static hsa_signal_t wake;
static bool is_ending;
static pthread_t waiter;
static uint64_t dispatches, timed;

static void check(bool condition)
{
	if (!condition)
		abort();
}

/* ---- completions ---- */

static hsa_signal_t pool_take(void)
{
	hsa_signal_t signal = {0};

	pthread_mutex_lock(&lock);
	if (pool_count)
		signal = pool[--pool_count];
	pthread_mutex_unlock(&lock);
	if (!signal.handle)
		check(next.hsa_signal_create_fn(0, 0, NULL, &signal) == HSA_STATUS_SUCCESS);
	return signal;
}

static void await(struct pending added)
{
	pthread_mutex_lock(&lock);
	check(pending_count < PENDING_MOST);
	pending[pending_count++] = added;
	pthread_mutex_unlock(&lock);
	next.hsa_signal_add_scacq_screl_fn(wake, 1);
}

/* Called by the thread that waits for completions. */
static void complete(struct pending done)
{
	const amd_signal_t *block = (const amd_signal_t *)(uintptr_t)done.signal.handle;
	bool has_times = __atomic_load_n(&block->start_ts, __ATOMIC_ACQUIRE) &&
			 __atomic_load_n(&block->end_ts, __ATOMIC_ACQUIRE);

	if (!done.is_pooled)
		next.hsa_signal_subtract_relaxed_fn(done.signal, 1);
	pthread_mutex_lock(&lock);
	dispatches++;
	timed += has_times;
	if (done.is_pooled)
		pool[pool_count++] = done.signal;
	pthread_mutex_unlock(&lock);
}

static struct pending pending_take(uint32_t index)
{
	struct pending taken;

	pthread_mutex_lock(&lock);
	taken = pending[index];
	pending[index] = pending[--pending_count];
	pthread_mutex_unlock(&lock);
	return taken;
}

static void *wait_for_all(void *unused)
{
	static hsa_signal_t signals[PENDING_MOST + 1];
	static hsa_signal_condition_t conditions[PENDING_MOST + 1];
	static hsa_signal_value_t values[PENDING_MOST + 1];
	hsa_signal_value_t woken = 0;

	for (;;) {
		uint32_t count, which;
		bool ends;

		pthread_mutex_lock(&lock);
		count = pending_count;
		ends = is_ending && !count;
		for (uint32_t i = 0; i < count; i++) {
			signals[i] = pending[i].signal;
			conditions[i] = HSA_SIGNAL_CONDITION_LT;
			values[i] = pending[i].value;
		}
		pthread_mutex_unlock(&lock);
		if (ends)
			return unused;
		signals[count] = wake;
		conditions[count] = HSA_SIGNAL_CONDITION_GTE;
		values[count] = woken + 1;
		which = hsa_amd_signal_wait_any(count + 1, signals, conditions, values, UINT64_MAX,
						HSA_WAIT_STATE_BLOCKED, NULL);
		if (which < count)
			complete(pending_take(which));
		else
			woken = next.hsa_signal_load_scacquire_fn(wake);
	}
}

/* ---- queues ---- */

static struct shadow *shadow_find(const hsa_queue_t *queue)
{
	struct shadow *shadow = atomic_load(&shadows);

	while (shadow && (const hsa_queue_t *)atomic_load(&shadow->queue) != queue)
		shadow = shadow->older;
	return shadow;
}

static uint64_t *write_index(struct shadow *shadow)
{
	return (uint64_t *)(uintptr_t)&atomic_load(&shadow->queue)->write_dispatch_id;
}

static struct shadow *shadow_make(const hsa_queue_t *queue)
{
	struct shadow *shadow;

	pthread_mutex_lock(&shadows_lock);
	if (!wake.handle) {
		check(next.hsa_signal_create_fn(0, 0, NULL, &wake) == HSA_STATUS_SUCCESS);
		check(!pthread_create(&waiter, NULL, wait_for_all, NULL));
	}
	shadow = shadow_find(queue);
	if (!shadow) {
		shadow = calloc(1, sizeof(*shadow));
		check(shadow != NULL);
		pthread_mutex_init(&shadow->gate, NULL);
		shadow->queue = (amd_queue_t *)(uintptr_t)queue;
		shadow->submitted = __atomic_load_n(write_index(shadow), __ATOMIC_ACQUIRE);
		shadow->packets = calloc(queue->size, sizeof(*shadow->packets));
		shadow->added = calloc(queue->size, sizeof(*shadow->added));
		check(shadow->packets && shadow->added);
		atomic_store(&shadow->virtual_index, shadow->submitted);
		shadow->older = atomic_load(&shadows);
		atomic_store(&shadows, shadow);
	}
	pthread_mutex_unlock(&shadows_lock);
	return shadow;
}

/* Returns the queue's shadow; makes one for a queue that was created by a call that this tool
 * does not wrap. */
static struct shadow *shadow_get(const hsa_queue_t *queue)
{
	struct shadow *shadow = shadow_find(queue);

	return shadow ? shadow : shadow_make(queue);
}

static struct shadow *shadow_of_doorbell(hsa_signal_t signal)
{
	const amd_signal_t *block = (const amd_signal_t *)(uintptr_t)signal.handle;

	if (!block || (block->kind != AMD_SIGNAL_KIND_DOORBELL &&
		       block->kind != AMD_SIGNAL_KIND_LEGACY_DOORBELL))
		return NULL;
	return shadow_find((const hsa_queue_t *)block->queue_ptr);
}

static hsa_status_t make_queue(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			       void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data,
			       uint32_t private_bytes, uint32_t group_bytes, hsa_queue_t **queue)
{
	hsa_status_t status = next.hsa_queue_create_fn(agent, size, type, callback, data,
						       private_bytes, group_bytes, queue);

	if (status == HSA_STATUS_SUCCESS) {
		hsa_amd_profiling_set_profiler_enabled(*queue, 1);
		shadow_make(*queue);
	}
	return status;
}

static hsa_status_t destroy_queue(hsa_queue_t *queue)
{
	struct shadow *shadow = shadow_find(queue);

	if (shadow)
		shadow->queue = NULL;
	return next.hsa_queue_destroy_fn(queue);
}

/* ---- doorbells ---- */

typedef void ring_fn(hsa_signal_t doorbell, hsa_signal_value_t value);

static union packet *slot_at(const struct shadow *shadow, uint64_t index)
{
	const hsa_queue_t *queue = &atomic_load(&shadow->queue)->hsa_queue;

	return (union packet *)queue->base_address + (index & (queue->size - 1));
}

/* Takes out the packets up to the first unwritten one; returns their count. Only slots whose
 * packets the device has consumed may be read: a reserved slot that the device has not consumed
 * still holds the old packet. */
static uint64_t take_out(struct shadow *shadow, uint64_t reserved)
{
	const amd_queue_t *queue = atomic_load(&shadow->queue);
	uint64_t free =
		__atomic_load_n(&queue->read_dispatch_id, __ATOMIC_ACQUIRE) + queue->hsa_queue.size;
	uint64_t end = reserved < free ? reserved : free, count = 0;

	for (; shadow->submitted + count < end; count++) {
		union packet *slot = slot_at(shadow, shadow->submitted + count);
		uint16_t header = __atomic_load_n(&slot->header, __ATOMIC_ACQUIRE);

		if ((header & 0xff) == HSA_PACKET_TYPE_INVALID)
			break;
		memcpy(shadow->packets[count].bytes + 2, slot->bytes + 2, 62);
		shadow->packets[count].header = header;
		__atomic_store_n(&slot->header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
	}
	return count;
}

static struct pending instrument(hsa_kernel_dispatch_packet_t *packet)
{
	struct pending added = {.is_pooled = !packet->completion_signal.handle};

	if (added.is_pooled)
		packet->completion_signal = pool_take();
	added.signal = packet->completion_signal;
	next.hsa_signal_add_scacq_screl_fn(added.signal, 1);
	added.value = next.hsa_signal_load_scacquire_fn(added.signal);
	return added;
}

static hsa_signal_t doorbell_of(struct shadow *shadow)
{
	return atomic_load(&shadow->queue)->hsa_queue.doorbell_signal;
}

static void let_device_take(struct shadow *shadow, uint64_t index)
{
	const amd_queue_t *queue = atomic_load(&shadow->queue);

	/* Wakes all queues. */
	softgpu_take_release();
	while (__atomic_load_n(&queue->read_dispatch_id, __ATOMIC_ACQUIRE) < index)
		sched_yield();
}

static void publish(struct shadow *shadow, uint64_t index, ring_fn *ring)
{
	__atomic_store_n(write_index(shadow), index, __ATOMIC_RELEASE);
	if (getenv("INTERPOSER_AHEAD"))
		let_device_take(shadow, index);
	ring(doorbell_of(shadow), (hsa_signal_value_t)(index - 1));
}

static void put_back(struct shadow *shadow, uint64_t index, const union packet *packet)
{
	union packet *slot = slot_at(shadow, index);

	memcpy(slot->bytes + 2, packet->bytes + 2, 62);
	__atomic_store_n(&slot->header, packet->header, __ATOMIC_RELEASE);
}

/* The caller holds the queue's gate. Returns the number of dispatches to wait for. */
static uint64_t submit_written(struct shadow *shadow, hsa_signal_value_t value, ring_fn *ring)
{
	uint64_t end = atomic_load(&shadow->virtual_index), count, added = 0;

	if (shadow->submitted >= end) {
		ring(doorbell_of(shadow), value);
		return 0;
	}
	count = take_out(shadow, end);
	for (uint64_t i = 0; i < count; i++) {
		union packet *packet = &shadow->packets[i];

		if ((packet->header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH)
			shadow->added[added++] = instrument(&packet->dispatch);
		put_back(shadow, shadow->submitted + i, packet);
	}
	shadow->submitted += count;
	if (count)
		publish(shadow, shadow->submitted, ring);
	else if (shadow->submitted)
		ring(doorbell_of(shadow), (hsa_signal_value_t)(shadow->submitted - 1));
	return added;
}

static void ring_queue(struct shadow *shadow, hsa_signal_value_t value, ring_fn *ring)
{
	uint64_t added;

	pthread_mutex_lock(&shadow->gate);
	added = submit_written(shadow, value, ring);
	for (uint64_t i = 0; i < added; i++)
		await(shadow->added[i]);
	pthread_mutex_unlock(&shadow->gate);
}

#define RING(name)                                                                                 \
	static void name(hsa_signal_t signal, hsa_signal_value_t value)                            \
	{                                                                                          \
		struct shadow *shadow = shadow_of_doorbell(signal);                                \
                                                                                                   \
		if (shadow)                                                                        \
			ring_queue(shadow, value, next.hsa_signal_##name##_fn);                    \
		else                                                                               \
			next.hsa_signal_##name##_fn(signal, value);                                \
	}

RING(store_relaxed)
RING(store_screlease)
RING(silent_store_relaxed)
RING(silent_store_screlease)

/* ---- the virtual write index ---- */

static uint64_t index_load(const hsa_queue_t *queue)
{
	return atomic_load(&shadow_get(queue)->virtual_index);
}

static void index_store(const hsa_queue_t *queue, uint64_t value)
{
	atomic_store(&shadow_get(queue)->virtual_index, value);
}

static uint64_t index_add(const hsa_queue_t *queue, uint64_t count)
{
	return atomic_fetch_add(&shadow_get(queue)->virtual_index, count);
}

static uint64_t index_cas(const hsa_queue_t *queue, uint64_t expected, uint64_t value)
{
	atomic_compare_exchange_strong(&shadow_get(queue)->virtual_index, &expected, value);
	return expected;
}

static void put_index_functions(struct hsa_core_table *core)
{
	core->hsa_queue_load_write_index_relaxed_fn = index_load;
	core->hsa_queue_load_write_index_scacquire_fn = index_load;
	core->hsa_queue_store_write_index_relaxed_fn = index_store;
	core->hsa_queue_store_write_index_screlease_fn = index_store;
	core->hsa_queue_add_write_index_relaxed_fn = index_add;
	core->hsa_queue_add_write_index_scacquire_fn = index_add;
	core->hsa_queue_add_write_index_screlease_fn = index_add;
	core->hsa_queue_add_write_index_scacq_screl_fn = index_add;
	core->hsa_queue_cas_write_index_relaxed_fn = index_cas;
	core->hsa_queue_cas_write_index_scacquire_fn = index_cas;
	core->hsa_queue_cas_write_index_screlease_fn = index_cas;
	core->hsa_queue_cas_write_index_scacq_screl_fn = index_cas;
}

SHOWN bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
		  const char *const *failed_tool_names);
bool OnLoad(struct hsa_api_table *table, uint64_t runtime_version, uint64_t failed_tool_count,
	    const char *const *failed_tool_names)
{
	struct hsa_core_table *core = table->core;

	(void)runtime_version;
	(void)failed_tool_count;
	(void)failed_tool_names;
	next = *core;
	core->hsa_queue_create_fn = make_queue;
	core->hsa_queue_destroy_fn = destroy_queue;
	core->hsa_signal_store_relaxed_fn = store_relaxed;
	core->hsa_signal_store_screlease_fn = store_screlease;
	core->hsa_signal_silent_store_relaxed_fn = silent_store_relaxed;
	core->hsa_signal_silent_store_screlease_fn = silent_store_screlease;
	put_index_functions(core);
	return true;
}

static void forget_shadows(void)
{
	struct shadow *shadow = atomic_exchange(&shadows, NULL);

	while (shadow) {
		struct shadow *older = shadow->older;

		pthread_mutex_destroy(&shadow->gate);
		free(shadow->packets);
		free(shadow->added);
		free(shadow);
		shadow = older;
	}
}

/* Called when the program has no work left, so all completions arrive. */
SHOWN void OnUnload(void);
void OnUnload(void)
{
	if (wake.handle) {
		pthread_mutex_lock(&lock);
		is_ending = true;
		pthread_mutex_unlock(&lock);
		next.hsa_signal_add_scacq_screl_fn(wake, 1);
		pthread_join(waiter, NULL);
	}
	forget_shadows();
	printf("interposed %llu\ninterposed_timed %llu\n", (unsigned long long)dispatches,
	       (unsigned long long)timed);
	fflush(stdout);
}
