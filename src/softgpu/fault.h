/* Memory faults of a GPU, reported as ROCr reports them: a thread of the runtime calls the handlers
 * that are registered for system events; if none of them accepts the fault, the runtime prints a
 * line and aborts the process. */
#ifndef SOFTGPU_FAULT_H
#define SOFTGPU_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

/* Registers CALLBACK for system events; fault_raise calls it with DATA. Returns the status of
 * hsa_amd_register_system_event_handler: OUT_OF_RESOURCES after 16 handlers. Any thread. */
hsa_status_t fault_handler_add(hsa_amd_system_event_callback_t callback, void *data);
/* Removes all handlers. The last hsa_shut_down calls this when no queue exists any more. */
void fault_handlers_forget(void);

/* Returns whether the host function that this thread has just run called softgpu_memory_fault, and
 * gives the address. Clears the mark. */
bool fault_take(uint64_t *ret_address);
/* Reports a memory fault: a kernel of AGENT accessed ADDRESS, where no memory is. Calls all
 * handlers on the calling thread. Returns if one of them returned HSA_STATUS_SUCCESS; otherwise
 * aborts. */
void fault_raise(hsa_agent_t agent, uint64_t address);

#endif
