/* The wrappers of the HSA runtime's functions, which hsa_source.c stores into the dispatch tables.
 * They are named wrap_<function>. Each is defined in the file of its subject: queues in
 * queue_wrap.c and queue_made.c, signals in signal_wrap.c, copies in hsa_copies.c, memory in
 * hsa_memory.c, executables in hsa_kernels.c, faults in hsa_faults.c, hsa_init and hsa_shut_down in
 * hsa_source.c. The program calls them in the place of the runtime's functions, on any thread. */
#ifndef CAPTURE_HSA_WRAPPERS_H
#define CAPTURE_HSA_WRAPPERS_H

#include "capture/hsa/hsa_calls.h"
#include "vendor/hsa_newer.h"
#include "vendor/hsa_newest.h"
#include "vendor/hsa_tables.h"
#include "vendor/hsa_tables_2.h"

/* X(function): functions of the core table. */
#define HSA_CORE_WRAPPERS(X)                                                                       \
	X(hsa_init)                                                                                \
	X(hsa_shut_down)                                                                           \
	X(hsa_queue_create)                                                                        \
	X(hsa_queue_destroy)                                                                       \
	X(hsa_queue_load_write_index_scacquire)                                                    \
	X(hsa_queue_load_write_index_relaxed)                                                      \
	X(hsa_queue_store_write_index_relaxed)                                                     \
	X(hsa_queue_store_write_index_screlease)                                                   \
	X(hsa_queue_cas_write_index_scacq_screl)                                                   \
	X(hsa_queue_cas_write_index_scacquire)                                                     \
	X(hsa_queue_cas_write_index_relaxed)                                                       \
	X(hsa_queue_cas_write_index_screlease)                                                     \
	X(hsa_queue_add_write_index_scacq_screl)                                                   \
	X(hsa_queue_add_write_index_scacquire)                                                     \
	X(hsa_queue_add_write_index_relaxed)                                                       \
	X(hsa_queue_add_write_index_screlease)                                                     \
	X(hsa_signal_create)                                                                       \
	X(hsa_signal_destroy)                                                                      \
	X(hsa_signal_store_relaxed)                                                                \
	X(hsa_signal_store_screlease)                                                              \
	X(hsa_signal_silent_store_relaxed)                                                         \
	X(hsa_signal_silent_store_screlease)                                                       \
	X(hsa_memory_allocate)                                                                     \
	X(hsa_memory_free)                                                                         \
	X(hsa_executable_freeze)                                                                   \
	X(hsa_executable_destroy)

/* X(function): functions of the extension table. */
#define HSA_EXT_WRAPPERS(X)                                                                        \
	X(hsa_amd_profiling_set_profiler_enabled)                                                  \
	X(hsa_amd_profiling_async_copy_enable)                                                     \
	X(hsa_amd_memory_pool_allocate)                                                            \
	X(hsa_amd_memory_pool_free)                                                                \
	X(hsa_amd_vmem_handle_create)                                                              \
	X(hsa_amd_vmem_handle_release)                                                             \
	X(hsa_amd_memory_async_copy)                                                               \
	X(hsa_amd_memory_async_copy_on_engine)                                                     \
	X(hsa_amd_signal_create)                                                                   \
	X(hsa_amd_ipc_signal_create)                                                               \
	X(hsa_amd_ipc_signal_attach)                                                               \
	X(hsa_amd_queue_create)                                                                    \
	X(hsa_amd_counted_queue_acquire)                                                           \
	X(hsa_amd_queue_intercept_create)                                                          \
	X(hsa_amd_memory_async_copy_rect)                                                          \
	X(hsa_amd_memory_async_batch_copy)                                                         \
	X(hsa_amd_register_system_event_handler)

#define X(name) __typeof__(name) wrap_##name;
HSA_CORE_WRAPPERS(X)
HSA_EXT_WRAPPERS(X)
#undef X

/* The vendor's header declares these two without a prototype, so the macro above does, too. */
hsa_status_t wrap_hsa_init(void);
hsa_status_t wrap_hsa_shut_down(void);

#endif
