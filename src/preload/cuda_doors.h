/* The functions of CUDA's driver API that have a wrapper (preload_cuda.c), by the names of their
 * symbols. The runtime API calls them, too. */
#ifndef DAGPATCH_PRELOAD_CUDA_DOORS_H
#define DAGPATCH_PRELOAD_CUDA_DOORS_H

#include <stdbool.h>

#include "vendor/cuda_types.h"

/* CUDA_KERNEL_NODE_PARAMS_v1 */
struct cuda_kernel_node_params_1 {
	cuda_function func;
	unsigned int dimensions[6];
	unsigned int sharedMemBytes;
	void **kernelParams;
	void **extra;
};

/* CUDA_GRAPH_INSTANTIATE_PARAMS */
struct cuda_instantiate_params {
	uint64_t flags;
	cuda_stream hUploadStream;
	cuda_node hErrNode_out;
	uint32_t result_out;
};

/* DOOR(name, parameters) */
#define CUDA_OTHER_DOORS(DOOR)                                                                     \
	DOOR(cuGraphInstantiate,                                                                   \
	     (cuda_exec * exec, cuda_graph graph, cuda_node * error, char *log, size_t bytes))     \
	DOOR(cuGraphInstantiate_v2,                                                                \
	     (cuda_exec * exec, cuda_graph graph, cuda_node * error, char *log, size_t bytes))     \
	DOOR(cuGraphInstantiateWithFlags,                                                          \
	     (cuda_exec * exec, cuda_graph graph, unsigned long long flags))                       \
	DOOR(cuGraphInstantiateWithParams,                                                         \
	     (cuda_exec * exec, cuda_graph graph, struct cuda_instantiate_params * params))        \
	DOOR(cuGraphInstantiateWithParams_ptsz,                                                    \
	     (cuda_exec * exec, cuda_graph graph, struct cuda_instantiate_params * params))        \
	DOOR(cuGraphLaunch, (cuda_exec exec, cuda_stream stream))                                  \
	DOOR(cuGraphLaunch_ptsz, (cuda_exec exec, cuda_stream stream))                             \
	DOOR(cuGraphUpload, (cuda_exec exec, cuda_stream stream))                                  \
	DOOR(cuGraphUpload_ptsz, (cuda_exec exec, cuda_stream stream))                             \
	DOOR(cuGraphExecDestroy, (cuda_exec exec))                                                 \
	DOOR(cuGraphDestroy, (cuda_graph graph))                                                   \
	DOOR(cuGraphDestroyNode, (cuda_node node))                                                 \
	DOOR(cuStreamDestroy, (cuda_stream stream))                                                \
	DOOR(cuStreamDestroy_v2, (cuda_stream stream))                                             \
	DOOR(cuModuleUnload, (cuda_module module))                                                 \
	DOOR(cuLibraryUnload, (cuda_library library))                                              \
	DOOR(cuGraphExecKernelNodeSetParams,                                                       \
	     (cuda_exec exec, cuda_node node, const struct cuda_kernel_node_params_1 *params))     \
	DOOR(cuGraphExecKernelNodeSetParams_v2,                                                    \
	     (cuda_exec exec, cuda_node node, const struct cuda_kernel_node_params *params))       \
	DOOR(cuGraphExecMemcpyNodeSetParams,                                                       \
	     (cuda_exec exec, cuda_node node, const struct cuda_memcpy3d *params,                  \
	      cuda_context context))                                                               \
	DOOR(cuGraphExecMemsetNodeSetParams,                                                       \
	     (cuda_exec exec, cuda_node node, const struct cuda_memset_node_params *params,        \
	      cuda_context context))                                                               \
	DOOR(cuGraphExecChildGraphNodeSetParams,                                                   \
	     (cuda_exec exec, cuda_node node, cuda_graph graph))                                   \
	DOOR(cuGraphExecHostNodeSetParams,                                                         \
	     (cuda_exec exec, cuda_node node, const struct cuda_host_node_params *params))         \
	DOOR(cuGraphExecEventRecordNodeSetEvent,                                                   \
	     (cuda_exec exec, cuda_node node, cuda_event event))                                   \
	DOOR(cuGraphExecEventWaitNodeSetEvent, (cuda_exec exec, cuda_node node, cuda_event event)) \
	DOOR(cuGraphNodeSetEnabled, (cuda_exec exec, cuda_node node, unsigned int is_enabled))     \
	DOOR(cuGraphNodeGetEnabled, (cuda_exec exec, cuda_node node, unsigned int *is_enabled))    \
	DOOR(cuGetProcAddress, (const char *name, void **function, int version, uint64_t flags))   \
	DOOR(cuGetProcAddress_v2,                                                                  \
	     (const char *name, void **function, int version, uint64_t flags, int *ret_found))

/* Calls that change an executable and are not noted. DOOR(name, parameters, arguments) */
#define CUDA_PASSING_DOORS(DOOR)                                                                   \
	DOOR(cuGraphExecUpdate,                                                                    \
	     (cuda_exec exec, cuda_graph graph, cuda_node * error, uint32_t * result),             \
	     (exec, graph, error, result))                                                         \
	DOOR(cuGraphExecUpdate_v2,                                                                 \
	     (cuda_exec exec, cuda_graph graph, struct cuda_update_result * result),               \
	     (exec, graph, result))                                                                \
	DOOR(cuGraphExecExternalSemaphoresSignalNodeSetParams,                                     \
	     (cuda_exec exec, cuda_node node, const void *params), (exec, node, params))           \
	DOOR(cuGraphExecExternalSemaphoresWaitNodeSetParams,                                       \
	     (cuda_exec exec, cuda_node node, const void *params), (exec, node, params))           \
	DOOR(cuGraphExecBatchMemOpNodeSetParams,                                                   \
	     (cuda_exec exec, cuda_node node, const void *params), (exec, node, params))           \
	DOOR(cuGraphExecNodeSetParams,                                                             \
	     (cuda_exec exec, cuda_node node, struct cuda_node_params * params),                   \
	     (exec, node, params))

/* ---- cuda_symbol.c ---- */

enum {
	CUDA_SYMBOL_BYTES = 128,
	/* The last CUDA that we know. A name may mean another function from a later version on. */
	CUDA_KNOWN_VERSION = 13050,
};

/* Fills the name of the symbol that cuGetProcAddress returns for NAME. Names that no wrapper has
 * may be filled as they are. False: the name is longer than any of the wrappers'. */
bool cuda_symbol(const char *name, int version, uint64_t flags, char ret_symbol[CUDA_SYMBOL_BYTES]);

#endif
