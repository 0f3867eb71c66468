/*
 * A libcuda.so.1 for tests on machines without a GPU: the part of the driver API that dagpatch and
 * tests/patch use, implemented on the model device (src/patch/model/model_parts.h). Streams are
 * threads, graphs and executable graphs are the model's, kernels are C functions found by name. A
 * device-updatable node reads at each run the parameters that the device has written. There are two
 * devices with one context each; a call fails in another context than its executable graph's.
 */
#ifndef TESTS_PATCH_CUDA_PLAYED_CUDA_H
#define TESTS_PATCH_CUDA_PLAYED_CUDA_H

#include "../patch/bed_cuda.h"
#include "patch/model/model_parts.h"

/* The model's objects behind CUDA's handles. */
#define MODEL_GRAPH(graph) ((struct dagpatch_model_graph *)(graph))
#define MODEL_NODE(node)   ((struct model_node *)(node))
#define MODEL_EXEC(exec)   ((struct dagpatch_model_exec *)(exec))

#define PLAYED_PROTOTYPE(name, parameters) int name parameters;

CUDA_FUNCTIONS(PLAYED_PROTOTYPE)
BED_CUDA_FUNCTIONS(PLAYED_PROTOTYPE)
PLAYED_PROTOTYPE(cuGetProcAddress_v2,
		 (const char *name, void **function, int version, uint64_t flags, int *ret_found))
PLAYED_PROTOTYPE(cuPointerGetAttribute, (void *value, int attribute, cuda_address address))
PLAYED_PROTOTYPE(cuDevicePrimaryCtxReset_v2, (cuda_device device))
PLAYED_PROTOTYPE(cuCtxDestroy_v2, (cuda_context context))
PLAYED_PROTOTYPE(cuCtxDetach, (cuda_context context))
PLAYED_PROTOTYPE(cuGreenCtxDestroy, (void *context))
PLAYED_PROTOTYPE(cuFuncGetModule, (void **module, cuda_function function))
/* Newer than CUDA 13.0 (played_newer.c). */
PLAYED_PROTOTYPE(cuGraphAddNode_v3,
		 (cuda_node * node, cuda_graph graph, const cuda_node *after,
		  const struct cuda_edge_data *data, size_t count, struct cuda_node_params *params))
PLAYED_PROTOTYPE(cuGraphNodeSetParams_v2, (cuda_node node, struct cuda_node_params *params))
PLAYED_PROTOTYPE(cuStreamBeginRecaptureToGraph,
		 (cuda_stream stream, uint32_t mode, cuda_graph graph, void *callback, void *user))
PLAYED_PROTOTYPE(cuGraphKernelNodeSetParams_v3,
		 (cuda_node node, const struct cuda_kernel_node_params *params))
PLAYED_PROTOTYPE(cuGraphExecKernelNodeSetParams_v3,
		 (cuda_exec exec, const struct cuda_kernel_node_params *params, cuda_node node))

/* Returns the newer function that NAME means in VERSION, or NULL. */
void *played_newer(const char *name, int version);

/*
 * A program that holds the clock may define this, and move the clock by what CALL takes.
 */
__attribute__((weak)) void played_spend(const char *call);

/* Calls played_spend if the program has it. */
static inline void played_note_spent(const char *call)
{
	if (played_spend)
		played_spend(call);
}

/*
 * A program may define this: whether ADDRESS may be copied from or to. Asked when a copy of an
 * executable graph is set.
 */
__attribute__((weak)) bool played_may_copy(cuda_address address);

/* What cuMemAlloc_v2 gave last and has not ended, or 0. */
cuda_address played_last_allocation(void);

/*
 * A program may define this. cuModuleUnload calls it when the module is unloaded, before it
 * returns.
 */
__attribute__((weak)) void played_unloading(void);

/*
 * Check calls that CUDA forbids while the thread captures a stream, and a launch of an executable
 * graph into STREAM. Return 0, or the error; a forbidden call invalidates the capture.
 */
int played_may_disturb(void);
int played_launch_into(cuda_stream stream);

/* Returns the CUresult for RC, which is 0 or a negative errno. */
int played_result(int rc);

/* Returns the model's stream of a handle; all default stream handles are one stream. */
struct dagpatch_model_stream *played_stream(cuda_stream stream);

/* Returns whether the thread's context is that of EXEC (any context if EXEC is NULL). */
bool played_is_current(cuda_exec exec);

/*
 * Returns the edge data of TO's dependency on FROM, which must exist. In the model all dependencies
 * of a node on kernels have the same data.
 */
struct cuda_edge_data played_edge_data(const struct model_node *from, const struct model_node *to);

/* Returns NULL if no kernel has this name. */
struct dagpatch_model_kernel *played_kernel(const char *name);

/* The same for functions that end with their module or context. */
struct dagpatch_model_kernel *played_lifetime_kernel(const char *name);

/* Aborts the process if GRAPH names a function that has ended. */
void played_check_functions(const struct dagpatch_model_graph *graph);

extern struct dagpatch_model_kernel played_nothing;

/* The state behind a CUgraphDeviceNode handle. */
struct played_device_node;

/*
 * Makes NODE device-updatable: its image then calls a wrapper kernel that first puts in the
 * parameters that the device has written.
 */
int played_make_updatable(struct model_node *node, struct played_device_node **ret_device_node);
/* Returns NULL if NODE is not device-updatable. */
struct played_device_node *played_device_node(const struct model_node *node);
const struct dagpatch_model_kernel *played_real_kernel(const struct model_node *node);
const uint8_t *played_arguments(const struct model_node *node, uint32_t *ret_bytes);
/* Turns an image of the real kernel into one of the wrapper kernel. */
int played_wrap(struct played_device_node *device_node, struct patch_image *image);
/* Does what cudaGraphKernelNodeSetParam does on the device. */
int played_set_param(struct played_device_node *device_node, uint64_t offset, uint64_t value);
/*
 * Call when the host sets the node: the next upload, of any graph, discards what the device wrote.
 */
void played_forget_params(struct played_device_node *device_node);
void played_upload(void);

#endif
