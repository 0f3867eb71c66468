/* Names of kernels by the handles that HIP's calls use: host stubs (__hipRegisterFunction) and
 * hipFunction_t (hipModuleGetFunction).
 *
 * A framework registers tens of thousands of kernels before it uses a few: a name is written into
 * the trace when its handle is first used. Costs then one lookup a launch. Any thread. */
#ifndef DAGTAP_CAPTURE_HIP_FUNCTION_H
#define DAGTAP_CAPTURE_HIP_FUNCTION_H

#include <stdint.h>

/* A function of a loaded module (hipModuleGetFunction); NAME is copied. */
void function_learn(uint64_t handle, const char *name);

/* A host stub of a module (__hipRegisterFunction); NAME lives in the module's own data. */
void function_register(uint64_t module, uint64_t handle, const char *name);
void function_unregister_module(uint64_t module);

/* HANDLE is being used: writes its FUNCTION record if this trace has none yet. */
void function_use(uint64_t handle);

/* A new trace has no names yet. */
void function_trace_begins(void);

/* In a fork child, whose other threads are gone. */
void function_reset(void);

#endif
