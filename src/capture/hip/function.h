/* Names of kernels by the handles that HIP's calls use: host stubs (__hipRegisterFunction) and
 * hipFunction_t (hipModuleGetFunction). Writes the FUNCTION records.
 *
 * A framework registers tens of thousands of kernels and uses a few of them, so a name is
 * written into the trace when its handle is first used in a session.
 *
 * Threading: any thread. Cost: function_use is one lookup without a lock; the others lock and
 * allocate. When memory is short a kernel has no name. */
#ifndef DAGTAP_CAPTURE_HIP_FUNCTION_H
#define DAGTAP_CAPTURE_HIP_FUNCTION_H

#include <stdint.h>

/* A function of a loaded module (hipModuleGetFunction). NAME is copied. The entry is never
 * freed. */
void function_learn(uint64_t handle, const char *name);

/* A host stub of a module (__hipRegisterFunction). NAME is borrowed: it lives in the module's
 * own data until function_unregister_module. */
void function_register(uint64_t module, uint64_t handle, const char *name);
/* The module is about to be unloaded: forgets its host stubs. An unknown module is ignored. */
void function_unregister_module(uint64_t module);

/* HANDLE is being used: writes its FUNCTION record if this session's trace has none yet. An
 * unknown handle is ignored. */
void function_use(uint64_t handle);

/* A session starts: its trace has no names yet. */
void function_trace_begins(void);

/* In a fork child, where another thread of the parent may have held a lock. The names stay. */
void function_reset(void);

#endif
