/* What reached the device: counted where it arrives, reported at exit, and readable by a tracer
 * through softgpu_counters() (exported): the ledger's other witness. X-macro: one row a counter. */
#ifndef SOFTGPU_COUNTERS_H
#define SOFTGPU_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

#include <dagtap/softgpu.h> /* softgpu_counters() */

#define SOFTGPU_COUNTERS(X)                                                                        \
	X(packets_kernel_dispatch)                                                                 \
	X(packets_barrier_and)                                                                     \
	X(packets_barrier_or)                                                                      \
	X(packets_agent_dispatch)                                                                  \
	X(packets_vendor)                                                                          \
	X(packets_invalid_type)                                                                    \
	X(barrier_bits)                                                                            \
	X(doorbells)                                                                               \
	X(dispatches_blit)                                                                         \
	X(dispatches_without_host_kernel)                                                          \
	X(dispatches_unknown_kernel_object)                                                        \
	X(dispatches_bad_kernarg)                                                                  \
	X(dispatches_bad_range)                                                                    \
	X(copies)                                                                                  \
	X(copies_rect)                                                                             \
	X(copy_bytes)                                                                              \
	X(signals_created_interrupt)                                                               \
	X(signals_created_memory)                                                                  \
	X(signals_without_event)                                                                   \
	X(signals_destroyed)                                                                       \
	X(signal_errors)                                                                           \
	X(queues_created)                                                                          \
	X(queues_destroyed)                                                                        \
	X(handlers_armed)                                                                          \
	X(handlers_refused)

enum softgpu_counter_id {
#define X(name) SOFTGPU_COUNT_##name,
	SOFTGPU_COUNTERS(X)
#undef X
		SOFTGPU_COUNTER_COUNT
};

extern _Atomic uint64_t softgpu_counter_values[SOFTGPU_COUNTER_COUNT];

#define softgpu_count(name, n)                                                                     \
	atomic_fetch_add_explicit(&softgpu_counter_values[SOFTGPU_COUNT_##name], (uint64_t)(n),    \
				  memory_order_relaxed)

#endif
