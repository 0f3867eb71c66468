/* How many calls of an interface were entered and left, counted apart from their records: what a recording is
 * checked against.
 *
 * A thread counts for itself, without an atomic add; those that come after the last slot share one, with it. */
#ifndef DAGTAP_CAPTURE_CALL_COUNTER_H
#define DAGTAP_CAPTURE_CALL_COUNTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CALL_COUNTER_SLOTS 1024

struct call_counter {
	_Atomic uint64_t entered;
	_Atomic uint64_t left;
	_Atomic bool is_shared;
} __attribute__((aligned(64)));

struct call_counts {
	uint64_t entered, left;
};

/* Zero at first. */
struct call_counters {
	struct call_counter of[CALL_COUNTER_SLOTS + 1];
	_Atomic uint32_t taken;
	struct call_counts before;
};

/* VALUE is the counter's ENTERED or LEFT. */
static inline void call_count(const struct call_counter *counter, _Atomic uint64_t *value)
{
	if (atomic_load_explicit(&counter->is_shared, memory_order_relaxed))
		atomic_fetch_add_explicit(value, 1, memory_order_relaxed);
	else
		atomic_store_explicit(value, atomic_load_explicit(value, memory_order_relaxed) + 1,
				      memory_order_relaxed);
}

/* The calling thread's own, from now on. */
struct call_counter *call_counters_take(struct call_counters *counters);

/* All that were ever counted, and those since the recording began. A call that returns meanwhile counts as
 * open. */
struct call_counts call_counters_sum(const struct call_counters *counters);
struct call_counts call_counters_since(const struct call_counters *counters);

/* A recording begins; calls that are open count in none. */
void call_counters_begin(struct call_counters *counters);

/* In a fork child: the parent's calls are not its own. */
void call_counters_forget(struct call_counters *counters);

#endif
