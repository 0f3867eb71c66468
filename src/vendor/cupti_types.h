/* The part of NVIDIA's CUPTI that the tracer uses: constants, and the data of callbacks. Activity
 * records are in vendor/cupti_records.h. Written from the interface's documentation, so that the
 * tree builds on machines without CUDA. tests/capture_cuda compares it with the installed header
 * where there is one, tests/conformance with the headers of several versions. */
#ifndef DAGTAP_VENDOR_CUPTI_TYPES_H
#define DAGTAP_VENDOR_CUPTI_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "vendor/cuda_nodes.h"
#include "vendor/cuda_types.h"

struct cupti_activity; /* vendor/cupti_records.h */

/* cuptiGetVersion */
#define CUPTI_LEAST_VERSION	 18 /* CUDA 11.8; 12.0 and 12.1 have the same */
#define CUPTI_WITH_OVERHEAD_CALL 21 /* CUDA 12.3: correlationId in overhead records */
#define CUPTI_WITH_OVERHEAD_DATA 22 /* CUDA 12.4: overheadData */
#define CUPTI_WITH_EVENT_ORDER	 26 /* CUDA 12.8: cudaEventSyncId, device timestamps of events */
#define CUPTI_WITH_REFUSALS	 27 /* CUDA 12.9: a request may get no buffer */

enum cupti_result {
	CUPTI_OK = 0,
	CUPTI_INVALID_PARAMETER = 1, /* for a callback: this CUPTI does not know it */
	CUPTI_MAX_LIMIT_REACHED = 12,
	CUPTI_NOT_INITIALIZED = 15,
	CUPTI_INVALID_STREAM = 20,
	CUPTI_INVALID_KIND = 21, /* for a record: it is incomplete or invalid */
	CUPTI_NOT_SUPPORTED = 27,
	CUPTI_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_MULTIPLE_SUBSCRIBERS = 39,
	CUPTI_UNKNOWN = 999, /* since CUDA 13.0 also: there is no driver */
};

enum cupti_kind {
	CUPTI_KIND_MEMCPY = 1,
	CUPTI_KIND_MEMSET = 2,
	CUPTI_KIND_KERNEL = 3,
	CUPTI_KIND_DEVICE = 8,
	CUPTI_KIND_CONCURRENT_KERNEL = 10,
	CUPTI_KIND_OVERHEAD = 17,
	CUPTI_KIND_MEMCPY2 = 22, /* between GPUs */
	CUPTI_KIND_CUDA_EVENT = 36,
	CUPTI_KIND_STREAM = 37,
	CUPTI_KIND_SYNCHRONIZATION = 38,
	CUPTI_KIND_MEMORY2 = 49,
};

enum cupti_flush { CUPTI_FLUSH_COMPLETE = 0, CUPTI_FLUSH_FORCED = 1 };

/* Values of copyKind in copy records. */
enum cupti_copy_kind {
	CUPTI_COPY_H2D = 1,
	CUPTI_COPY_D2H = 2,
	CUPTI_COPY_H2A = 3,
	CUPTI_COPY_A2H = 4,
	CUPTI_COPY_A2A = 5,
	CUPTI_COPY_A2D = 6,
	CUPTI_COPY_D2A = 7,
	CUPTI_COPY_D2D = 8,
	CUPTI_COPY_H2H = 9,
	CUPTI_COPY_P2P = 10,
};

enum cupti_domain {
	CUPTI_DOMAIN_DRIVER = 1,
	CUPTI_DOMAIN_RUNTIME = 2,
	CUPTI_DOMAIN_RESOURCE = 3,
};

/* Handles of default streams; 0 is one of them, which one depends on the function. */
#define CUDA_STREAM_LEGACY     1
#define CUDA_STREAM_PER_THREAD 2

enum cupti_driver_call {
	CUPTI_cuProfilerStart = 308,
	CUPTI_cuProfilerStop = 309,
	CUPTI_cuCtxSynchronize = 17,
	CUPTI_cuEventCreate = 118,
	CUPTI_cuEventRecord = 119,
	CUPTI_cuEventQuery = 120,
	CUPTI_cuEventSynchronize = 121,
	CUPTI_cuEventDestroy = 122,
	CUPTI_cuStreamQuery = 125,
	CUPTI_cuStreamSynchronize = 126,
	CUPTI_cuStreamWaitEvent = 295,
	CUPTI_cuEventDestroy_v2 = 325,
	CUPTI_cuIpcGetEventHandle = 334,
	CUPTI_cuIpcOpenEventHandle = 335,
	CUPTI_cuStreamWaitEvent_ptsz = 436,
	CUPTI_cuStreamQuery_ptsz = 439,
	CUPTI_cuStreamSynchronize_ptsz = 440,
	CUPTI_cuEventRecord_ptsz = 441,
	CUPTI_cuStreamBeginCapture = 495,
	CUPTI_cuStreamBeginCapture_ptsz = 496,
	CUPTI_cuStreamEndCapture = 497,
	CUPTI_cuStreamEndCapture_ptsz = 498,
	CUPTI_cuGraphLaunch = 514,
	CUPTI_cuGraphLaunch_ptsz = 515,
	CUPTI_cuStreamBeginCapture_v2 = 539,
	CUPTI_cuStreamBeginCapture_v2_ptsz = 540,
	CUPTI_cuEventRecordWithFlags = 587,
	CUPTI_cuEventRecordWithFlags_ptsz = 588,
	CUPTI_cuGraphAddEventRecordNode = 589,
	CUPTI_cuGraphEventRecordNodeSetEvent = 593,
	CUPTI_cuGraphExecEventRecordNodeSetEvent = 595,
	CUPTI_cuGraphNodeSetEnabled = 650,
	CUPTI_cuLaunchKernelEx = 652,
	CUPTI_cuLaunchKernelEx_ptsz = 653,
	CUPTI_cuGraphAddNode = 712,
	CUPTI_cuFuncGetName = 718,
	CUPTI_cuKernelGetName = 719,
	CUPTI_cuStreamBeginCaptureToGraph = 720,
	CUPTI_cuStreamBeginCaptureToGraph_ptsz = 721,
	CUPTI_cuGraphAddNode_v2 = 723,
	CUPTI_cuGraphAddDependencies_v2 = 727,
	CUPTI_cuGreenCtxRecordEvent = 749,
	CUPTI_cuGreenCtxWaitEvent = 750,
	CUPTI_cuCtxRecordEvent = 755,
	CUPTI_cuCtxWaitEvent = 756,
	CUPTI_cuCtxSynchronize_v2 = 800,
	CUPTI_cuStreamBeginRecaptureToGraph = 846,
	CUPTI_cuStreamBeginRecaptureToGraph_ptsz = 847,
	CUPTI_cuGraphAddNode_v3 = 863,
};

enum cupti_runtime_call {
	CUPTI_cudaThreadSynchronize = 126,
	CUPTI_cudaStreamSynchronize = 131,
	CUPTI_cudaStreamQuery = 132,
	CUPTI_cudaEventCreate = 133,
	CUPTI_cudaEventCreateWithFlags = 134,
	CUPTI_cudaEventRecord = 135,
	CUPTI_cudaEventDestroy = 136,
	CUPTI_cudaEventSynchronize = 137,
	CUPTI_cudaEventQuery = 138,
	CUPTI_cudaStreamWaitEvent = 147,
	CUPTI_cudaDeviceSynchronize = 165,
	CUPTI_cudaIpcGetEventHandle = 176,
	CUPTI_cudaIpcOpenEventHandle = 177,
	CUPTI_cudaStreamSynchronize_ptsz = 239,
	CUPTI_cudaStreamQuery_ptsz = 240,
	CUPTI_cudaEventRecord_ptsz = 242,
	CUPTI_cudaStreamWaitEvent_ptsz = 247,
	CUPTI_cudaGraphLaunch = 311,
	CUPTI_cudaGraphLaunch_ptsz = 312,
	CUPTI_cudaStreamBeginCapture = 315,
	CUPTI_cudaStreamBeginCapture_ptsz = 316,
	CUPTI_cudaStreamEndCapture = 319,
	CUPTI_cudaStreamEndCapture_ptsz = 320,
	CUPTI_cudaGraphAddEventRecordNode = 362,
	CUPTI_cudaGraphEventRecordNodeSetEvent = 364,
	CUPTI_cudaGraphExecEventRecordNodeSetEvent = 368,
	CUPTI_cudaEventRecordWithFlags = 370,
	CUPTI_cudaEventRecordWithFlags_ptsz = 371,
	CUPTI_cudaGraphNodeSetEnabled = 426,
	CUPTI_cudaLaunchKernelExC = 430,
	CUPTI_cudaLaunchKernelExC_ptsz = 431,
	CUPTI_cudaGraphAddNode_v12020 = 445,
	CUPTI_cudaStreamBeginCaptureToGraph = 452,
	CUPTI_cudaStreamBeginCaptureToGraph_ptsz = 453,
	CUPTI_cudaGraphAddDependencies_v12030 = 458,
	CUPTI_cudaGraphAddNode_v12030 = 460,
	CUPTI_cudaExecutionCtxRecordEvent = 543,
	CUPTI_cudaExecutionCtxWaitEvent = 544,
	CUPTI_cudaStreamBeginRecaptureToGraph = 562,
	CUPTI_cudaStreamBeginRecaptureToGraph_ptsz = 563,
};

enum cupti_resource {
	CUPTI_STREAM_CREATED = 3,
	CUPTI_STREAM_DESTROY_STARTING = 4,
	CUPTI_MODULE_UNLOAD_STARTING = 7,
	CUPTI_GRAPH_CREATED = 9,
	CUPTI_GRAPH_DESTROY_STARTING = 10,
	CUPTI_GRAPH_CLONED = 11,
	CUPTI_GRAPHNODE_CREATE_STARTING = 12,
	CUPTI_GRAPHNODE_CREATED = 13,
	CUPTI_GRAPHNODE_DESTROY_STARTING = 14,
	CUPTI_GRAPHNODE_DEPENDENCY_CREATED = 15,
	CUPTI_GRAPHNODE_DEPENDENCY_DESTROY_STARTING = 16,
	CUPTI_GRAPHEXEC_CREATED = 18,
	CUPTI_GRAPHEXEC_DESTROY_STARTING = 19,
	CUPTI_GRAPHNODE_CLONED = 20,
	CUPTI_GRAPH_NODE_UPDATED = 22,
	CUPTI_GRAPH_NODE_SET_PARAMS = 23,
};

/* ---- data of callbacks ---- */

enum cupti_site { CUPTI_ENTER = 0, CUPTI_EXIT = 1 };

struct cupti_callback_data {
	uint32_t callbackSite;
	const char *functionName;
	const void *functionParams;
	void *functionReturnValue; /* points to an int; valid at CUPTI_EXIT */
	const char *symbolName;
	void *context;
	uint32_t contextUid;
	uint64_t *correlationData; /* the subscriber's word, kept from enter to exit of a call */
	uint32_t correlationId;
};

struct cupti_resource_data {
	void *context;
	void *stream;
	void *resourceDescriptor;
};

struct cupti_graph_data {
	void *graph;
	void *originalGraph;
	void *node;
	void *originalNode;
	uint32_t nodeType; /* CUgraphNodeType */
	void *dependency;
	void *graphExec;
};

/* Parameters of the functions that add a node of any type. The functions from _v2 on have edge
 * data. */
struct cupti_add_node_params {
	cuda_node *node; /* set when the call returns */
	cuda_graph graph;
	const cuda_node *dependencies;
	size_t count;
	const struct cuda_node_params *parameters;
};

struct cupti_add_node_v2_params {
	cuda_node *node;
	cuda_graph graph;
	const cuda_node *dependencies;
	const struct cuda_edge_data *data; /* one per dependency; NULL: all are plain */
	size_t count;
	const struct cuda_node_params *parameters;
};

struct cupti_add_dependencies_params {
	cuda_graph graph;
	const cuda_node *from, *to;
	const struct cuda_edge_data *data; /* one per pair; NULL: all are plain */
	size_t count;
};

/* Parameters of the functions of runtime and driver that launch a kernel with attributes. */
struct cupti_launch_ex_params {
	const struct cuda_launch_config *config;
};

/* Parameters of all four functions that launch a graph. */
struct cupti_graph_launch_params {
	void *graphExec;
	void *stream;
};

/* Parameters of both functions that enable or disable a node. */
struct cupti_set_enabled_params {
	void *graphExec;
	void *node;
	uint32_t isEnabled;
};

/* Parameters of both functions that set the event of a node of an exec. */
struct cupti_set_event_params {
	void *graphExec;
	void *node;
	void *event;
};

typedef void cupti_callback(void *userdata, uint32_t domain, uint32_t cbid, const void *data);
typedef void cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void cupti_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
				    size_t valid_bytes);

/* X(member, name, parameters): the functions that the tracer looks up. Each returns a
 * cupti_result. The functions of the first list are required; those of the second are used if
 * CUPTI exports them. */
#define CUPTI_FUNCTIONS(X)                                                                         \
	X(get_version, cuptiGetVersion, (uint32_t * version))                                      \
	X(subscribe, cuptiSubscribe,                                                               \
	  (void **subscriber, cupti_callback *callback, void *userdata))                           \
	X(unsubscribe, cuptiUnsubscribe, (void *subscriber))                                       \
	X(enable_domain, cuptiEnableDomain, (uint32_t enable, void *subscriber, uint32_t domain))  \
	X(enable_callback, cuptiEnableCallback,                                                    \
	  (uint32_t enable, void *subscriber, uint32_t domain, uint32_t cbid))                     \
	X(get_timestamp, cuptiGetTimestamp, (uint64_t * timestamp))                                \
	X(register_buffers, cuptiActivityRegisterCallbacks,                                        \
	  (cupti_buffer_requested * requested, cupti_buffer_completed * completed))                \
	X(enable, cuptiActivityEnable, (uint32_t kind))                                            \
	X(disable, cuptiActivityDisable, (uint32_t kind))                                          \
	X(next_record, cuptiActivityGetNextRecord,                                                 \
	  (uint8_t * buffer, size_t valid_bytes, struct cupti_activity * *record))                 \
	X(get_dropped, cuptiActivityGetNumDroppedRecords,                                          \
	  (void *context, uint32_t stream, size_t *dropped))                                       \
	X(flush_all, cuptiActivityFlushAll, (uint32_t flag))                                       \
	X(get_context_id, cuptiGetContextId, (void *context, uint32_t *id))                        \
	X(get_stream_id, cuptiGetStreamIdEx,                                                       \
	  (void *context, void *stream, uint8_t is_per_thread, uint32_t *id))                      \
	X(get_graph_id, cuptiGetGraphId, (void *graph, uint32_t *id))                              \
	X(get_node_id, cuptiGetGraphNodeId, (void *node, uint64_t *id))

#define CUPTI_OPTIONAL_FUNCTIONS(X)                                                                \
	X(get_exec_id, cuptiGetGraphExecId, (void *exec, uint32_t *id))                            \
	X(enable_event_times, cuptiActivityEnableCudaEventDeviceTimestamps, (uint8_t enable))      \
	X(get_result_text, cuptiGetResultString, (uint32_t result, const char **text))

#endif
