/* Counters of the calls of one interface that were entered and left. They are kept apart from
 * the records of the calls, so that a recording can be checked against them (the ledger).
 *
 * Threading: any thread. Each of the first CALL_COUNTER_SLOTS threads has a counter of its own
 * and increments it with a plain load and store. All later threads share one counter and
 * increment it with an atomic addition. The counter of an ended thread is not used again. */
#ifndef DAGTAP_CAPTURE_CALL_COUNTER_H
#define DAGTAP_CAPTURE_CALL_COUNTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CALL_COUNTER_SLOTS 1024

/* Written by its thread, or by all threads that share it; read by any thread. */
struct call_counter {
	_Atomic uint64_t entered;
	_Atomic uint64_t left;
	_Atomic uint64_t launched; /* calls that launched a kernel; of CUDA alone */
	_Atomic uint64_t replayed; /* calls that launched a graph, or failed to; of CUDA alone */
	_Atomic bool is_shared;	   /* several threads increment it */
} __attribute__((aligned(64)));

struct call_counts {
	uint64_t entered, left, launched, replayed;
};

/* One for each interface; statically allocated, zero at first. */
struct call_counters {
	struct call_counter of[CALL_COUNTER_SLOTS + 1]; /* the last one is shared */
	_Atomic uint32_t
		taken; /* counters that were handed out, and requests beyond the last one */
	struct call_counts before; /* the sum when the recording began */
};

/* Adds one to VALUE, a count of COUNTER. Called by the thread that took COUNTER. */
static inline void call_count(const struct call_counter *counter, _Atomic uint64_t *value)
{
	if (atomic_load_explicit(&counter->is_shared, memory_order_relaxed))
		atomic_fetch_add_explicit(value, 1, memory_order_relaxed);
	else
		atomic_store_explicit(value, atomic_load_explicit(value, memory_order_relaxed) + 1,
				      memory_order_relaxed);
}

/* Returns a counter for the calling thread, which keeps the pointer and calls this once. Never
 * NULL. */
struct call_counter *call_counters_take(struct call_counters *counters);

/* Returns all calls that were ever counted. A call that returns while the counters are added up
 * counts as open. Cost: reads every counter; for the housekeeper and the start and stop hooks. */
struct call_counts call_counters_sum(const struct call_counters *counters);
/* Returns the calls that were counted since call_counters_begin, with the same rule. */
struct call_counts call_counters_since(const struct call_counters *counters);

/* Begins a recording: call_counters_since counts from here. A call that is open now is counted
 * in no recording, since callers count the return of calls of the current session alone. */
void call_counters_begin(struct call_counters *counters);

/* In a fork child: sets all counts to 0, since the parent's calls are not the child's. */
void call_counters_forget(struct call_counters *counters);

#endif
