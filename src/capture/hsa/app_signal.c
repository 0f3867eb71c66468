/* The uses of the application's signals; see the header. */
#include "capture/hsa/app_signal.h"

#include <sched.h>

#include "capture/hsa/completion_slots.h"

struct object *app_signal_find(hsa_signal_t signal)
{
	struct object *entry = object_map_find(&object_map, signal.handle);

	return entry && entry->kind == OBJECT_SIGNAL ? entry : NULL;
}

/* Changes is_shared from FROM to TO. OBJECT_SHARED_EVER is never FROM, so it stays. Release: pairs
 * with the acquire in app_signal_begin_use. */
static void set_shared(struct object *signal, uint32_t from, uint32_t to)
{
	atomic_compare_exchange_strong_explicit(&signal->is_shared, &from, to, memory_order_release,
						memory_order_relaxed);
}

enum record_untimed app_signal_begin_use(struct object *signal, uint64_t reference)
{
	uint64_t last;

	/* Earlier uses may not be over, and nothing tells which use the ticks belong to. */
	if (atomic_load_explicit(&signal->is_shared, memory_order_acquire))
		return RECORD_UNTIMED_SHARED_SIGNAL;
	last = atomic_exchange(&signal->word, reference);
	if (!last || slot_settle(last, RECORD_UNTIMED_SHARED_SIGNAL, false))
		return RECORD_UNTIMED_NO;
	set_shared(signal, OBJECT_NOT_SHARED, OBJECT_SHARED);
	app_signal_cancel_use(signal, reference);
	return RECORD_UNTIMED_SHARED_SIGNAL;
}

static amd_signal_t *block_of(const struct object *signal)
{
	return (amd_signal_t *)(uintptr_t)atomic_load_explicit(&signal->key, memory_order_relaxed);
}

/* Settles the use LAST if both ticks are there. Returns whether it is over. A copy's end shows in
 * its value only, so false for a copy. */
static bool use_is_over(const struct object *signal, uint64_t last)
{
	const amd_signal_t *block = block_of(signal);

	if (slot_reference_is_copy(last) || !__atomic_load_n(&block->end_ts, __ATOMIC_ACQUIRE) ||
	    !__atomic_load_n(&block->start_ts, __ATOMIC_ACQUIRE))
		return false;
	return slot_settle(last, RECORD_UNTIMED_SHARED_SIGNAL, false);
}

bool app_signal_should_borrow(struct object *signal)
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

void app_signal_depend(hsa_signal_t signal)
{
	struct object *entry = signal.handle ? app_signal_find(signal) : NULL;

	if (entry && !atomic_load_explicit(&entry->is_dependency, memory_order_relaxed))
		atomic_store_explicit(&entry->is_dependency, 1, memory_order_relaxed);
}

void app_signal_clear_ticks(struct object *signal)
{
	amd_signal_t *block = block_of(signal);

	/* A thread that is just writing ticks decided to do so before app_signal_begin_use set
	 * `word`. The load is sequentially consistent and pairs with ticks_pass_on in completion.c:
	 * that thread has seen `word`, or this one sees is_busy. */
	while (atomic_load(&signal->is_busy))
		sched_yield();
	__atomic_store_n(&block->start_ts, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&block->end_ts, 0, __ATOMIC_RELAXED);
}

void app_signal_cancel_use(struct object *signal, uint64_t reference)
{
	atomic_compare_exchange_strong_explicit(&signal->word, &reference, 0, memory_order_acq_rel,
						memory_order_relaxed);
}

static void forget_use(struct object *entry)
{
	if (entry->kind == OBJECT_SIGNAL)
		set_shared(entry, OBJECT_NOT_SHARED, OBJECT_SHARED);
}

void app_signals_forget_uses(void)
{
	object_map_visit(&object_map, forget_use);
}

void app_signal_use_untimed(hsa_signal_t signal)
{
	struct object *entry = signal.handle ? app_signal_find(signal) : NULL;

	if (entry)
		app_signal_begin_use(entry, 0);
}

void app_signal_pass_on(struct object *signal, bool gone)
{
	if (!atomic_load_explicit(&signal->was_borrowed, memory_order_relaxed))
		return;
	if (atomic_load_explicit(&signal->borrowed, memory_order_relaxed))
		slots_pass_on(signal, gone);
	slots_await_collectors(block_of(signal));
	if (!atomic_load_explicit(&signal->borrowed, memory_order_relaxed))
		atomic_store_explicit(&signal->was_borrowed, 0, memory_order_relaxed);
}

void app_signal_end_sharing(struct object *signal)
{
	set_shared(signal, OBJECT_SHARED, OBJECT_NOT_SHARED);
}

void app_signal_end(struct object *signal)
{
	amd_signal_t *block = block_of(signal);
	uint64_t last = atomic_exchange(&signal->word, 0);

	if (last)
		slot_settle(last, RECORD_UNTIMED_SIGNAL_GONE, true);
	app_signal_pass_on(signal, true);
	object_map_remove(signal);
	slots_await_collectors(block);
}

void app_signal_share(hsa_signal_t signal)
{
	struct object *entry = app_signal_find(signal);

	if (!entry)
		entry = object_map_put(&object_map, signal.handle, OBJECT_SIGNAL, NULL, 0);
	if (entry)
		atomic_store_explicit(&entry->is_shared, OBJECT_SHARED_EVER, memory_order_release);
}
