/* The parts of the HIP driver: driver_hip.c has the driver's function table, hip_node.c converts
 * HIP's structs into images and hip_node_set.c images into HIP's structs, hip_capture.c captures,
 * hip_code.c and amd_code.c read kernels' parameters from code objects, hip_text.c reads copies
 * from a graph's printed text, hip_probe.c tests which updates take effect, with a kernel from
 * hip_rtc.c, and hip_library.c finds the library and reports failures of its calls.
 *
 * Functions named hip_<x> that have the parameters of struct patch_driver's <x> fulfil its
 * contract (driver.h). */
#ifndef DAGPATCH_PATCH_HIP_H
#define DAGPATCH_PATCH_HIP_H

#include "patch/driver.h"
#include "vendor/hip_types.h"
#include "vendor/hsa_loader.h"

/* The functions that are called, by the names of their symbols. All of them exist since HIP 4.5. */
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

/* The loaded functions; constant after opening. */
struct hip_calls {
#define HIP_POINTER(name, parameters) int(*name) parameters;
	HIP_FUNCTIONS(HIP_POINTER)
#undef HIP_POINTER
	const char *(*hipGetErrorString)(int);
	const char *(*hipKernelNameRef)(void *);
	const char *(*hipKernelNameRefByPtr)(const void *, void *);
};

/* A copy as hipGraphDebugDotPrint describes it. Both pitches of a one-dimensional copy are 0. */
struct hip_text_copy {
	void *node;
	void *dst, *src;
	size_t dst_pitch, src_pitch;
	struct hip_position dst_position, src_position;
	struct hip_extent extent;
};

/* All copies of a graph, in ascending order of node. */
struct hip_text {
	const void *graph; /* NULL: the entry is free */
	struct hip_text_copy *copies;
	uint32_t count;
};
#define HIP_TEXTS 8 /* as many as captures are compared side by side */

/* What hip_probe has seen take effect. */
struct hip_works {
	bool set_kernel, set_copy, set_memset; /* setting a node of an executable graph */
	bool update;			       /* updating a whole executable graph */
	bool functions;			       /* both can give a kernel node another function */
};

/* Most idle streams that are kept. */
#define HIP_IDLE 8

/* 5.2.3 writes the arguments of another function into the memory of the first function's
 * arguments, however small that is. From this version on it was seen to work, and hip_probe tests
 * it. */
#define HIP_SETS_FUNCTIONS 60400000
/* Launch attributes of nodes; tested with 6.4.3 and 7.2.4. */
#define HIP_HAS_ATTRIBUTES 60400000

/* A HIP device as a driver sees it. */
struct hip_driver {
	struct patch_device device;
	void *library;
	int version; /* as hipRuntimeGetVersion returns it: 50221153 is 5.2.21153 */
	int device_count;
	struct hip_calls call;
	/* Exist since HIP 5.3; NULL: missing. */
	int (*hipGraphDebugDotPrint)(void *graph, const char *path, unsigned int flags);
	int (*hipGraphKernelNodeCopyAttributes)(void *from, void *to);
	int (*hipGraphKernelNodeSetAttribute)(void *node, int attribute,
					      const union hip_attribute_value *value);
	struct hsa_loader_table loader; /* all NULL: kernels' parameters are unknown */
	struct hip_works works;
	pthread_mutex_t idle_lock; /* protects idle and idle_count */
	void *idle[HIP_IDLE];	   /* streams to capture on */
	uint32_t idle_count;
	pthread_mutex_t texts_lock; /* protects texts and next_text */
	struct hip_text texts[HIP_TEXTS];
	uint32_t next_text; /* the entry to replace next */
};

static inline struct hip_driver *hip_of(struct patch_device *device)
{
	return (struct hip_driver *)device;
}

/* ---- hip_library.c ---- */

/* Opens the library GIVEN. NULL: the libamdhip64 that the process has loaded, otherwise the newest
 * that the loader finds. Returns NULL if there is none; dlerror then has the reason. The caller
 * closes it with dlclose. */
void *hip_library_open(const char *given);

/* 0, or the negative errno for RESULT, which has been passed to patch_fault. */
int hip_check(struct hip_driver *hip, const char *call, int result);
#define HIP_CALL(hip, name, ...) hip_check(hip, #name, (hip)->call.name(__VA_ARGS__))

/* ---- hip_capture.c (the contracts are in patch/driver.h) ---- */

/* While any stream is being captured, by whichever thread, HIP refuses some calls and then ends
 * that capture. From hip_relax to hip_unrelax, which returns RESULT, the calling thread may make
 * such calls. The two do not nest. */
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

/* ---- hip_probe.c ---- */

/* Fills hip->works, on the thread's device: launches a graph of up to four nodes a few times and
 * waits for each launch. If the graph cannot be run, nothing is taken to work. */
void hip_probe(struct hip_driver *hip);

/* ---- hip_rtc.c ---- */

/* Loads a module with two kernels on the thread's device, which is the driver's: dagpatch_probe
 * (uint32_t *at, uint32_t value) writes VALUE to *AT, and dagpatch_probe_other (uint32_t first,
 * uint32_t *at, uint32_t value) writes FIRST + VALUE. The caller unloads it with hipModuleUnload.
 * NULL: there is no hiprtc, or it cannot compile. Compiles once a process and device, which takes
 * 100 ms and more. */
void *hip_rtc_load(struct hip_driver *hip, void **ret_function, void **ret_other);

/* ---- hip_code.c ---- */

/* Finds HSA's loader extension, which lists the loaded code objects. Without it, kernels that were
 * captured by pointers to their arguments cannot be read. */
void hip_find_loader(struct hip_driver *hip);
int hip_kernel_name(struct patch_device *device, void *function, char *text, size_t size);
int hip_kernel_parameters(struct patch_device *device, void *function,
			  struct dagpatch_parameter *ret_parameters, uint32_t capacity);

/* ---- hip_text.c ---- */

/* Finds the copy NODE of GRAPH in the graph's printed text. -ENOTSUP: this HIP does not print it.
 * Any thread; takes a lock. */
int hip_text_copy(struct hip_driver *hip, void *graph, void *node, struct hip_text_copy *ret_copy);

/* Drops the text of GRAPH, because it may have changed or the handle may be another graph's. Any
 * thread. */
void hip_text_forget(struct hip_driver *hip, const void *graph);

/* Drops all texts. */
void hip_text_release(struct hip_driver *hip);

/* ---- hip_node.c, which reads nodes, and hip_node_set.c, which adds and sets them ---- */

/* The driver cannot do what CALL was asked for: fills patch_fault, returns -ENOTSUP. */
int hip_refuse(const char *call, const char *why);

/* The graph embedded in NODE, or NULL if NODE is no child. */
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
int hip_exec_update(struct patch_device *device, struct driver_exec *exec,
		    struct driver_graph *graph);

#endif
