/* The pieces of the HIP driver. */
#ifndef DAGPATCH_PATCH_HIP_H
#define DAGPATCH_PATCH_HIP_H

#include "patch/driver.h"
#include "vendor/hip_types.h"
#include "vendor/hsa_loader.h"

/* What is called, by the names of its symbols; there since HIP 4.5. */
#define HIP_FUNCTIONS(FUNCTION)                                                                    \
	FUNCTION(hipRuntimeGetVersion, (int *))                                                    \
	FUNCTION(hipGetDeviceCount, (int *))                                                       \
	FUNCTION(hipGetDevice, (int *))                                                            \
	FUNCTION(hipSetDevice, (int))                                                              \
	FUNCTION(hipGetStreamDeviceId, (void *))                                                   \
	FUNCTION(hipModuleLoadData, (void **, const void *))                                       \
	FUNCTION(hipModuleGetFunction, (void **, void *, const char *))                            \
	FUNCTION(hipModuleUnload, (void *))                                                        \
	FUNCTION(hipDeviceSynchronize, (void))                                                     \
	FUNCTION(hipMalloc, (void **, size_t))                                                     \
	FUNCTION(hipFree, (void *))                                                                \
	FUNCTION(hipHostMalloc, (void **, size_t, unsigned int))                                   \
	FUNCTION(hipHostFree, (void *))                                                            \
	FUNCTION(hipMemcpyAsync, (void *, const void *, size_t, int, void *))                      \
	FUNCTION(hipStreamCreateWithFlags, (void **, unsigned int))                                \
	FUNCTION(hipStreamDestroy, (void *))                                                       \
	FUNCTION(hipStreamSynchronize, (void *))                                                   \
	FUNCTION(hipStreamWaitEvent, (void *, void *, unsigned int))                               \
	FUNCTION(hipEventCreateWithFlags, (void **, unsigned int))                                 \
	FUNCTION(hipEventDestroy, (void *))                                                        \
	FUNCTION(hipEventRecord, (void *, void *))                                                 \
	FUNCTION(hipEventQuery, (void *))                                                          \
	FUNCTION(hipEventSynchronize, (void *))                                                    \
	FUNCTION(hipStreamBeginCapture, (void *, int))                                             \
	FUNCTION(hipStreamEndCapture, (void *, void **))                                           \
	FUNCTION(hipStreamIsCapturing, (void *, int *))                                            \
	FUNCTION(hipStreamGetCaptureInfo_v2,                                                       \
		 (void *, int *, unsigned long long *, void **, void *const **, size_t *))         \
	FUNCTION(hipStreamUpdateCaptureDependencies,                                               \
		 (void *, void *const *, size_t, unsigned int))                                    \
	FUNCTION(hipThreadExchangeStreamCaptureMode, (int *))                                      \
	FUNCTION(hipGraphCreate, (void **, unsigned int))                                          \
	FUNCTION(hipGraphDestroy, (void *))                                                        \
	FUNCTION(hipGraphClone, (void **, void *))                                                 \
	FUNCTION(hipGraphGetNodes, (void *, void **, size_t *))                                    \
	FUNCTION(hipGraphGetEdges, (void *, void **, void **, size_t *))                           \
	FUNCTION(hipGraphNodeGetType, (void *, unsigned int *))                                    \
	FUNCTION(hipGraphKernelNodeGetParams, (void *, struct hip_kernel_params *))                \
	FUNCTION(hipGraphKernelNodeSetParams, (void *, const struct hip_kernel_params *))          \
	FUNCTION(hipGraphMemcpyNodeGetParams, (void *, struct hip_copy_params *))                  \
	FUNCTION(hipGraphMemcpyNodeSetParams, (void *, const struct hip_copy_params *))            \
	FUNCTION(hipGraphMemcpyNodeSetParams1D, (void *, void *, const void *, size_t, int))       \
	FUNCTION(hipGraphMemsetNodeGetParams, (void *, struct hip_memset_params *))                \
	FUNCTION(hipGraphMemsetNodeSetParams, (void *, const struct hip_memset_params *))          \
	FUNCTION(hipGraphHostNodeGetParams, (void *, struct hip_host_params *))                    \
	FUNCTION(hipGraphHostNodeSetParams, (void *, const struct hip_host_params *))              \
	FUNCTION(hipGraphEventRecordNodeGetEvent, (void *, void **))                               \
	FUNCTION(hipGraphEventRecordNodeSetEvent, (void *, void *))                                \
	FUNCTION(hipGraphEventWaitNodeGetEvent, (void *, void **))                                 \
	FUNCTION(hipGraphEventWaitNodeSetEvent, (void *, void *))                                  \
	FUNCTION(hipGraphChildGraphNodeGetGraph, (void *, void **))                                \
	FUNCTION(hipGraphAddKernelNode,                                                            \
		 (void **, void *, void *const *, size_t, const struct hip_kernel_params *))       \
	FUNCTION(hipGraphAddMemcpyNode,                                                            \
		 (void **, void *, void *const *, size_t, const struct hip_copy_params *))         \
	FUNCTION(hipGraphAddMemcpyNode1D,                                                          \
		 (void **, void *, void *const *, size_t, void *, const void *, size_t, int))      \
	FUNCTION(hipGraphAddMemsetNode,                                                            \
		 (void **, void *, void *const *, size_t, const struct hip_memset_params *))       \
	FUNCTION(hipGraphAddHostNode,                                                              \
		 (void **, void *, void *const *, size_t, const struct hip_host_params *))         \
	FUNCTION(hipGraphAddEmptyNode, (void **, void *, void *const *, size_t))                   \
	FUNCTION(hipGraphAddChildGraphNode, (void **, void *, void *const *, size_t, void *))      \
	FUNCTION(hipGraphAddEventRecordNode, (void **, void *, void *const *, size_t, void *))     \
	FUNCTION(hipGraphAddEventWaitNode, (void **, void *, void *const *, size_t, void *))       \
	FUNCTION(hipGraphInstantiate, (void **, void *, void **, char *, size_t))                  \
	FUNCTION(hipGraphExecDestroy, (void *))                                                    \
	FUNCTION(hipGraphExecUpdate, (void *, void *, void **, unsigned int *))                    \
	FUNCTION(hipGraphExecKernelNodeSetParams,                                                  \
		 (void *, void *, const struct hip_kernel_params *))                               \
	FUNCTION(hipGraphExecMemcpyNodeSetParams, (void *, void *, struct hip_copy_params *))      \
	FUNCTION(hipGraphExecMemcpyNodeSetParams1D,                                                \
		 (void *, void *, void *, const void *, size_t, int))                              \
	FUNCTION(hipGraphExecMemsetNodeSetParams,                                                  \
		 (void *, void *, const struct hip_memset_params *))                               \
	FUNCTION(hipGraphExecHostNodeSetParams, (void *, void *, const struct hip_host_params *))  \
	FUNCTION(hipGraphExecEventRecordNodeSetEvent, (void *, void *, void *))                    \
	FUNCTION(hipGraphExecEventWaitNodeSetEvent, (void *, void *, void *))                      \
	FUNCTION(hipGraphLaunch, (void *, void *))

struct hip_calls {
#define HIP_POINTER(name, parameters) int(*name) parameters;
	HIP_FUNCTIONS(HIP_POINTER)
#undef HIP_POINTER
	const char *(*hipGetErrorString)(int);
	const char *(*hipKernelNameRef)(void *);
	const char *(*hipKernelNameRefByPtr)(const void *, void *);
};

/* A copy as hipGraphDebugDotPrint describes it; of a one-dimensional one both pitches are 0. */
struct hip_text_copy {
	void *node;
	void *dst, *src;
	size_t dst_pitch, src_pitch;
	struct hip_position dst_position, src_position;
	struct hip_extent extent;
};

/* All copies of a graph, in ascending order of node. */
struct hip_text {
	const void *graph; /* NULL: none */
	struct hip_text_copy *copies;
	uint32_t count;
};
#define HIP_TEXTS 8 /* as many as captures are read side by side */

/* What hip_probe saw take effect. */
struct hip_works {
	bool set_kernel, set_copy, set_memset; /* a node of an executable graph */
	bool update;			       /* of a whole one */
	bool functions;			       /* either gives a kernel node another function */
};

#define HIP_IDLE 8

/* 5.2.3 writes the arguments of another function into the memory of the first one's, however small
 * that is; from this version on it was seen to work, and is tried. */
#define HIP_SETS_FUNCTIONS 60400000
/* Launch attributes of nodes: tried are 6.4.3 and 7.2.4. */
#define HIP_HAS_ATTRIBUTES 60400000

struct hip_driver {
	struct patch_device device;
	void *library;
	int version; /* 50221153 is 5.2.21153 */
	int device_count;
	struct hip_calls call;
	/* Since HIP 5.3; NULL: not there. */
	int (*hipGraphDebugDotPrint)(void *graph, const char *path, unsigned int flags);
	int (*hipGraphKernelNodeCopyAttributes)(void *from, void *to);
	int (*hipGraphKernelNodeSetAttribute)(void *node, int attribute,
					      const union hip_attribute_value *value);
	struct hsa_loader_table loader;
	struct hip_works works;
	pthread_mutex_t idle_lock; /* of what follows */
	void *idle[HIP_IDLE];	   /* streams to capture in */
	uint32_t idle_count;
	pthread_mutex_t texts_lock; /* of what follows */
	struct hip_text texts[HIP_TEXTS];
	uint32_t next_text;
};

static inline struct hip_driver *hip_of(struct patch_device *device)
{
	return (struct hip_driver *)device;
}

/* 0, or the errno for RESULT, which has been told to patch_fault. */
int hip_check(struct hip_driver *hip, const char *call, int result);
#define HIP_CALL(hip, name, ...) hip_check(hip, #name, (hip)->call.name(__VA_ARGS__))

/* ---- hip_capture.c ---- */

/* What HIP refuses while a stream is captured, of whomever, and then ends that capture for: allowed
 * from here to hip_unrelax, which returns RESULT. They do not nest. */
void hip_relax(struct hip_driver *hip);
int hip_unrelax(struct hip_driver *hip, int result);
#define HIP_RELAXED(hip, name, ...)                                                                \
	(hip_relax(hip), hip_check(hip, #name, hip_unrelax(hip, (hip)->call.name(__VA_ARGS__))))
int hip_capture_begin(struct patch_device *device, struct driver_stream **ret_stream);
int hip_capture_end(struct patch_device *device, struct driver_stream *stream,
		    struct driver_graph **ret_graph);
int hip_stream_is_captured(struct patch_device *device, struct driver_stream *stream);
int hip_capturing_get(struct patch_device *device, struct driver_stream *stream,
		      struct patch_capturing *ret_capturing);
int hip_capturing_continue(struct patch_device *device, struct driver_stream *stream,
			   struct driver_node *const *nodes, uint32_t count);

/* ---- hip_library.c ---- */

/* GIVEN; or, NULL, the libamdhip64 that is in the process, or else the newest that the loader
 * finds. NULL: none; dlerror says why. dlclose gives it back. */
void *hip_library_open(const char *given);

/* ---- hip_probe.c ---- */

/* Fills works, on the thread's device: some launches of a graph of up to four nodes, each waited
 * for. Where that cannot be run nothing works. */
void hip_probe(struct hip_driver *hip);

/* ---- hip_rtc.c ---- */

/* A module with the kernels dagpatch_probe (uint32_t *at, uint32_t value), which writes VALUE
 * there, and dagpatch_probe_other (uint32_t first, uint32_t *at, uint32_t value), which writes the
 * sum, on the thread's device, which is the driver's; hipModuleUnload gives it back. NULL: no
 * hiprtc, or it cannot. Compiles once a process and device, some 100 ms. */
void *hip_rtc_load(struct hip_driver *hip, void **ret_function, void **ret_other);

/* ---- driver_hip.c ---- */

int hip_exec_update(struct patch_device *device, struct driver_exec *exec,
		    struct driver_graph *graph);

/* ---- hip_code.c ---- */

/* Where HSA says which code objects are loaded: without it kernels that are captured by pointers to
 * their arguments cannot be read. */
void hip_find_loader(struct hip_driver *hip);
int hip_kernel_name(struct patch_device *device, void *function, char *text, size_t size);
int hip_kernel_parameters(struct patch_device *device, void *function,
			  struct dagpatch_parameter *ret_parameters, uint32_t capacity);

/* ---- hip_text.c ---- */

/* The copy NODE of GRAPH. -ENOTSUP: this HIP does not say. */
int hip_text_copy(struct hip_driver *hip, void *graph, void *node, struct hip_text_copy *ret_copy);
/* GRAPH may have changed, or be another one. */
void hip_text_forget(struct hip_driver *hip, const void *graph);
void hip_text_release(struct hip_driver *hip);

/* ---- hip_node.c ---- */

/* NULL: NODE is no child. */
struct driver_graph *hip_child_graph(struct hip_driver *hip, struct driver_node *node);
int hip_node_get(struct patch_device *device, struct driver_graph *graph, struct driver_node *node,
		 struct patch_image *image);
int hip_node_add(struct patch_device *device, struct driver_graph *graph,
		 const struct patch_params *params, struct driver_node *const *after,
		 uint32_t after_count, struct driver_node **ret_node);
int hip_node_inherit(struct patch_device *device, struct driver_node *from, struct driver_node *to);
bool hip_can_set(struct patch_device *device, const struct patch_params *from,
		 const struct patch_params *to);
int hip_attributes_set(struct patch_device *device, struct driver_node *node,
		       const struct dagpatch_attributes *attributes);
int hip_node_set(struct patch_device *device, struct driver_node *node,
		 const struct patch_params *params);
int hip_exec_set(struct patch_device *device, struct driver_exec *exec, struct driver_node *node,
		 const struct patch_params *params);

#endif
