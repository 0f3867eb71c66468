/* The functions of HIP that have a wrapper (preload_hip.c). Those that a release of HIP does not
 * have are not called. */
#ifndef DAGPATCH_PRELOAD_HIP_DOORS_H
#define DAGPATCH_PRELOAD_HIP_DOORS_H

#include "vendor/hip_types.h"

/* DOOR(name, parameters) */
#define HIP_OTHER_DOORS(DOOR)                                                                      \
	DOOR(hipGraphInstantiate,                                                                  \
	     (void **exec, void *graph, void **error, char *log, size_t bytes))                    \
	DOOR(hipGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags))   \
	DOOR(hipGraphLaunch, (void *exec, void *stream))                                           \
	DOOR(hipGraphLaunch_spt, (void *exec, void *stream))                                       \
	DOOR(hipGraphUpload, (void *exec, void *stream))                                           \
	DOOR(hipGraphExecDestroy, (void *exec))                                                    \
	DOOR(hipGraphDestroy, (void *graph))                                                       \
	DOOR(hipGraphDestroyNode, (void *node))                                                    \
	DOOR(hipStreamDestroy, (void *stream))                                                     \
	DOOR(hipModuleUnload, (void *module))                                                      \
	DOOR(hipLibraryUnload, (void *library))                                                    \
	DOOR(hipDeviceReset, (void))                                                               \
	DOOR(hipGraphExecKernelNodeSetParams,                                                      \
	     (void *exec, void *node, const struct hip_kernel_params *params))                     \
	DOOR(hipGraphExecMemcpyNodeSetParams,                                                      \
	     (void *exec, void *node, struct hip_copy_params *params))                             \
	DOOR(hipGraphExecMemcpyNodeSetParams1D,                                                    \
	     (void *exec, void *node, void *dst, const void *src, size_t bytes, int kind))         \
	DOOR(hipGraphExecMemsetNodeSetParams,                                                      \
	     (void *exec, void *node, const struct hip_memset_params *params))                     \
	DOOR(hipGraphExecHostNodeSetParams,                                                        \
	     (void *exec, void *node, const struct hip_host_params *params))                       \
	DOOR(hipGraphExecEventRecordNodeSetEvent, (void *exec, void *node, void *event))           \
	DOOR(hipGraphExecEventWaitNodeSetEvent, (void *exec, void *node, void *event))             \
	DOOR(hipGraphExecChildGraphNodeSetParams, (void *exec, void *node, void *child))           \
	DOOR(hipGraphNodeSetEnabled, (void *exec, void *node, unsigned int is_enabled))            \
	DOOR(hipGraphNodeGetEnabled, (void *exec, void *node, unsigned int *is_enabled))           \
	DOOR(hipGetProcAddress,                                                                    \
	     (const char *name, void **function, int version, uint64_t flags, int *ret_found))

/* Calls that change an executable and are not noted. DOOR(name, parameters, arguments) */
#define HIP_PASSING_DOORS(DOOR)                                                                    \
	DOOR(hipGraphExecUpdate,                                                                   \
	     (void *exec, void *graph, void **error, unsigned int *ret_result),                    \
	     (exec, graph, error, ret_result))                                                     \
	DOOR(hipGraphExecMemcpyNodeSetParamsFromSymbol,                                            \
	     (void *exec, void *node, void *dst, const void *symbol, size_t bytes, size_t offset,  \
	      int kind),                                                                           \
	     (exec, node, dst, symbol, bytes, offset, kind))                                       \
	DOOR(hipGraphExecMemcpyNodeSetParamsToSymbol,                                              \
	     (void *exec, void *node, const void *symbol, const void *src, size_t bytes,           \
	      size_t offset, int kind),                                                            \
	     (exec, node, symbol, src, bytes, offset, kind))                                       \
	DOOR(hipGraphExecNodeSetParams, (void *exec, void *node, void *params),                    \
	     (exec, node, params))                                                                 \
	DOOR(hipGraphExecExternalSemaphoresSignalNodeSetParams,                                    \
	     (void *exec, void *node, const void *params), (exec, node, params))                   \
	DOOR(hipGraphExecExternalSemaphoresWaitNodeSetParams,                                      \
	     (void *exec, void *node, const void *params), (exec, node, params))                   \
	DOOR(hipGraphExecBatchMemOpNodeSetParams, (void *exec, void *node, const void *params),    \
	     (exec, node, params))                                                                 \
	DOOR(hipDrvGraphExecMemcpyNodeSetParams,                                                   \
	     (void *exec, void *node, const void *params, void *context),                          \
	     (exec, node, params, context))                                                        \
	DOOR(hipDrvGraphExecMemsetNodeSetParams,                                                   \
	     (void *exec, void *node, const void *params, void *context),                          \
	     (exec, node, params, context))

#endif
