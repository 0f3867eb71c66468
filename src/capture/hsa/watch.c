/* The uses of the application's signals, and the wrappers of the functions that create, destroy,
 * share and store to signals. A store to a doorbell goes to the queue's gate. */
#include "capture/hsa/watch.h"

#include <sched.h>

#include "capture/hsa/completion_slots.h"
#include "capture/hsa/gate.h"
#include "capture/hsa/hsa_calls.h"
#include "capture/hsa/hsa_state.h"
#include "capture/hsa/hsa_wrappers.h"
#include "capture/hsa/unknown_queues.h"

struct object *watch_find(hsa_signal_t signal)
{
	struct object *entry = object_map_find(&object_map, signal.handle);

	return entry && entry->kind == OBJECT_SIGNAL ? entry : NULL;
}

/* Changes is_shared from FROM to TO. OBJECT_SHARED_EVER is never FROM, so it stays. Release: pairs
 * with the acquire in watch_begin. */
static void set_shared(struct object *signal, uint32_t from, uint32_t to)
{
	atomic_compare_exchange_strong_explicit(&signal->is_shared, &from, to, memory_order_release,
						memory_order_relaxed);
}

enum record_untimed watch_begin(struct object *signal, uint64_t reference)
{
	uint64_t last;

	/* Earlier uses may not be over, and nothing tells which use the ticks belong to. */
	if (atomic_load_explicit(&signal->is_shared, memory_order_acquire))
		return RECORD_UNTIMED_SHARED_SIGNAL;
	last = atomic_exchange(&signal->word, reference);
	if (!last || slot_settle(last, RECORD_UNTIMED_SHARED_SIGNAL, false))
		return RECORD_UNTIMED_NO;
	set_shared(signal, OBJECT_NOT_SHARED, OBJECT_SHARED);
	watch_cancel(signal, reference);
	return RECORD_UNTIMED_SHARED_SIGNAL;
}

static amd_signal_t *watched_block(const struct object *signal)
{
	return (amd_signal_t *)(uintptr_t)atomic_load_explicit(&signal->key, memory_order_relaxed);
}

/* Settles the use LAST if both ticks are there. Returns whether it is over. A copy's end shows in
 * its value only, so false for a copy. */
static bool use_is_over(const struct object *signal, uint64_t last)
{
	const amd_signal_t *block = watched_block(signal);

	if (slot_reference_is_copy(last) || !__atomic_load_n(&block->end_ts, __ATOMIC_ACQUIRE) ||
	    !__atomic_load_n(&block->start_ts, __ATOMIC_ACQUIRE))
		return false;
	return slot_settle(last, RECORD_UNTIMED_SHARED_SIGNAL, false);
}

bool watch_should_borrow(struct object *signal)
{
	uint64_t last = atomic_load_explicit(&signal->word, memory_order_acquire);
	uint32_t shared = atomic_load_explicit(&signal->is_shared, memory_order_relaxed);

	/* Another process's device may be waiting for a signal that is shared with it. */
	if (shared == OBJECT_SHARED_EVER ||
	    atomic_load_explicit(&signal->is_dependency, memory_order_relaxed))
		return false;
	if (shared)
		return true;
	return last && !use_is_over(signal, last);
}

void watch_depend(hsa_signal_t signal)
{
	struct object *entry = signal.handle ? watch_find(signal) : NULL;

	if (entry && !atomic_load_explicit(&entry->is_dependency, memory_order_relaxed))
		atomic_store_explicit(&entry->is_dependency, 1, memory_order_relaxed);
}

void watch_clear_ticks(struct object *signal)
{
	amd_signal_t *block = watched_block(signal);

	/* A thread that is just writing ticks decided to do so before watch_begin set `word`. The
	 * load is sequentially consistent and pairs with ticks_pass_on in completion.c: that thread
	 * has seen `word`, or this one sees is_busy. */
	while (atomic_load(&signal->is_busy))
		sched_yield();
	__atomic_store_n(&block->start_ts, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&block->end_ts, 0, __ATOMIC_RELAXED);
}

void watch_cancel(struct object *signal, uint64_t reference)
{
	atomic_compare_exchange_strong_explicit(&signal->word, &reference, 0, memory_order_acq_rel,
						memory_order_relaxed);
}

static void forget_use(struct object *entry)
{
	if (entry->kind == OBJECT_SIGNAL)
		set_shared(entry, OBJECT_NOT_SHARED, OBJECT_SHARED);
}

void watch_forget_uses(void)
{
	object_map_visit(&object_map, forget_use);
}

void watch_pass(hsa_signal_t signal)
{
	struct object *entry = signal.handle ? watch_find(signal) : NULL;

	if (entry)
		watch_begin(entry, 0);
}

/* Decrements SIGNAL for what the device has completed, before the application changes its value:
 * the application may know from another source that the packets are done. */
static void watch_pass_on(struct object *signal, bool gone)
{
	if (!atomic_load_explicit(&signal->was_borrowed, memory_order_relaxed))
		return;
	if (atomic_load_explicit(&signal->borrowed, memory_order_relaxed))
		slots_pass_on(signal, gone);
	slots_await_collectors(watched_block(signal));
	if (!atomic_load_explicit(&signal->borrowed, memory_order_relaxed))
		atomic_store_explicit(&signal->was_borrowed, 0, memory_order_relaxed);
}

/* The application stores to a signal, so whatever used it is over. The ticks of a dispatch outlive
 * the store and are read later. The times of a copy are taken now, because its end shows in the
 * value only. */
static void watch_store(struct object *signal)
{
	uint64_t last = atomic_load_explicit(&signal->word, memory_order_acquire);

	if (last && slot_reference_is_copy(last) &&
	    atomic_compare_exchange_strong(&signal->word, &last, 0))
		slot_settle(last, RECORD_UNTIMED_SIGNAL_GONE, true);
	watch_pass_on(signal, false);
	if (atomic_load_explicit(&signal->is_shared, memory_order_relaxed))
		set_shared(signal, OBJECT_SHARED, OBJECT_NOT_SHARED);
}

/* The application is about to destroy SIGNAL: settles its last use, and waits until no thread reads
 * the signal. */
static void watch_end(struct object *signal)
{
	amd_signal_t *block = watched_block(signal);
	uint64_t last = atomic_exchange(&signal->word, 0);

	if (last)
		slot_settle(last, RECORD_UNTIMED_SIGNAL_GONE, true);
	watch_pass_on(signal, true);
	object_map_remove(signal);
	slots_await_collectors(block);
}

static void watch_add(hsa_status_t status, const hsa_signal_t *signal)
{
	/* A runtime that had no events left was seen to report success with handle 0. */
	if (status == HSA_STATUS_SUCCESS && signal && signal->handle && hsa_is_live())
		object_map_put(&object_map, signal->handle, OBJECT_SIGNAL, NULL, 0);
}

hsa_status_t wrap_hsa_signal_create(hsa_signal_value_t initial_value, uint32_t num_consumers,
				    const hsa_agent_t *consumers, hsa_signal_t *signal)
{
	hsa_status_t status =
		hsa_next.hsa_signal_create(initial_value, num_consumers, consumers, signal);

	watch_add(status, signal);
	return status;
}

hsa_status_t wrap_hsa_amd_signal_create(hsa_signal_value_t initial_value, uint32_t num_consumers,
					const hsa_agent_t *consumers, uint64_t attributes,
					hsa_signal_t *signal)
{
	hsa_status_t status = hsa_next.hsa_amd_signal_create(initial_value, num_consumers,
							     consumers, attributes, signal);

	watch_add(status, signal);
	return status;
}

/* Other processes may use SIGNAL from now on, or do so already: they complete it, and their packets
 * write its ticks, too. */
static void watch_share(hsa_signal_t signal)
{
	struct object *entry = watch_find(signal);

	if (!entry)
		entry = object_map_put(&object_map, signal.handle, OBJECT_SIGNAL, NULL, 0);
	if (entry)
		atomic_store_explicit(&entry->is_shared, OBJECT_SHARED_EVER, memory_order_release);
}

hsa_status_t wrap_hsa_amd_ipc_signal_create(hsa_signal_t signal, hsa_amd_ipc_signal_t *handle)
{
	/* Before the call, because afterwards another process may have the handle. */
	if (hsa_is_live() && watch_find(signal))
		watch_share(signal);
	return hsa_next.hsa_amd_ipc_signal_create(signal, handle);
}

/* The process that created the signal gets the same signal again, which may have an entry. */
hsa_status_t wrap_hsa_amd_ipc_signal_attach(const hsa_amd_ipc_signal_t *handle,
					    hsa_signal_t *signal)
{
	hsa_status_t status = hsa_next.hsa_amd_ipc_signal_attach(handle, signal);

	if (status == HSA_STATUS_SUCCESS && signal && signal->handle && hsa_is_live())
		watch_share(*signal);
	return status;
}

hsa_status_t wrap_hsa_signal_destroy(hsa_signal_t signal)
{
	struct object *entry = hsa_is_live() ? watch_find(signal) : NULL;

	if (entry)
		watch_end(entry);
	return hsa_next.hsa_signal_destroy(signal);
}

/* Handles a store by the program. Returns true for the doorbell of a queue with a gate, which rings
 * the device itself; false when the wrapper is to pass the store on to the runtime. */
static bool store_is_answered(hsa_signal_t signal, hsa_signal_value_t value)
{
	struct object *entry;

	if (!hsa_is_live())
		return false;
	entry = object_map_find(&object_map, signal.handle);
	if (!entry) {
		unknown_queue_ring(signal);
	} else if (entry->kind == OBJECT_DOORBELL) {
		gate_ring(entry->owner, (uint64_t)value);
		return true;
	} else if (entry->kind == OBJECT_SIGNAL) {
		watch_store(entry);
	}
	return false;
}

#define WRAP_STORE(name)                                                                           \
	void wrap_##name(hsa_signal_t signal, hsa_signal_value_t value)                            \
	{                                                                                          \
		if (!store_is_answered(signal, value))                                             \
			hsa_next.name(signal, value);                                              \
	}

WRAP_STORE(hsa_signal_store_relaxed)
WRAP_STORE(hsa_signal_store_screlease)
WRAP_STORE(hsa_signal_silent_store_relaxed)
WRAP_STORE(hsa_signal_silent_store_screlease)
