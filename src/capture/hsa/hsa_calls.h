/* The HSA runtime's dispatch tables: which functions the tool calls, where in the tables they are,
 * and how wrappers are stored there. Which functions are wrapped is said by hsa_wrappers.h and
 * outside.c.
 *
 * hsa_next holds the runtime's own functions, to which the wrappers pass calls on. It is filled
 * each time that the runtime opens, before a wrapper can be called, and is constant while the
 * runtime is open. */
#ifndef CAPTURE_HSA_CALLS_H
#define CAPTURE_HSA_CALLS_H

#include <stdbool.h>

#include "vendor/hsa_newer.h"
#include "vendor/hsa_newest.h"
#include "vendor/hsa_tables.h"
#include "vendor/hsa_tables_2.h"

/* X(function): functions of the core table. */
#define HSA_CORE_CALLS(X)                                                                          \
	X(hsa_init)                                                                                \
	X(hsa_shut_down)                                                                           \
	X(hsa_system_get_info)                                                                     \
	X(hsa_system_get_major_extension_table)                                                    \
	X(hsa_iterate_agents)                                                                      \
	X(hsa_agent_get_info)                                                                      \
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
	X(hsa_signal_subtract_screlease)                                                           \
	X(hsa_agent_iterate_regions)                                                               \
	X(hsa_memory_allocate)                                                                     \
	X(hsa_memory_free)                                                                         \
	X(hsa_executable_freeze)                                                                   \
	X(hsa_executable_destroy)                                                                  \
	X(hsa_executable_iterate_agent_symbols)                                                    \
	X(hsa_executable_symbol_get_info)

/* Not in the headers of ROCr 5.2.3. The wrapper passes the engine's id and the flag on
 * unchanged. */
hsa_status_t hsa_amd_memory_async_copy_on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
						 hsa_agent_t src_agent, size_t size,
						 uint32_t num_dep_signals,
						 const hsa_signal_t *dep_signals,
						 hsa_signal_t completion_signal, uint32_t engine,
						 bool force_copy_on_sdma);

/* X(function, byte offset in extension tables of major version 1, of major version 2); 0: not
 * there. */
#define HSA_EXT_AT(name)       offsetof(struct hsa_amd_ext_table, name##_fn)
#define HSA_EXT_BOTH(X, name)  X(name, HSA_EXT_AT(name), HSA_EXT_2_##name)
#define HSA_EXT_NEWER(X, name) X(name, 0, HSA_EXT_2_##name)
#define HSA_EXT_CALLS(X)                                                                           \
	HSA_EXT_BOTH(X, hsa_amd_profiling_set_profiler_enabled)                                    \
	HSA_EXT_BOTH(X, hsa_amd_profiling_async_copy_enable)                                       \
	HSA_EXT_BOTH(X, hsa_amd_profiling_get_async_copy_time)                                     \
	HSA_EXT_BOTH(X, hsa_amd_profiling_convert_tick_to_system_domain)                           \
	HSA_EXT_BOTH(X, hsa_amd_memory_pool_get_info)                                              \
	HSA_EXT_BOTH(X, hsa_amd_agent_iterate_memory_pools)                                        \
	HSA_EXT_BOTH(X, hsa_amd_memory_pool_allocate)                                              \
	HSA_EXT_BOTH(X, hsa_amd_memory_pool_free)                                                  \
	HSA_EXT_NEWER(X, hsa_amd_vmem_handle_create)                                               \
	HSA_EXT_NEWER(X, hsa_amd_vmem_handle_release)                                              \
	HSA_EXT_BOTH(X, hsa_amd_pointer_info)                                                      \
	HSA_EXT_BOTH(X, hsa_amd_memory_async_copy)                                                 \
	HSA_EXT_NEWER(X, hsa_amd_memory_async_copy_on_engine)                                      \
	HSA_EXT_BOTH(X, hsa_amd_signal_create)                                                     \
	HSA_EXT_BOTH(X, hsa_amd_ipc_signal_create)                                                 \
	HSA_EXT_BOTH(X, hsa_amd_ipc_signal_attach)                                                 \
	HSA_EXT_NEWER(X, hsa_amd_queue_create)                                                     \
	HSA_EXT_NEWER(X, hsa_amd_counted_queue_acquire)                                            \
	HSA_EXT_BOTH(X, hsa_amd_queue_intercept_create)                                            \
	HSA_EXT_BOTH(X, hsa_amd_queue_intercept_register)                                          \
	HSA_EXT_BOTH(X, hsa_amd_memory_async_copy_rect)                                            \
	HSA_EXT_BOTH(X, hsa_amd_register_system_event_handler)                                     \
	HSA_EXT_NEWER(X, hsa_amd_memory_async_batch_copy)

/* After hsa_calls_load, members of the core table are not NULL; those of the extension table may
 * be. */
struct hsa_calls {
#define X(name) __typeof__(name) *name;
	HSA_CORE_CALLS(X)
#undef X
#define X(name, major1, major2) __typeof__(name) *name;
	HSA_EXT_CALLS(X)
#undef X
};

extern struct hsa_calls hsa_next;

/* Reads the runtime's functions from TABLE into hsa_next. Returns false, and a static string in
 * *RET_REASON, when the layout of TABLE is unknown; hsa_next is then unchanged. */
bool hsa_calls_load(const struct hsa_api_table *table, const char **ret_reason);

/* Describes the sizes of the loaded tables, for the trace. A static string. */
const char *hsa_calls_text(void);

/* Stores the functions of WRAPPERS that are not NULL into TABLE, the runtime's live tables, as far
 * as they reach. Call after hsa_calls_load with the same TABLE. Both must stay valid. */
void hsa_calls_wrap(struct hsa_api_table *table, const struct hsa_calls *wrappers);

/* Where another tool has replaced a function of hsa_calls_wrap's WRAPPERS in the tables by its own,
 * stores that of SECOND, if it is not NULL. Sets *RET_REPLACED's function to the other tool's
 * before, and its hsa_queue_load_write_index_relaxed to the one of the tables. Other threads may be
 * calling through the tables. */
void hsa_calls_wrap_replaced(const struct hsa_calls *second, struct hsa_calls *ret_replaced);

#endif
