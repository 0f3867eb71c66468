/* Memory faults of a GPU, as ROCr tells of them: the handlers that are registered for system events
 * are called, on a thread of the runtime's, and if none of them takes the fault it prints a line
 * and aborts. */
#ifndef SOFTGPU_FAULT_H
#define SOFTGPU_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

hsa_status_t fault_handler_add(hsa_amd_system_event_callback_t callback, void *data);
/* The runtime ends. */
void fault_handlers_forget(void);

/* Whether the kernel that this thread has just run said so (softgpu_memory_fault), and where. */
bool fault_take(uint64_t *ret_address);
/* AGENT's kernel has accessed ADDRESS, which is not there. Returns when a handler has taken it. */
void fault_raise(hsa_agent_t agent, uint64_t address);

#endif
