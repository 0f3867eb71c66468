/* What reached the device: counted where it arrives, reported at exit, and readable by a tracer
 * through softgpu_counters() (exported): the ledger's other witness. X-macro: one row a counter. */
#ifndef SOFTGPU_COUNTERS_H
#define SOFTGPU_COUNTERS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <dagtap/softgpu.h> /* softgpu_counters() */

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

/* How many wait for a counter (hold.c). */
extern _Atomic uint32_t softgpu_counters_watched;

/* While somebody does: a counter has gone from BEFORE to NOW. It may hold the calling thread. */
void softgpu_counter_moved(enum softgpu_counter_id id, uint64_t before, uint64_t now);

/* -1: there is none of that name. */
int softgpu_counter_find(const char *name, size_t length);

/* Sequentially consistent against who watches: either it reads the new value or we find it there. */
static inline void softgpu_counter_add(enum softgpu_counter_id id, uint64_t n)
{
	uint64_t before = atomic_fetch_add(&softgpu_counter_values[id], n);

	if (atomic_load(&softgpu_counters_watched))
		softgpu_counter_moved(id, before, before + n);
}

#define softgpu_count(name, n) softgpu_counter_add(SOFTGPU_COUNT_##name, (uint64_t)(n))

#endif
