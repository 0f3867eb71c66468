/* Compares our layouts and prototypes with the installed toolkit's header. */
#include <cuda.h>

#include "vendor/cuda_types.h"

#define SAME(ours, theirs, field)                                                                  \
	_Static_assert(offsetof(ours, field) == offsetof(theirs, field) &&                         \
			       sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->field),         \
		       #theirs "." #field)
#define WHOLE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
#define KERNEL(field)	    SAME(struct cuda_kernel_node_params, CUDA_KERNEL_NODE_PARAMS_v2, field)
#define MEMCPY(field)	    SAME(struct cuda_memcpy3d, CUDA_MEMCPY3D, field)
#define MEMSET(field)	    SAME(struct cuda_memset_node_params, CUDA_MEMSET_NODE_PARAMS_v1, field)
#define HOST(field)	    SAME(struct cuda_host_node_params, CUDA_HOST_NODE_PARAMS_v1, field)
#define CONDITIONAL(field)                                                                         \
	SAME(struct cuda_conditional_node_params, CUDA_CONDITIONAL_NODE_PARAMS, field)
#define EDGE(field)   SAME(struct cuda_edge_data, CUgraphEdgeData, field)
#define UPDATE(field) SAME(struct cuda_update_result, CUgraphExecUpdateResultInfo, field)

WHOLE(struct cuda_kernel_node_params, CUDA_KERNEL_NODE_PARAMS_v2);
KERNEL(func);
KERNEL(gridDimX);
KERNEL(gridDimZ);
KERNEL(blockDimX);
KERNEL(blockDimZ);
KERNEL(sharedMemBytes);
KERNEL(kernelParams);
KERNEL(extra);
KERNEL(kern);
KERNEL(ctx);

WHOLE(struct cuda_memcpy3d, CUDA_MEMCPY3D);
MEMCPY(srcXInBytes);
MEMCPY(srcY);
MEMCPY(srcZ);
MEMCPY(srcLOD);
MEMCPY(srcMemoryType);
MEMCPY(srcHost);
MEMCPY(srcDevice);
MEMCPY(srcArray);
MEMCPY(srcPitch);
MEMCPY(srcHeight);
MEMCPY(dstXInBytes);
MEMCPY(dstMemoryType);
MEMCPY(dstHost);
MEMCPY(dstDevice);
MEMCPY(dstArray);
MEMCPY(dstPitch);
MEMCPY(dstHeight);
MEMCPY(WidthInBytes);
MEMCPY(Height);
MEMCPY(Depth);

WHOLE(struct cuda_memset_node_params, CUDA_MEMSET_NODE_PARAMS_v1);
MEMSET(dst);
MEMSET(pitch);
MEMSET(value);
MEMSET(elementSize);
MEMSET(width);
MEMSET(height);

WHOLE(struct cuda_host_node_params, CUDA_HOST_NODE_PARAMS_v1);
HOST(fn);
HOST(userData);

CONDITIONAL(handle);
CONDITIONAL(type);
CONDITIONAL(size);
CONDITIONAL(phGraph_out);
CONDITIONAL(ctx);
WHOLE(struct cuda_node_params, CUgraphNodeParams);
_Static_assert(offsetof(struct cuda_node_params, u) == offsetof(CUgraphNodeParams, conditional),
	       "");

WHOLE(struct cuda_edge_data, CUgraphEdgeData);
EDGE(from_port);
EDGE(to_port);
EDGE(type);
WHOLE(struct cuda_update_result, CUgraphExecUpdateResultInfo);
UPDATE(result);
UPDATE(errorNode);
UPDATE(errorFromNode);

WHOLE(union cuda_attribute_value, CUlaunchAttributeValue);
SAME(union cuda_attribute_value, CUlaunchAttributeValue, deviceUpdatableKernelNode.deviceUpdatable);
SAME(union cuda_attribute_value, CUlaunchAttributeValue, deviceUpdatableKernelNode.devNode);
SAME(union cuda_attribute_value, CUlaunchAttributeValue, cooperative);
SAME(union cuda_attribute_value, CUlaunchAttributeValue, clusterDim.x);
SAME(union cuda_attribute_value, CUlaunchAttributeValue, clusterDim.z);
SAME(union cuda_attribute_value, CUlaunchAttributeValue, priority);

VALUE(CUDA_OK, CUDA_SUCCESS);
VALUE(CUDA_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
VALUE(CUDA_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
VALUE(CUDA_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
VALUE(CUDA_NOT_READY, CUDA_ERROR_NOT_READY);
VALUE(CUDA_NOT_PERMITTED, CUDA_ERROR_NOT_PERMITTED);
VALUE(CUDA_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED);
VALUE(CUDA_GRAPH_EXEC_UPDATE_FAILURE, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
VALUE(CUDA_NODE_KERNEL, CU_GRAPH_NODE_TYPE_KERNEL);
VALUE(CUDA_NODE_MEMCPY, CU_GRAPH_NODE_TYPE_MEMCPY);
VALUE(CUDA_NODE_MEMSET, CU_GRAPH_NODE_TYPE_MEMSET);
VALUE(CUDA_NODE_HOST, CU_GRAPH_NODE_TYPE_HOST);
VALUE(CUDA_NODE_GRAPH, CU_GRAPH_NODE_TYPE_GRAPH);
VALUE(CUDA_NODE_EMPTY, CU_GRAPH_NODE_TYPE_EMPTY);
VALUE(CUDA_NODE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_WAIT_EVENT);
VALUE(CUDA_NODE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_EVENT_RECORD);
VALUE(CUDA_NODE_CONDITIONAL, CU_GRAPH_NODE_TYPE_CONDITIONAL);
VALUE(CUDA_MEMORY_HOST, CU_MEMORYTYPE_HOST);
VALUE(CUDA_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE);
VALUE(CUDA_MEMORY_ARRAY, CU_MEMORYTYPE_ARRAY);
VALUE(CUDA_MEMORY_UNIFIED, CU_MEMORYTYPE_UNIFIED);
VALUE(CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
VALUE(CUDA_CAPTURE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
VALUE(CUDA_HOST_PORTABLE, CU_MEMHOSTALLOC_PORTABLE);
VALUE(CUDA_HOST_MAPPED, CU_MEMHOSTALLOC_DEVICEMAP);
VALUE(CUDA_CONDITIONAL_IF, CU_GRAPH_COND_TYPE_IF);
VALUE(CUDA_CONDITIONAL_WHILE, CU_GRAPH_COND_TYPE_WHILE);
VALUE(CUDA_CONDITIONAL_SWITCH, CU_GRAPH_COND_TYPE_SWITCH);
VALUE(CUDA_INSTANTIATE_USE_NODE_PRIORITY, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
VALUE(CUDA_EDGE_PROGRAMMATIC, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
VALUE(CUDA_PORT_PROGRAMMATIC, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
VALUE(CUDA_PORT_LAUNCH_ORDER, CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER);
VALUE(CUDA_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
VALUE(CUDA_ATTRIBUTE_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
VALUE(CUDA_ATTRIBUTE_PRIORITY, CU_LAUNCH_ATTRIBUTE_PRIORITY);
VALUE(CUDA_ATTRIBUTE_DEVICE_UPDATABLE, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE);
_Static_assert((size_t)CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT == 1 &&
		       (size_t)CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT == 2 &&
		       (size_t)CU_LAUNCH_PARAM_END_AS_INT == 0,
	       "keys of `extra`");

int main(void)
{
	return 0;
}
