/* The completion sources; what each one does is in the header. */
#include "capture/hsa/completion.h"

#include "base/timer.h"
#include "capture/capture_session.h"
#include "capture/hsa/hsa_anchors.h"
#include "capture/hsa/hsa_calls.h"

/* A copy that ended longer than this before it was submitted is an earlier copy. */
#define STALE_COPY_NS 100000u
#define DELAY_BUCKETS 64

/* The acquire pairs with the device's release, or another thread's, when it decrements the value:
 * ticks that were written before are visible. */
static int64_t value_read(amd_signal_t *signal)
{
	return __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE);
}

static amd_signal_t *block_of(const struct object *signal)
{
	return (amd_signal_t *)(uintptr_t)atomic_load_explicit(&signal->key, memory_order_relaxed);
}

/* Returns true when the device has written both ticks. The device may be writing them now: it
 * writes the end last, so the end is read first, with acquire. */
static bool ticks_read(const struct slot *slot, struct completion *completion)
{
	amd_signal_t *signal = slot->signal;

	completion->end = __atomic_load_n(&signal->end_ts, __ATOMIC_ACQUIRE);
	completion->start = __atomic_load_n(&signal->start_ts, __ATOMIC_ACQUIRE);
	return completion->start && completion->end && completion->start != slot->old_start &&
	       completion->end != slot->old_end;
}

static void ticks_write(amd_signal_t *signal, uint64_t start, uint64_t end)
{
	__atomic_store_n(&signal->start_ts, start, __ATOMIC_RELAXED);
	__atomic_store_n(&signal->end_ts, end, __ATOMIC_RELAXED);
}

/* ---- the slot's own signal ---- */

static bool own_begin(struct slot *slot, struct object *watched)
{
	/* Pairs with the release in make_signal (slot_signals.c). */
	slot->signal = atomic_load_explicit(&slot->own, memory_order_acquire);
	(void)watched;
	if (!slot->signal)
		return false;
	/* Relaxed stores are enough: the device does not have the packet yet, and publishing it
	 * makes them visible. */
	ticks_write(slot->signal, 0, 0);
	__atomic_store_n(&slot->signal->value, 1, __ATOMIC_RELAXED);
	return true;
}

static bool own_is_over(struct slot *slot, bool certain, struct completion *ret_completion)
{
	(void)certain;
	if (value_read(slot->signal) > 0)
		return false;
	ret_completion->untimed = RECORD_UNTIMED_NO;
	if (!ticks_read(slot, ret_completion))
		ret_completion->untimed = RECORD_UNTIMED_ZERO_TICK;
	return true;
}

const struct completion_source completion_own = {
	.name = "own signal",
	.begin = own_begin,
	.is_over = own_is_over,
};

/* ---- the application's signal ---- */

/* `begin` of the sources that leave the application's signal in the packet. */
static bool watch_slot(struct slot *slot, struct object *watched)
{
	atomic_store_explicit(&slot->watched, watched, memory_order_relaxed);
	slot->signal = block_of(watched);
	slot->value = value_read(slot->signal);
	return true;
}

/* Whether the value says that the use is over. If the tool has passed completions on to the signal
 * since the application stored to it, a lower value may come from those; then only 0 says that all
 * uses are over. */
static bool value_is_low(const struct slot *slot)
{
	const struct object *watched = atomic_load_explicit(&slot->watched, memory_order_relaxed);
	int64_t value = value_read(slot->signal);

	if (atomic_load_explicit(&watched->was_borrowed, memory_order_relaxed))
		return value <= 0;
	return value < slot->value;
}

/* Whether ticks are still missing TIMER_TICKS_LATE after the value was first seen lower. The device
 * writes ticks before it decrements the value, so it writes none for this use. */
static bool ticks_are_late(struct slot *slot)
{
	uint64_t now = session_now_ns();

	if (!slot->low_ns)
		slot->low_ns = now;
	return now - slot->low_ns > timer_ns(TIMER_TICKS_LATE);
}

static bool harvest_is_over(struct slot *slot, bool certain, struct completion *ret_completion)
{
	bool is_low;

	if (certain)
		return ticks_read(slot, ret_completion);
	is_low = value_is_low(slot);
	ret_completion->untimed = RECORD_UNTIMED_NO;
	if (ticks_read(slot, ret_completion))
		return true;
	ret_completion->untimed = RECORD_UNTIMED_ZERO_TICK;
	return is_low && ticks_are_late(slot);
}

const struct completion_source completion_harvest = {
	.name = "harvest",
	.is_watching = true,
	.begin = watch_slot,
	.is_over = harvest_is_over,
};

static bool read_begin(struct slot *slot, struct object *watched)
{
	watch_slot(slot, watched);
	slot->old_start = __atomic_load_n(&slot->signal->start_ts, __ATOMIC_RELAXED);
	slot->old_end = __atomic_load_n(&slot->signal->end_ts, __ATOMIC_RELAXED);
	return true;
}

const struct completion_source completion_read = {
	.name = "read",
	.is_watching = true,
	.begin = read_begin,
	.is_over = harvest_is_over,
};

/* ---- borrowed completions ---- */

/* Borrowed completions that are still to be passed on, in the process. */
static _Atomic uint32_t borrowed;
/* When the monitor's last look and the present one began, host clock. */
static _Atomic uint64_t last_look_ns, this_look_ns;
static _Atomic uint64_t delays[DELAY_BUCKETS]; /* by the position of the highest bit */
static _Atomic uint64_t delay_most_ns;

uint32_t completion_borrowed(void)
{
	return atomic_load_explicit(&borrowed, memory_order_relaxed);
}

void completion_look_begins(uint64_t now_ns)
{
	atomic_store_explicit(&last_look_ns,
			      atomic_load_explicit(&this_look_ns, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&this_look_ns, now_ns, memory_order_relaxed);
}

/* Counts how long the completion may have waited: since the last look, or since its submission. */
static void delay_count(const struct slot *slot)
{
	uint64_t from_ns = atomic_load_explicit(&last_look_ns, memory_order_relaxed);
	uint64_t ns, most = atomic_load_explicit(&delay_most_ns, memory_order_relaxed);

	if (from_ns < slot->submit_ns)
		from_ns = slot->submit_ns;
	ns = session_now_ns() - from_ns;
	atomic_fetch_add_explicit(&delays[63 - __builtin_clzll(ns | 1)], 1, memory_order_relaxed);
	while (most < ns &&
	       !atomic_compare_exchange_weak_explicit(&delay_most_ns, &most, ns,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

struct completion_delays completion_delays_get(void)
{
	struct completion_delays result = {
		.most_ns = atomic_load_explicit(&delay_most_ns, memory_order_relaxed)};
	uint64_t below = 0;

	for (int i = 0; i < DELAY_BUCKETS; i++)
		result.count += atomic_load_explicit(&delays[i], memory_order_relaxed);
	for (int i = 0; i < DELAY_BUCKETS - 1 && below * 100 < result.count * 99; i++) {
		below += atomic_load_explicit(&delays[i], memory_order_relaxed);
		result.p99_ns = 2ull << i;
	}
	return result;
}

static bool borrow_begin(struct slot *slot, struct object *watched)
{
	if (!own_begin(slot, NULL))
		return false;
	atomic_store_explicit(&slot->watched, watched, memory_order_relaxed);
	atomic_fetch_add_explicit(&watched->borrowed, 1, memory_order_relaxed);
	atomic_store_explicit(&watched->was_borrowed, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&borrowed, 1, memory_order_relaxed);
	return true;
}

/* Writes the ticks into the application's signal, because the application may ask for the times of
 * the signal's last packet. Writes nothing while another packet with the signal itself is on the
 * device, which will write that packet's ticks. Writes nothing either while another thread writes
 * the ticks of a packet that ended at the same time: that thread may be stopped, so it is not
 * waited for.
 *
 * The exchange of is_busy and the load of `word` are sequentially consistent: they pair with
 * app_signal_begin_use, which exchanges `word`, and app_signal_clear_ticks, which then loads
 * is_busy. */
static void ticks_pass_on(struct object *signal, const struct completion *completion)
{
	if (atomic_exchange(&signal->is_busy, 1))
		return;
	if (!completion->untimed && !atomic_load(&signal->word))
		ticks_write(block_of(signal), completion->start, completion->end);
	atomic_store_explicit(&signal->is_busy, 0, memory_order_release);
}

static void borrow_pass_on(struct slot *slot, const struct completion *completion)
{
	struct object *signal = atomic_load_explicit(&slot->watched, memory_order_relaxed);
	hsa_signal_t handle;

	atomic_fetch_sub_explicit(&borrowed, 1, memory_order_relaxed);
	/* NULL: the application has destroyed the signal meanwhile. */
	if (!signal)
		return;
	handle.handle = atomic_load_explicit(&signal->key, memory_order_relaxed);
	ticks_pass_on(signal, completion);
	atomic_fetch_sub_explicit(&signal->borrowed, 1, memory_order_relaxed);
	delay_count(slot);
	hsa_next.hsa_signal_subtract_screlease(handle, 1);
}

const struct completion_source completion_borrow = {
	.name = "borrow",
	.is_watching = true,
	.begin = borrow_begin,
	.is_over = own_is_over,
	.pass_on = borrow_pass_on,
};

/* ---- copies ---- */

/* Asks the runtime for the times: those of a copy engine are not in the signal. */
static void copy_times(const struct slot *slot, struct completion *result)
{
	hsa_amd_profiling_async_copy_time_t time = {0};
	hsa_signal_t signal = {(uint64_t)(uintptr_t)slot->signal};
	uint64_t offset = hsa_anchors_host_offset();

	result->untimed = RECORD_UNTIMED_ZERO_TICK;
	if (!hsa_next.hsa_amd_profiling_get_async_copy_time ||
	    hsa_next.hsa_amd_profiling_get_async_copy_time(signal, &time) != HSA_STATUS_SUCCESS ||
	    !time.start || !time.end)
		return;
	result->start = time.start + offset;
	result->end = time.end + offset;
	/* These are the times of the signal's previous copy; this one has left none. */
	if (result->end + STALE_COPY_NS + hsa_anchors_host_doubt_ns(slot->submit_ns) <
	    slot->submit_ns)
		return;
	result->untimed = RECORD_UNTIMED_NO;
}

static bool copy_is_over(struct slot *slot, bool certain, struct completion *ret_completion)
{
	if (!certain && !value_is_low(slot))
		return false;
	copy_times(slot, ret_completion);
	return true;
}

const struct completion_source completion_copy = {
	.name = "copy",
	.is_copy = true,
	.is_watching = true,
	.begin = watch_slot,
	.is_over = copy_is_over,
};
