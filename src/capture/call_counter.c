/* Counters of calls, one for each thread; see call_counter.h. */
#include "capture/call_counter.h"

#include <stddef.h>

struct call_counter *call_counters_take(struct call_counters *counters)
{
	uint32_t index = atomic_fetch_add_explicit(&counters->taken, 1, memory_order_relaxed);
	bool is_shared = index >= CALL_COUNTER_SLOTS;
	struct call_counter *counter = &counters->of[is_shared ? CALL_COUNTER_SLOTS : index];

	atomic_store_explicit(&counter->is_shared, is_shared, memory_order_relaxed);
	return counter;
}

/* LEFT is added up before ENTERED: a call that returns meanwhile counts as open, and the number
 * of open calls is never negative. */
struct call_counts call_counters_sum(const struct call_counters *counters)
{
	struct call_counts sum = {0};

	for (size_t i = 0; i <= CALL_COUNTER_SLOTS; i++)
		sum.left += atomic_load_explicit(&counters->of[i].left, memory_order_relaxed);
	for (size_t i = 0; i <= CALL_COUNTER_SLOTS; i++) {
		const struct call_counter *of = &counters->of[i];

		sum.entered += atomic_load_explicit(&of->entered, memory_order_relaxed);
		sum.launched += atomic_load_explicit(&of->launched, memory_order_relaxed);
		sum.replayed += atomic_load_explicit(&of->replayed, memory_order_relaxed);
	}
	return sum;
}

struct call_counts call_counters_since(const struct call_counters *counters)
{
	struct call_counts now = call_counters_sum(counters);

	return (struct call_counts){.entered = now.entered - counters->before.entered,
				    .left = now.left - counters->before.left,
				    .launched = now.launched - counters->before.launched,
				    .replayed = now.replayed - counters->before.replayed};
}

void call_counters_begin(struct call_counters *counters)
{
	counters->before = call_counters_sum(counters);
}

void call_counters_forget(struct call_counters *counters)
{
	for (size_t i = 0; i <= CALL_COUNTER_SLOTS; i++) {
		atomic_store_explicit(&counters->of[i].entered, 0, memory_order_relaxed);
		atomic_store_explicit(&counters->of[i].left, 0, memory_order_relaxed);
		atomic_store_explicit(&counters->of[i].launched, 0, memory_order_relaxed);
		atomic_store_explicit(&counters->of[i].replayed, 0, memory_order_relaxed);
	}
	counters->before = (struct call_counts){0};
}
