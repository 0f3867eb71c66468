/* The functions of CUDA's driver API that make, change or destroy graphs, and have a wrapper in
 * cuda_graphs.c. Compared with cuda.h of CUDA 13.5. */
#ifndef DAGPATCH_PRELOAD_CUDA_GRAPH_DOORS_H
#define DAGPATCH_PRELOAD_CUDA_GRAPH_DOORS_H

#include "vendor/cuda_types.h"

/* Structs that are only passed on are void here. DOOR(name, parameters, arguments) */

/* Make a graph: *made. */
#define CUDA_MAKING_DOORS(DOOR)                                                                    \
	DOOR(cuGraphCreate, (cuda_graph * made, unsigned int flags), (made, flags))                \
	DOOR(cuGraphClone, (cuda_graph * made, cuda_graph graph), (made, graph))

#define CUDA_ADDING(DOOR, name, type)                                                              \
	DOOR(name,                                                                                 \
	     (cuda_node * node, cuda_graph graph, const cuda_node *after, size_t count,            \
	      type params),                                                                        \
	     (node, graph, after, count, params))

/* Change `graph`. */
#define CUDA_CHANGING_DOORS(DOOR)                                                                  \
	CUDA_ADDING(DOOR, cuGraphAddKernelNode, const void *)                                      \
	CUDA_ADDING(DOOR, cuGraphAddKernelNode_v2, const void *)                                   \
	CUDA_ADDING(DOOR, cuGraphAddHostNode, const void *)                                        \
	CUDA_ADDING(DOOR, cuGraphAddChildGraphNode, cuda_graph)                                    \
	CUDA_ADDING(DOOR, cuGraphAddEventRecordNode, cuda_event)                                   \
	CUDA_ADDING(DOOR, cuGraphAddEventWaitNode, cuda_event)                                     \
	CUDA_ADDING(DOOR, cuGraphAddExternalSemaphoresSignalNode, const void *)                    \
	CUDA_ADDING(DOOR, cuGraphAddExternalSemaphoresWaitNode, const void *)                      \
	CUDA_ADDING(DOOR, cuGraphAddBatchMemOpNode, const void *)                                  \
	CUDA_ADDING(DOOR, cuGraphAddMemAllocNode, void *)                                          \
	CUDA_ADDING(DOOR, cuGraphAddMemFreeNode, cuda_address)                                     \
	DOOR(cuGraphAddMemcpyNode,                                                                 \
	     (cuda_node * node, cuda_graph graph, const cuda_node *after, size_t count,            \
	      const void *params, cuda_context context),                                           \
	     (node, graph, after, count, params, context))                                         \
	DOOR(cuGraphAddMemsetNode,                                                                 \
	     (cuda_node * node, cuda_graph graph, const cuda_node *after, size_t count,            \
	      const void *params, cuda_context context),                                           \
	     (node, graph, after, count, params, context))                                         \
	DOOR(cuGraphAddEmptyNode,                                                                  \
	     (cuda_node * node, cuda_graph graph, const cuda_node *after, size_t count),           \
	     (node, graph, after, count))                                                          \
	DOOR(cuGraphAddDependencies,                                                               \
	     (cuda_graph graph, const cuda_node *from, const cuda_node *to, size_t count),         \
	     (graph, from, to, count))                                                             \
	DOOR(cuGraphAddDependencies_v2,                                                            \
	     (cuda_graph graph, const cuda_node *from, const cuda_node *to,                        \
	      const struct cuda_edge_data *data, size_t count),                                    \
	     (graph, from, to, data, count))                                                       \
	DOOR(cuGraphRemoveDependencies,                                                            \
	     (cuda_graph graph, const cuda_node *from, const cuda_node *to, size_t count),         \
	     (graph, from, to, count))                                                             \
	DOOR(cuGraphRemoveDependencies_v2,                                                         \
	     (cuda_graph graph, const cuda_node *from, const cuda_node *to,                        \
	      const struct cuda_edge_data *data, size_t count),                                    \
	     (graph, from, to, data, count))

/* The same; they may move a graph into it. */
#define CUDA_MOVING_DOORS(DOOR)                                                                    \
	DOOR(cuGraphAddNode,                                                                       \
	     (cuda_node * node, cuda_graph graph, const cuda_node *after, size_t count,            \
	      struct cuda_node_params *params),                                                    \
	     (node, graph, after, count, params))                                                  \
	DOOR(cuGraphAddNode_v2,                                                                    \
	     (cuda_node * node, cuda_graph graph, const cuda_node *after,                          \
	      const struct cuda_edge_data *data, size_t count, struct cuda_node_params *params),   \
	     (node, graph, after, data, count, params))                                            \
	DOOR(cuGraphAddNode_v3,                                                                    \
	     (cuda_node * node, cuda_graph graph, const cuda_node *after,                          \
	      const struct cuda_edge_data *data, size_t count, struct cuda_node_params *params),   \
	     (node, graph, after, data, count, params))

#define CUDA_SETTING(DOOR, name, type) DOOR(name, (cuda_node node, type params), (node, params))

/* Change a node of a graph that the call does not name. */
#define CUDA_NODE_DOORS(DOOR)                                                                      \
	CUDA_SETTING(DOOR, cuGraphKernelNodeSetParams, const void *)                               \
	CUDA_SETTING(DOOR, cuGraphKernelNodeSetParams_v2, const void *)                            \
	CUDA_SETTING(DOOR, cuGraphMemcpyNodeSetParams, const void *)                               \
	CUDA_SETTING(DOOR, cuGraphMemsetNodeSetParams, const void *)                               \
	CUDA_SETTING(DOOR, cuGraphHostNodeSetParams, const void *)                                 \
	CUDA_SETTING(DOOR, cuGraphEventRecordNodeSetEvent, cuda_event)                             \
	CUDA_SETTING(DOOR, cuGraphEventWaitNodeSetEvent, cuda_event)                               \
	CUDA_SETTING(DOOR, cuGraphExternalSemaphoresSignalNodeSetParams, const void *)             \
	CUDA_SETTING(DOOR, cuGraphExternalSemaphoresWaitNodeSetParams, const void *)               \
	CUDA_SETTING(DOOR, cuGraphBatchMemOpNodeSetParams, const void *)                           \
	CUDA_SETTING(DOOR, cuGraphNodeSetParams, void *)                                           \
	CUDA_SETTING(DOOR, cuGraphNodeSetParams_v2, void *)                                        \
	CUDA_SETTING(DOOR, cuGraphKernelNodeCopyAttributes, cuda_node)                             \
	DOOR(cuGraphKernelNodeSetAttribute,                                                        \
	     (cuda_node node, uint32_t attribute, const void *value), (node, attribute, value))

/* Capture a stream into a new graph, or into a command list of a graphics library (Cig). */
#define CUDA_BEGINNING_DOORS(DOOR)                                                                 \
	DOOR(cuStreamBeginCapture, (cuda_stream stream), (stream))                                 \
	DOOR(cuStreamBeginCapture_ptsz, (cuda_stream stream), (stream))                            \
	DOOR(cuStreamBeginCapture_v2, (cuda_stream stream, uint32_t mode), (stream, mode))         \
	DOOR(cuStreamBeginCapture_v2_ptsz, (cuda_stream stream, uint32_t mode), (stream, mode))    \
	DOOR(cuStreamBeginCaptureToCig, (cuda_stream stream, void *params), (stream, params))      \
	DOOR(cuStreamBeginCaptureToCig_ptsz, (cuda_stream stream, void *params), (stream, params))

/* Capture a stream into `graph`. */
#define CUDA_CAPTURING_DOORS(DOOR)                                                                 \
	DOOR(cuStreamBeginCaptureToGraph,                                                          \
	     (cuda_stream stream, cuda_graph graph, const cuda_node *after,                        \
	      const struct cuda_edge_data *data, size_t count, uint32_t mode),                     \
	     (stream, graph, after, data, count, mode))                                            \
	DOOR(cuStreamBeginCaptureToGraph_ptsz,                                                     \
	     (cuda_stream stream, cuda_graph graph, const cuda_node *after,                        \
	      const struct cuda_edge_data *data, size_t count, uint32_t mode),                     \
	     (stream, graph, after, data, count, mode))                                            \
	DOOR(cuStreamBeginRecaptureToGraph,                                                        \
	     (cuda_stream stream, uint32_t mode, cuda_graph graph, void *callback, void *user),    \
	     (stream, mode, graph, callback, user))                                                \
	DOOR(cuStreamBeginRecaptureToGraph_ptsz,                                                   \
	     (cuda_stream stream, uint32_t mode, cuda_graph graph, void *callback, void *user),    \
	     (stream, mode, graph, callback, user))

/* End a capture; *graph was captured into. */
#define CUDA_CAPTURED_DOORS(DOOR)                                                                  \
	DOOR(cuStreamEndCapture, (cuda_stream stream, cuda_graph * graph), (stream, graph))        \
	DOOR(cuStreamEndCapture_ptsz, (cuda_stream stream, cuda_graph * graph), (stream, graph))

/* End a capture that makes no graph. */
#define CUDA_ENDING_DOORS(DOOR)                                                                    \
	DOOR(cuStreamEndCaptureToCig, (cuda_stream stream), (stream))                              \
	DOOR(cuStreamEndCaptureToCig_ptsz, (cuda_stream stream), (stream))

/* Destroy a context, perhaps with graphs. */
#define CUDA_CONTEXT_DOORS(DOOR)                                                                   \
	DOOR(cuCtxDestroy, (cuda_context context), (context))                                      \
	DOOR(cuCtxDestroy_v2, (cuda_context context), (context))                                   \
	DOOR(cuCtxDetach, (cuda_context context), (context))                                       \
	DOOR(cuGreenCtxDestroy, (void *context), (context))                                        \
	DOOR(cuDevicePrimaryCtxReset, (cuda_device device), (device))                              \
	DOOR(cuDevicePrimaryCtxReset_v2, (cuda_device device), (device))                           \
	DOOR(cuDevicePrimaryCtxRelease, (cuda_device device), (device))                            \
	DOOR(cuDevicePrimaryCtxRelease_v2, (cuda_device device), (device))

#define CUDA_GRAPH_DOORS(DOOR)                                                                     \
	CUDA_MAKING_DOORS(DOOR)                                                                    \
	CUDA_CHANGING_DOORS(DOOR)                                                                  \
	CUDA_MOVING_DOORS(DOOR)                                                                    \
	CUDA_NODE_DOORS(DOOR)                                                                      \
	CUDA_BEGINNING_DOORS(DOOR)                                                                 \
	CUDA_CAPTURING_DOORS(DOOR)                                                                 \
	CUDA_CAPTURED_DOORS(DOOR)                                                                  \
	CUDA_ENDING_DOORS(DOOR)                                                                    \
	CUDA_CONTEXT_DOORS(DOOR)

#endif
