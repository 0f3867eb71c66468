/* The part of NVIDIA's CUDA driver API (libcuda.so.1) that dagpatch uses: constants, structs as
 * far as they are used, and functions. Written from the interface's documentation, so that the
 * tree builds on machines without CUDA. tests/patch_cuda compares it with the toolkit's header
 * where there is one.
 *
 * Fields have the interface's own names. Functions are in the versions that CUDA 12.4 exports.
 * 12.4 is the first release that tells the layout of a kernel's parameters (cuFuncGetParamInfo). */
#ifndef DAGTAP_VENDOR_CUDA_TYPES_H
#define DAGTAP_VENDOR_CUDA_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "vendor/cuda_nodes.h"

#define CUDA_LEAST_VERSION 12040 /* the first with cuFuncGetParamInfo and device-updatable nodes */
#define CUDA_WITH_SWITCH   12080 /* the first with CUDA_CONDITIONAL_SWITCH */

enum cuda_result {
	CUDA_OK = 0,
	CUDA_INVALID_VALUE = 1,
	CUDA_OUT_OF_MEMORY = 2,
	CUDA_NO_DEVICE = 100,
	CUDA_INVALID_CONTEXT = 201,
	CUDA_NOT_READY = 600,
	CUDA_NOT_PERMITTED = 800,
	CUDA_NOT_SUPPORTED = 801,
	CUDA_CAPTURE_UNSUPPORTED = 900,
	CUDA_CAPTURE_IS_INVALID = 901,
	CUDA_GRAPH_EXEC_UPDATE_FAILURE = 910,
};

typedef struct cuda_context *cuda_context;
typedef struct cuda_module *cuda_module;
typedef struct cuda_function *cuda_function;
typedef struct cuda_kernel *cuda_kernel;
typedef struct cuda_library *cuda_library;
typedef struct cuda_array *cuda_array;
typedef struct cuda_stream *cuda_stream;
typedef struct cuda_event *cuda_event;
typedef struct cuda_graph *cuda_graph;
typedef struct cuda_node *cuda_node;
typedef struct cuda_exec *cuda_exec;
typedef struct cuda_device_node *cuda_device_node;
typedef uint64_t cuda_address;
typedef uint64_t cuda_conditional;
typedef int cuda_device;
typedef void cuda_host_function(void *data);

enum cuda_memory_type {
	CUDA_MEMORY_HOST = 1,
	CUDA_MEMORY_DEVICE = 2,
	CUDA_MEMORY_ARRAY = 3,
	CUDA_MEMORY_UNIFIED = 4,
};

enum cuda_stream_flags { CUDA_STREAM_NON_BLOCKING = 1 };
/* Stream values up to this one are not handles: NULL, the legacy stream (1), and the per-thread
 * one. */
#define CUDA_STREAM_PER_THREAD 2
enum cuda_capture_mode {
	CUDA_CAPTURE_GLOBAL = 0,
	CUDA_CAPTURE_THREAD_LOCAL = 1,
	CUDA_CAPTURE_RELAXED = 2,
};
enum cuda_capture_status {
	CUDA_CAPTURE_NONE = 0,
	CUDA_CAPTURE_ACTIVE = 1,
	CUDA_CAPTURE_INVALIDATED = 2,
};
/* CUstreamUpdateCaptureDependencies_flags */
enum { CUDA_SET_CAPTURE_DEPENDENCIES = 1 };
enum cuda_event_flags { CUDA_EVENT_NO_TIMING = 2 };
enum cuda_host_memory { CUDA_HOST_PORTABLE = 1, CUDA_HOST_MAPPED = 2 };

/* Keys of a kernel node's `extra` list, which CUDA_EXTRA_END closes. */
#define CUDA_EXTRA_END	  ((void *)0)
#define CUDA_EXTRA_BUFFER ((void *)1)
#define CUDA_EXTRA_SIZE	  ((void *)2)

/* CUDA_KERNEL_NODE_PARAMS_v2 and _v3 */
struct cuda_kernel_node_params {
	cuda_function func;
	unsigned int gridDimX, gridDimY, gridDimZ;
	unsigned int blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	void **kernelParams;
	void **extra;
	cuda_kernel kern; /* used only if func is NULL */
	cuda_context ctx;
};

/* CUDA_MEMCPY3D_v2 */
struct cuda_memcpy3d {
	size_t srcXInBytes, srcY, srcZ, srcLOD;
	uint32_t srcMemoryType;
	const void *srcHost;
	cuda_address srcDevice;
	cuda_array srcArray;
	void *reserved0;
	size_t srcPitch, srcHeight;
	size_t dstXInBytes, dstY, dstZ, dstLOD;
	uint32_t dstMemoryType;
	void *dstHost;
	cuda_address dstDevice;
	cuda_array dstArray;
	void *reserved1;
	size_t dstPitch, dstHeight;
	size_t WidthInBytes, Height, Depth;
};

/* CUDA_MEMSET_NODE_PARAMS_v1 */
struct cuda_memset_node_params {
	cuda_address dst;
	size_t pitch;
	unsigned int value;
	unsigned int elementSize;
	size_t width; /* elements */
	size_t height;
};

/* CUDA_HOST_NODE_PARAMS_v1 */
struct cuda_host_node_params {
	cuda_host_function *fn;
	void *userData;
};

/* The parts of CUgraphNodeParams that child and conditional nodes need. */
enum cuda_conditional_type {
	CUDA_CONDITIONAL_IF = 0,
	CUDA_CONDITIONAL_WHILE = 1,
	CUDA_CONDITIONAL_SWITCH = 2, /* from CUDA 12.8 on */
};

enum cuda_instantiate_flags {
	CUDA_INSTANTIATE_DEVICE_LAUNCH = 4,
	CUDA_INSTANTIATE_USE_NODE_PRIORITY = 8,
};
enum cuda_conditional_flags { CUDA_CONDITIONAL_ASSIGN_DEFAULT = 1 };

struct cuda_conditional_node_params {
	cuda_conditional handle;
	uint32_t type;
	unsigned int size;
	cuda_graph *phGraph_out;
	cuda_context ctx;
};

enum cuda_child_ownership {
	CUDA_CHILD_CLONE = 0,
	CUDA_CHILD_MOVE = 1, /* from CUDA 12.9 on */
};

struct cuda_child_node_params {
	cuda_graph graph;
	uint32_t ownership; /* before CUDA 12.9: reserved, 0 */
};

struct cuda_node_params {
	uint32_t type;
	int reserved0[3];
	union {
		long long reserved1[29];
		struct cuda_child_node_params child;
		struct cuda_conditional_node_params conditional;
	} u;
	long long reserved2;
};

/* CUgraphEdgeData. All zero means a plain dependency. */
enum cuda_edge_type { CUDA_EDGE_PLAIN = 0, CUDA_EDGE_PROGRAMMATIC = 1 };
enum cuda_kernel_port { CUDA_PORT_PROGRAMMATIC = 1, CUDA_PORT_LAUNCH_ORDER = 2 };

struct cuda_edge_data {
	unsigned char from_port, to_port, type;
	unsigned char reserved[5];
};

/* CUgraphExecUpdateResultInfo */
struct cuda_update_result {
	uint32_t result;
	cuda_node errorNode;
	cuda_node errorFromNode;
};

/* CUlaunchAttributeID and CUlaunchAttributeValue. Setting DEVICE_UPDATABLE makes the driver write
 * devNode. */
enum cuda_attribute {
	CUDA_ATTRIBUTE_COOPERATIVE = 2,
	CUDA_ATTRIBUTE_CLUSTER_DIMENSION = 4,
	CUDA_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
	CUDA_ATTRIBUTE_PRIORITY = 8,
	CUDA_ATTRIBUTE_DEVICE_UPDATABLE = 13,
};

union cuda_attribute_value {
	char pad[64];
	struct {
		int deviceUpdatable;
		cuda_device_node devNode;
	} deviceUpdatableKernelNode;
	int programmaticStreamSerializationAllowed;
	int cooperative;
	struct {
		unsigned int x, y, z;
	} clusterDim;
	int priority;
};

/* CUlaunchAttribute and CUlaunchConfig. The runtime's structs have the same layout. */
struct cuda_launch_attribute {
	uint32_t id;
	char pad[4];
	union cuda_attribute_value value;
};

struct cuda_launch_config {
	unsigned int gridDimX, gridDimY, gridDimZ;
	unsigned int blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes; /* the runtime has a size_t, which covers the padding here */
	cuda_stream hStream;
	const struct cuda_launch_attribute *attrs;
	unsigned int numAttrs;
};

/* FUNCTION(name, parameters): the functions that the driver must export. Each returns a
 * cuda_result. */
#define CUDA_FUNCTIONS(FUNCTION)                                                                   \
	FUNCTION(cuInit, (unsigned int flags))                                                     \
	FUNCTION(cuDriverGetVersion, (int *version))                                               \
	FUNCTION(cuGetErrorName, (int error, const char **name))                                   \
	FUNCTION(cuDeviceGetCount, (int *count))                                                   \
	FUNCTION(cuDeviceGet, (cuda_device * device, int ordinal))                                 \
	FUNCTION(cuDevicePrimaryCtxGetState,                                                       \
		 (cuda_device device, unsigned int *flags, int *is_active))                        \
	FUNCTION(cuDevicePrimaryCtxRetain, (cuda_context * context, cuda_device device))           \
	FUNCTION(cuDevicePrimaryCtxRelease_v2, (cuda_device device))                               \
	FUNCTION(cuCtxGetCurrent, (cuda_context * context))                                        \
	FUNCTION(cuCtxSetCurrent, (cuda_context context))                                          \
	FUNCTION(cuCtxGetDevice, (cuda_device * device))                                           \
	FUNCTION(cuMemAlloc_v2, (cuda_address * address, size_t bytes))                            \
	FUNCTION(cuMemFree_v2, (cuda_address address))                                             \
	FUNCTION(cuMemHostAlloc, (void **address, size_t bytes, unsigned int flags))               \
	FUNCTION(cuMemFreeHost, (void *address))                                                   \
	FUNCTION(cuMemcpyAsync,                                                                    \
		 (cuda_address dst, cuda_address src, size_t bytes, cuda_stream stream))           \
	FUNCTION(cuMemsetD8Async,                                                                  \
		 (cuda_address dst, unsigned char value, size_t bytes, cuda_stream stream))        \
	FUNCTION(cuStreamCreate, (cuda_stream * stream, unsigned int flags))                       \
	FUNCTION(cuStreamDestroy_v2, (cuda_stream stream))                                         \
	FUNCTION(cuStreamSynchronize, (cuda_stream stream))                                        \
	FUNCTION(cuStreamQuery, (cuda_stream stream))                                              \
	FUNCTION(cuStreamGetCtx, (cuda_stream stream, cuda_context * context))                     \
	FUNCTION(cuStreamGetId, (cuda_stream stream, unsigned long long *id))                      \
	FUNCTION(cuStreamWaitEvent, (cuda_stream stream, cuda_event event, unsigned int flags))    \
	FUNCTION(cuEventCreate, (cuda_event * event, unsigned int flags))                          \
	FUNCTION(cuEventDestroy_v2, (cuda_event event))                                            \
	FUNCTION(cuEventRecord, (cuda_event event, cuda_stream stream))                            \
	FUNCTION(cuEventQuery, (cuda_event event))                                                 \
	FUNCTION(cuEventSynchronize, (cuda_event event))                                           \
	FUNCTION(cuCtxSynchronize, (void))                                                         \
	FUNCTION(cuStreamBeginCapture_v2, (cuda_stream stream, uint32_t mode))                     \
	FUNCTION(cuStreamEndCapture, (cuda_stream stream, cuda_graph * graph))                     \
	FUNCTION(cuStreamIsCapturing, (cuda_stream stream, uint32_t * status))                     \
	FUNCTION(cuStreamGetCaptureInfo_v2,                                                        \
		 (cuda_stream stream, uint32_t * status, uint64_t * id, cuda_graph * graph,        \
		  const cuda_node **nodes, size_t *count))                                         \
	FUNCTION(cuStreamUpdateCaptureDependencies,                                                \
		 (cuda_stream stream, cuda_node * nodes, size_t count, unsigned int flags))        \
	FUNCTION(cuThreadExchangeStreamCaptureMode, (uint32_t * mode))                             \
	FUNCTION(cuLibraryLoadData,                                                                \
		 (cuda_library * library, const void *code, void *jit_options, void **jit_values,  \
		  unsigned int jit_count, void *options, void **values, unsigned int count))       \
	FUNCTION(cuLibraryUnload, (cuda_library library))                                          \
	FUNCTION(cuLibraryGetKernel,                                                               \
		 (cuda_kernel * kernel, cuda_library library, const char *name))                   \
	FUNCTION(cuKernelGetFunction, (cuda_function * function, cuda_kernel kernel))              \
	FUNCTION(cuFuncGetName, (const char **name, cuda_function function))                       \
	FUNCTION(cuKernelGetName, (const char **name, cuda_kernel kernel))                         \
	FUNCTION(cuFuncGetParamInfo,                                                               \
		 (cuda_function function, size_t index, size_t * offset, size_t * bytes))          \
	FUNCTION(cuLaunchKernel,                                                                   \
		 (cuda_function function, unsigned int gx, unsigned int gy, unsigned int gz,       \
		  unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,          \
		  cuda_stream stream, void **parameters, void **extra))                            \
	FUNCTION(cuGraphCreate, (cuda_graph * graph, unsigned int flags))                          \
	FUNCTION(cuGraphDestroy, (cuda_graph graph))                                               \
	FUNCTION(cuGraphClone, (cuda_graph * clone, cuda_graph graph))                             \
	FUNCTION(cuGraphGetNodes, (cuda_graph graph, cuda_node * nodes, size_t * count))           \
	FUNCTION(cuGraphGetRootNodes, (cuda_graph graph, cuda_node * nodes, size_t * count))       \
	FUNCTION(cuGraphGetEdges_v2, (cuda_graph graph, cuda_node * from, cuda_node * to,          \
				      struct cuda_edge_data * data, size_t * count))               \
	FUNCTION(cuGraphAddDependencies_v2,                                                        \
		 (cuda_graph graph, const cuda_node *from, const cuda_node *to,                    \
		  const struct cuda_edge_data *data, size_t count))                                \
	FUNCTION(cuGraphDestroyNode, (cuda_node node))                                             \
	FUNCTION(cuGraphNodeGetType, (cuda_node node, uint32_t * type))                            \
	FUNCTION(cuGraphAddKernelNode_v2,                                                          \
		 (cuda_node * node, cuda_graph graph, const cuda_node *after, size_t count,        \
		  const struct cuda_kernel_node_params *params))                                   \
	FUNCTION(cuGraphAddMemcpyNode,                                                             \
		 (cuda_node * node, cuda_graph graph, const cuda_node *after, size_t count,        \
		  const struct cuda_memcpy3d *params, cuda_context context))                       \
	FUNCTION(cuGraphAddMemsetNode,                                                             \
		 (cuda_node * node, cuda_graph graph, const cuda_node *after, size_t count,        \
		  const struct cuda_memset_node_params *params, cuda_context context))             \
	FUNCTION(cuGraphAddHostNode, (cuda_node * node, cuda_graph graph, const cuda_node *after,  \
				      size_t count, const struct cuda_host_node_params *params))   \
	FUNCTION(cuGraphAddChildGraphNode,                                                         \
		 (cuda_node * node, cuda_graph graph, const cuda_node *after, size_t count,        \
		  cuda_graph child))                                                               \
	FUNCTION(cuGraphAddEmptyNode,                                                              \
		 (cuda_node * node, cuda_graph graph, const cuda_node *after, size_t count))       \
	FUNCTION(cuGraphAddEventRecordNode,                                                        \
		 (cuda_node * node, cuda_graph graph, const cuda_node *after, size_t count,        \
		  cuda_event event))                                                               \
	FUNCTION(cuGraphAddEventWaitNode,                                                          \
		 (cuda_node * node, cuda_graph graph, const cuda_node *after, size_t count,        \
		  cuda_event event))                                                               \
	FUNCTION(cuGraphAddNode_v2, (cuda_node * node, cuda_graph graph, const cuda_node *after,   \
				     const struct cuda_edge_data *data, size_t count,              \
				     struct cuda_node_params *params))                             \
	FUNCTION(cuGraphConditionalHandleCreate,                                                   \
		 (cuda_conditional * handle, cuda_graph graph, cuda_context context,               \
		  unsigned int value, unsigned int flags))                                         \
	FUNCTION(cuGraphKernelNodeGetParams_v2,                                                    \
		 (cuda_node node, struct cuda_kernel_node_params * params))                        \
	FUNCTION(cuGraphKernelNodeSetParams_v2,                                                    \
		 (cuda_node node, const struct cuda_kernel_node_params *params))                   \
	FUNCTION(cuGraphKernelNodeGetAttribute,                                                    \
		 (cuda_node node, uint32_t attribute, union cuda_attribute_value * value))         \
	FUNCTION(cuGraphKernelNodeSetAttribute,                                                    \
		 (cuda_node node, uint32_t attribute, union cuda_attribute_value * value))         \
	FUNCTION(cuGraphMemcpyNodeGetParams, (cuda_node node, struct cuda_memcpy3d * params))      \
	FUNCTION(cuGraphMemcpyNodeSetParams, (cuda_node node, const struct cuda_memcpy3d *params)) \
	FUNCTION(cuGraphMemsetNodeGetParams,                                                       \
		 (cuda_node node, struct cuda_memset_node_params * params))                        \
	FUNCTION(cuGraphMemsetNodeSetParams,                                                       \
		 (cuda_node node, const struct cuda_memset_node_params *params))                   \
	FUNCTION(cuGraphHostNodeGetParams,                                                         \
		 (cuda_node node, struct cuda_host_node_params * params))                          \
	FUNCTION(cuGraphHostNodeSetParams,                                                         \
		 (cuda_node node, const struct cuda_host_node_params *params))                     \
	FUNCTION(cuGraphEventRecordNodeGetEvent, (cuda_node node, cuda_event * event))             \
	FUNCTION(cuGraphEventRecordNodeSetEvent, (cuda_node node, cuda_event event))               \
	FUNCTION(cuGraphEventWaitNodeGetEvent, (cuda_node node, cuda_event * event))               \
	FUNCTION(cuGraphEventWaitNodeSetEvent, (cuda_node node, cuda_event event))                 \
	FUNCTION(cuGraphChildGraphNodeGetGraph, (cuda_node node, cuda_graph * graph))              \
	FUNCTION(cuGraphInstantiateWithFlags,                                                      \
		 (cuda_exec * exec, cuda_graph graph, unsigned long long flags))                   \
	FUNCTION(cuGraphExecDestroy, (cuda_exec exec))                                             \
	FUNCTION(cuGraphExecKernelNodeSetParams_v2,                                                \
		 (cuda_exec exec, cuda_node node, const struct cuda_kernel_node_params *params))   \
	FUNCTION(cuGraphExecMemcpyNodeSetParams,                                                   \
		 (cuda_exec exec, cuda_node node, const struct cuda_memcpy3d *params,              \
		  cuda_context context))                                                           \
	FUNCTION(cuGraphExecMemsetNodeSetParams,                                                   \
		 (cuda_exec exec, cuda_node node, const struct cuda_memset_node_params *params,    \
		  cuda_context context))                                                           \
	FUNCTION(cuGraphExecHostNodeSetParams,                                                     \
		 (cuda_exec exec, cuda_node node, const struct cuda_host_node_params *params))     \
	FUNCTION(cuGraphExecEventRecordNodeSetEvent,                                               \
		 (cuda_exec exec, cuda_node node, cuda_event event))                               \
	FUNCTION(cuGraphExecEventWaitNodeSetEvent,                                                 \
		 (cuda_exec exec, cuda_node node, cuda_event event))                               \
	FUNCTION(cuGraphExecChildGraphNodeSetParams,                                               \
		 (cuda_exec exec, cuda_node node, cuda_graph graph))                               \
	FUNCTION(cuGraphExecUpdate_v2,                                                             \
		 (cuda_exec exec, cuda_graph graph, struct cuda_update_result * result))           \
	FUNCTION(cuGraphNodeSetEnabled, (cuda_exec exec, cuda_node node, unsigned int enabled))    \
	FUNCTION(cuGraphUpload, (cuda_exec exec, cuda_stream stream))                              \
	FUNCTION(cuGraphLaunch, (cuda_exec exec, cuda_stream stream))

#endif
