/* Compares our layouts with the installed toolkit's headers. */
#include <cuda.h>
#include <cupti.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "record/record.h"
#include "vendor/cupti_records.h"
#include "vendor/cupti_types.h"
#include "vendor/nvtx_types.h"

#define SAME(ours, theirs, field)                                                                  \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, field) &&                  \
			       sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->field),  \
		       #theirs "." #field)
#define SAME_AS(ours, field, theirs, their_field)                                                  \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field), #theirs)
#define VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
#define FITS(ours, theirs)  _Static_assert(sizeof(struct ours) <= sizeof(theirs), #theirs)

/* The newest record of each kind in CUDA 13.0. */
#define NEWEST_Kernel	       CUpti_ActivityKernel10
#define NEWEST_Memcpy	       CUpti_ActivityMemcpy6
#define NEWEST_MemcpyPtoP      CUpti_ActivityMemcpyPtoP4
#define NEWEST_Memset	       CUpti_ActivityMemset4
#define NEWEST_Memory	       CUpti_ActivityMemory4
#define NEWEST_Stream	       CUpti_ActivityStream
#define NEWEST_Overhead	       CUpti_ActivityOverhead3
#define NEWEST_CudaEvent       CUpti_ActivityCudaEvent2
#define NEWEST_Synchronization CUpti_ActivitySynchronization2
#define NEWEST_Device	       CUpti_ActivityDevice5

#define RECORD(ours, theirs, field)		    SAME(ours, NEWEST_##theirs, field);
#define RECORD_SINCE(version, ours, theirs, field)  RECORD(ours, theirs, field)
#define STRUCT(ours, theirs, field)		    SAME(ours, theirs, field);
#define STRUCT_AS(ours, field, theirs, their_field) SAME_AS(ours, field, theirs, their_field);
#define PARAMETER(ours, field, function, their_field)                                              \
	SAME_AS(ours, field, function##_params, their_field);
#define WORD(index, function, their_field)                                                         \
	_Static_assert(offsetof(function##_params, their_field) == (index) * sizeof(uint64_t),     \
		       #function "." #their_field);
#include "cupti_fields.list"

FITS(cupti_kernel, CUpti_ActivityKernel8); /* CUDA 11.8 */
FITS(cupti_memcpy, CUpti_ActivityMemcpy5);
FITS(cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP4);
FITS(cupti_memset, CUpti_ActivityMemset4);
FITS(cupti_memory, CUpti_ActivityMemory3);
FITS(cupti_stream, CUpti_ActivityStream);
FITS(cupti_overhead, CUpti_ActivityOverhead3);
_Static_assert(offsetof(struct cupti_overhead, correlationId) == sizeof(CUpti_ActivityOverhead) &&
		       offsetof(struct cupti_overhead, overheadData) ==
			       sizeof(CUpti_ActivityOverhead2),
	       "what each version has");
VALUE(CUPTI_OVERHEAD_COMMAND_BUFFER_FULL, CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL);
FITS(cupti_cuda_event, CUpti_ActivityCudaEvent2);
FITS(cupti_synchronization, CUpti_ActivitySynchronization2);
FITS(cupti_device, CUpti_ActivityDevice4);

_Static_assert(!offsetof(CUgraphNodeParams, type), "parameters begin with their type");
#if CUPTI_API_VERSION >= 130400
VALUE(CUPTI_cuGraphAddNode_v3, CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v3);
VALUE(CUPTI_cuStreamBeginRecaptureToGraph, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginRecaptureToGraph);
VALUE(CUPTI_cuStreamBeginRecaptureToGraph_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuStreamBeginRecaptureToGraph_ptsz);
VALUE(CUPTI_cudaStreamBeginRecaptureToGraph,
      CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginRecaptureToGraph_v13030);
VALUE(CUPTI_cudaStreamBeginRecaptureToGraph_ptsz,
      CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginRecaptureToGraph_ptsz_v13030);
VALUE(CUPTI_cudaExecutionCtxRecordEvent,
      CUPTI_RUNTIME_TRACE_CBID_cudaExecutionCtxRecordEvent_v13010);
VALUE(CUPTI_cudaExecutionCtxWaitEvent, CUPTI_RUNTIME_TRACE_CBID_cudaExecutionCtxWaitEvent_v13010);
#endif
_Static_assert(sizeof(struct cuda_launch_attribute) == sizeof(CUlaunchAttribute), "a row of them");
_Static_assert(offsetof(struct cuda_node_params, u.child.graph) ==
		       offsetof(CUgraphNodeParams, graph.graph),
	       "child");
#if CUDA_VERSION >= 12090
_Static_assert(offsetof(struct cuda_node_params, u.child.ownership) ==
		       offsetof(CUgraphNodeParams, graph.ownership),
	       "child");
VALUE(CUDA_CHILD_MOVE, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
#endif
VALUE(CUDA_EDGE_PROGRAMMATIC, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
VALUE(CUDA_PORT_PROGRAMMATIC, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
VALUE(CUDA_PORT_LAUNCH_ORDER, CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER);
VALUE(CUDA_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
      CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
VALUE(CUPTI_cuProfilerStart, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
VALUE(CUPTI_cuProfilerStop, CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);
VALUE(CUPTI_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx);
VALUE(CUPTI_cuLaunchKernelEx_ptsz, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz);
VALUE(CUPTI_cuGraphAddDependencies_v2, CUPTI_DRIVER_TRACE_CBID_cuGraphAddDependencies_v2);
VALUE(CUPTI_cudaLaunchKernelExC, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060);
VALUE(CUPTI_cudaLaunchKernelExC_ptsz, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060);
VALUE(CUPTI_cudaGraphAddDependencies_v12030,
      CUPTI_RUNTIME_TRACE_CBID_cudaGraphAddDependencies_v12030);
/* Renamed after CUDA 13.0. */
#if CUPTI_API_VERSION >= 130100
#define CUPTI_DRIVER_TRACE_CBID_cuStreamCreateForCaptureToCig                                      \
	CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToCig
#endif
#if CUPTI_API_VERSION >= 130500
#define CUPTI_DRIVER_TRACE_CBID_cuMemcpy_v2	  CUPTI_DRIVER_TRACE_CBID_cuda248
#define CUPTI_DRIVER_TRACE_CBID_cuMemHostAlloc_v2 CUPTI_DRIVER_TRACE_CBID_cuda271
#endif
#define X(domain, cbid, name) VALUE(cbid, CUPTI_##domain##_TRACE_CBID_##name);
#include "vendor/cuda_building.list"
#include "vendor/cuda_selected.list"
#undef X
VALUE(CUPTI_INVALID_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
VALUE(CUPTI_GRAPHNODE_CREATE_STARTING, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING);
VALUE(CUDA_NODE_CONDITIONAL, CU_GRAPH_NODE_TYPE_CONDITIONAL);

VALUE(CUPTI_OK, CUPTI_SUCCESS);
VALUE(CUPTI_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
VALUE(CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
VALUE(CUPTI_INVALID_STREAM, CUPTI_ERROR_INVALID_STREAM);
VALUE(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
VALUE(CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
VALUE(CUPTI_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
VALUE(CUPTI_UNKNOWN, CUPTI_ERROR_UNKNOWN);
VALUE(CUPTI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
VALUE(CUPTI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
VALUE(CUPTI_KIND_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL);
VALUE(CUPTI_KIND_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
VALUE(CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
VALUE(CUPTI_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
VALUE(CUPTI_KIND_STREAM, CUPTI_ACTIVITY_KIND_STREAM);
VALUE(RECORD_CUDA_STREAM_BLOCKING, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT);
VALUE(RECORD_CUDA_STREAM_NONBLOCKING, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
VALUE(RECORD_CUDA_STREAM_NULL, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL);
VALUE(CUPTI_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
VALUE(CUPTI_KIND_CUDA_EVENT, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
VALUE(CUPTI_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
VALUE(CUPTI_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_MEMORY2);
VALUE(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
VALUE(CUPTI_COPY_H2D, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
VALUE(CUPTI_COPY_H2A, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA);
VALUE(CUPTI_COPY_D2D, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
VALUE(CUPTI_COPY_P2P, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
VALUE(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
VALUE(CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
VALUE(CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
VALUE(CUPTI_cuGraphLaunch, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch);
VALUE(CUPTI_cuGraphLaunch_ptsz, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz);
VALUE(CUPTI_cudaGraphLaunch, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000);
VALUE(CUPTI_cudaGraphLaunch_ptsz, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000);
VALUE(CUPTI_MODULE_UNLOAD_STARTING, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
VALUE(CUPTI_GRAPH_CREATED, CUPTI_CBID_RESOURCE_GRAPH_CREATED);
VALUE(CUPTI_STREAM_CREATED, CUPTI_CBID_RESOURCE_STREAM_CREATED);
VALUE(CUPTI_STREAM_DESTROY_STARTING, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING);
VALUE(CUPTI_GRAPH_DESTROY_STARTING, CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING);
VALUE(CUPTI_cuGraphNodeSetEnabled, CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetEnabled);
VALUE(CUPTI_cudaGraphNodeSetEnabled, CUPTI_RUNTIME_TRACE_CBID_cudaGraphNodeSetEnabled_v11060);
VALUE(CUPTI_cuGraphAddNode, CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode);
VALUE(CUPTI_cuGraphAddNode_v2, CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2);
VALUE(CUPTI_cuCtxSynchronize, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize);
VALUE(CUPTI_cuCtxSynchronize_v2, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize_v2);
VALUE(CUPTI_cuEventCreate, CUPTI_DRIVER_TRACE_CBID_cuEventCreate);
VALUE(CUPTI_cuStreamQuery, CUPTI_DRIVER_TRACE_CBID_cuStreamQuery);
VALUE(CUPTI_cuStreamQuery_ptsz, CUPTI_DRIVER_TRACE_CBID_cuStreamQuery_ptsz);
VALUE(CUPTI_cudaStreamQuery, CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020);
VALUE(CUPTI_cudaStreamQuery_ptsz, CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_ptsz_v7000);
VALUE(CUPTI_cuEventQuery, CUPTI_DRIVER_TRACE_CBID_cuEventQuery);
VALUE(CUPTI_cudaEventQuery, CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020);
VALUE(CUPTI_cuEventSynchronize, CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize);
VALUE(CUPTI_cuEventDestroy, CUPTI_DRIVER_TRACE_CBID_cuEventDestroy);
VALUE(CUPTI_cuEventDestroy_v2, CUPTI_DRIVER_TRACE_CBID_cuEventDestroy_v2);
VALUE(CUPTI_cuStreamSynchronize, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize);
VALUE(CUPTI_cuStreamSynchronize_ptsz, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz);
VALUE(CUPTI_cuIpcGetEventHandle, CUPTI_DRIVER_TRACE_CBID_cuIpcGetEventHandle);
VALUE(CUPTI_cuIpcOpenEventHandle, CUPTI_DRIVER_TRACE_CBID_cuIpcOpenEventHandle);
VALUE(CUPTI_cuCtxRecordEvent, CUPTI_DRIVER_TRACE_CBID_cuCtxRecordEvent);
VALUE(CUPTI_cuCtxWaitEvent, CUPTI_DRIVER_TRACE_CBID_cuCtxWaitEvent);
VALUE(CUPTI_cuGreenCtxRecordEvent, CUPTI_DRIVER_TRACE_CBID_cuGreenCtxRecordEvent);
VALUE(CUPTI_cuGreenCtxWaitEvent, CUPTI_DRIVER_TRACE_CBID_cuGreenCtxWaitEvent);
VALUE(CUPTI_cudaThreadSynchronize, CUPTI_RUNTIME_TRACE_CBID_cudaThreadSynchronize_v3020);
VALUE(CUPTI_cudaStreamSynchronize, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020);
VALUE(CUPTI_cudaStreamSynchronize_ptsz, CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000);
VALUE(CUPTI_cudaEventCreate, CUPTI_RUNTIME_TRACE_CBID_cudaEventCreate_v3020);
VALUE(CUPTI_cudaEventCreateWithFlags, CUPTI_RUNTIME_TRACE_CBID_cudaEventCreateWithFlags_v3020);
VALUE(CUPTI_cudaEventDestroy, CUPTI_RUNTIME_TRACE_CBID_cudaEventDestroy_v3020);
VALUE(CUPTI_cudaEventSynchronize, CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020);
VALUE(CUPTI_cudaDeviceSynchronize, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020);
VALUE(CUPTI_cudaIpcGetEventHandle, CUPTI_RUNTIME_TRACE_CBID_cudaIpcGetEventHandle_v4010);
VALUE(CUPTI_cudaIpcOpenEventHandle, CUPTI_RUNTIME_TRACE_CBID_cudaIpcOpenEventHandle_v4010);
VALUE(CUPTI_cuEventRecord, CUPTI_DRIVER_TRACE_CBID_cuEventRecord);
VALUE(CUPTI_cuStreamWaitEvent, CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent);
VALUE(CUPTI_cuStreamWaitEvent_ptsz, CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent_ptsz);
VALUE(CUPTI_cuEventRecord_ptsz, CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz);
VALUE(CUPTI_cuStreamBeginCapture, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture);
VALUE(CUPTI_cuStreamBeginCapture_ptsz, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz);
VALUE(CUPTI_cuStreamEndCapture, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture);
VALUE(CUPTI_cuStreamEndCapture_ptsz, CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz);
VALUE(CUPTI_cuStreamBeginCapture_v2, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2);
VALUE(CUPTI_cuStreamBeginCapture_v2_ptsz, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz);
VALUE(CUPTI_cuEventRecordWithFlags, CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags);
VALUE(CUPTI_cuEventRecordWithFlags_ptsz, CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz);
VALUE(CUPTI_cuStreamBeginCaptureToGraph, CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph);
VALUE(CUPTI_cuStreamBeginCaptureToGraph_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz);
VALUE(CUPTI_cudaEventRecord, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020);
VALUE(CUPTI_cudaStreamWaitEvent, CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020);
VALUE(CUPTI_cudaEventRecord_ptsz, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_ptsz_v7000);
VALUE(CUPTI_cudaStreamWaitEvent_ptsz, CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_ptsz_v7000);
VALUE(CUPTI_cudaStreamBeginCapture, CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCapture_v10000);
VALUE(CUPTI_cudaStreamBeginCapture_ptsz,
      CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCapture_ptsz_v10000);
VALUE(CUPTI_cudaStreamEndCapture, CUPTI_RUNTIME_TRACE_CBID_cudaStreamEndCapture_v10000);
VALUE(CUPTI_cudaStreamEndCapture_ptsz, CUPTI_RUNTIME_TRACE_CBID_cudaStreamEndCapture_ptsz_v10000);
VALUE(CUPTI_cudaEventRecordWithFlags, CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_v11010);
VALUE(CUPTI_cudaEventRecordWithFlags_ptsz,
      CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_ptsz_v11010);
VALUE(CUPTI_cudaStreamBeginCaptureToGraph,
      CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCaptureToGraph_v12030);
VALUE(CUPTI_cudaStreamBeginCaptureToGraph_ptsz,
      CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCaptureToGraph_ptsz_v12030);
VALUE(CUPTI_cuFuncGetName, CUPTI_DRIVER_TRACE_CBID_cuFuncGetName);
VALUE(CUPTI_cuKernelGetName, CUPTI_DRIVER_TRACE_CBID_cuKernelGetName);
VALUE(CUPTI_cudaGraphAddNode_v12020, CUPTI_RUNTIME_TRACE_CBID_cudaGraphAddNode_v12020);
VALUE(CUPTI_cudaGraphAddNode_v12030, CUPTI_RUNTIME_TRACE_CBID_cudaGraphAddNode_v12030);
VALUE(CUPTI_GRAPH_CLONED, CUPTI_CBID_RESOURCE_GRAPH_CLONED);
VALUE(CUPTI_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
VALUE(CUPTI_GRAPHNODE_DESTROY_STARTING, CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING);
VALUE(CUPTI_GRAPHNODE_DEPENDENCY_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED);
VALUE(CUPTI_GRAPHNODE_DEPENDENCY_DESTROY_STARTING,
      CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING);
VALUE(CUPTI_GRAPHEXEC_CREATED, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
VALUE(CUPTI_GRAPHEXEC_DESTROY_STARTING, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
VALUE(CUPTI_GRAPHNODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
VALUE(CUPTI_GRAPH_NODE_UPDATED, CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED);
VALUE(CUPTI_GRAPH_NODE_SET_PARAMS, CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS);
VALUE(CUPTI_ENTER, CUPTI_API_ENTER);
VALUE(CUPTI_EXIT, CUPTI_API_EXIT);
VALUE(CUDA_NODE_KERNEL, CU_GRAPH_NODE_TYPE_KERNEL);
VALUE(CUDA_NODE_GRAPH, CU_GRAPH_NODE_TYPE_GRAPH);
VALUE(CUDA_NODE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
VALUE(CUDA_NODE_MEM_FREE, CU_GRAPH_NODE_TYPE_MEM_FREE);

#define NVTX(ours, theirs) SAME_AS(nvtx_attributes, ours, nvtxEventAttributes_t, theirs)

NVTX(category, category);
NVTX(payload_type, payloadType);
NVTX(payload, payload);
NVTX(message_type, messageType);
NVTX(message, message);
FITS(nvtx_attributes, nvtxEventAttributes_t);
SAME_AS(nvtx_extension, bytes, nvtxExtModuleInfo_t, structSize);
SAME_AS(nvtx_extension, id, nvtxExtModuleInfo_t, moduleId);
SAME_AS(nvtx_extension, segment_count, nvtxExtModuleInfo_t, segmentsCount);
SAME_AS(nvtx_extension, segments, nvtxExtModuleInfo_t, segments);
SAME_AS(nvtx_slots, count, nvtxExtModuleSegment_t, slotCount);
SAME_AS(nvtx_slots, slots, nvtxExtModuleSegment_t, functionSlots);
FITS(nvtx_extension, nvtxExtModuleInfo_t);
VALUE(NVTX_EXTENSION_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
VALUE(NVTX_PAYLOAD_Mark, NVTX3EXT_CBID_nvtxMarkPayload);
VALUE(NVTX_PAYLOAD_RangePush, NVTX3EXT_CBID_nvtxRangePushPayload);
VALUE(NVTX_PAYLOAD_RangePop, NVTX3EXT_CBID_nvtxRangePopPayload);
VALUE(NVTX_PAYLOAD_RangeStart, NVTX3EXT_CBID_nvtxRangeStartPayload);
VALUE(NVTX_PAYLOAD_RangeEnd, NVTX3EXT_CBID_nvtxRangeEndPayload);
VALUE(NVTX_TEXT, NVTX_MESSAGE_TYPE_ASCII);
VALUE(NVTX_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
VALUE(NVTX_PAYLOAD_UINT64, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
VALUE(NVTX_PAYLOAD_FLOAT32, NVTX_PAYLOAD_TYPE_FLOAT);
VALUE(NVTX_TABLE_CALLBACKS, NVTX_ETID_CALLBACKS);
VALUE(NVTX_MODULE_CORE, NVTX_CB_MODULE_CORE);
VALUE(NVTX_MODULE_CORE2, NVTX_CB_MODULE_CORE2);
VALUE(NVTX_WIDE_TEXT, NVTX_MESSAGE_TYPE_UNICODE);
VALUE(NVTX_CORE_MarkW, NVTX_CBID_CORE_MarkW);
VALUE(NVTX_CORE_RangeStartW, NVTX_CBID_CORE_RangeStartW);
VALUE(NVTX_CORE_RangePushW, NVTX_CBID_CORE_RangePushW);
VALUE(NVTX_CORE_NameCategoryA, NVTX_CBID_CORE_NameCategoryA);
VALUE(NVTX_CORE_NameCategoryW, NVTX_CBID_CORE_NameCategoryW);
VALUE(NVTX_CORE2_DomainNameCategoryA, NVTX_CBID_CORE2_DomainNameCategoryA);
VALUE(NVTX_CORE2_DomainNameCategoryW, NVTX_CBID_CORE2_DomainNameCategoryW);
VALUE(NVTX_CORE2_DomainRegisterStringW, NVTX_CBID_CORE2_DomainRegisterStringW);
VALUE(NVTX_CORE2_DomainCreateW, NVTX_CBID_CORE2_DomainCreateW);
VALUE(NVTX_CORE_MarkA, NVTX_CBID_CORE_MarkA);
VALUE(NVTX_CORE_RangePop, NVTX_CBID_CORE_RangePop);
VALUE(NVTX_CORE2_DomainRangePop, NVTX_CBID_CORE2_DomainRangePop);
VALUE(NVTX_CORE2_DomainRegisterStringA, NVTX_CBID_CORE2_DomainRegisterStringA);
VALUE(NVTX_CORE2_DomainCreateA, NVTX_CBID_CORE2_DomainCreateA);

/*
 * The compiler has done the comparisons. What remains is a record that CUPTI's own iteration would
 * skip.
 */
int main(void)
{
	return 0;
}
