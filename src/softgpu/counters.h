/* The counters of the device: what reached it, counted where it arrives. report.c exports them by
 * softgpu_counters(), so the tracer can use them as a witness for its ledger, and writes them when
 * the process ends. docs/softgpu.md says what each one counts. The X-macro has one row for each
 * counter.
 *
 * Threading: any thread. Cost of a count: one atomic add and one load; a system call more while a
 * thread waits in softgpu_await or hold_at is configured. */
#ifndef SOFTGPU_COUNTERS_H
#define SOFTGPU_COUNTERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SOFTGPU_COUNTERS(X)                                                                        \
	X(packets_kernel_dispatch)                                                                 \
	X(packets_barrier_and)                                                                     \
	X(packets_barrier_or)                                                                      \
	X(packets_agent_dispatch)                                                                  \
	X(packets_vendor)                                                                          \
	X(packets_invalid_type)                                                                    \
	X(packets_ended)                                                                           \
	X(barriers_blocked)                                                                        \
	X(idle_looks)                                                                              \
	X(barrier_bits)                                                                            \
	X(doorbells)                                                                               \
	X(dispatches_blit)                                                                         \
	X(dispatches_without_host_kernel)                                                          \
	X(dispatches_unknown_kernel_object)                                                        \
	X(dispatches_bad_kernarg)                                                                  \
	X(dispatches_bad_range)                                                                    \
	X(copies)                                                                                  \
	X(copies_rect)                                                                             \
	X(copies_begun)                                                                            \
	X(copies_ended)                                                                            \
	X(copy_bytes)                                                                              \
	X(signals_created_interrupt)                                                               \
	X(signals_created_memory)                                                                  \
	X(signals_without_event)                                                                   \
	X(signals_destroyed)                                                                       \
	X(signal_sleeps)                                                                           \
	X(signal_errors)                                                                           \
	X(queues_created)                                                                          \
	X(queues_destroyed)                                                                        \
	X(handlers_armed)                                                                          \
	X(handlers_refused)                                                                        \
	X(handlers_run)                                                                            \
	X(timestamps_read)

enum softgpu_counter_id {
#define X(name) SOFTGPU_COUNT_##name,
	SOFTGPU_COUNTERS(X)
#undef X
		SOFTGPU_COUNTER_COUNT
};

extern _Atomic uint64_t softgpu_counter_values[SOFTGPU_COUNTER_COUNT];

/* Number of threads in softgpu_await, and one more if hold_at is configured (device_hold.c). */
extern _Atomic uint32_t softgpu_counters_watched;

/* Called after a counter went from BEFORE to NOW while softgpu_counters_watched is not 0: wakes the
 * threads in softgpu_await. At the point of hold_at it holds the taking of work, or blocks the
 * calling thread until the script writes to hold_pipe. */
void softgpu_counter_moved(enum softgpu_counter_id id, uint64_t before, uint64_t now);

/* Returns the counter whose name is the LENGTH bytes at NAME; -1 when there is none. */
int softgpu_counter_find(const char *name, size_t length);

/* Returns the name of a counter. */
const char *softgpu_counter_name(enum softgpu_counter_id id);

/* Adds N to a counter. The add and the load are sequentially consistent, like the two accesses in
 * softgpu_await: either the waiting thread reads the new value, or this function sees that it
 * waits. */
static inline void softgpu_counter_add(enum softgpu_counter_id id, uint64_t n)
{
	uint64_t before = atomic_fetch_add(&softgpu_counter_values[id], n);

	if (atomic_load(&softgpu_counters_watched))
		softgpu_counter_moved(id, before, before + n);
}

#define softgpu_count(name, n) softgpu_counter_add(SOFTGPU_COUNT_##name, (uint64_t)(n))

#endif
