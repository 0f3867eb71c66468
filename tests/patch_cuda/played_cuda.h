/* A libcuda.so.1 for tests on machines without a GPU: the driver API as far as dagpatch and
 * tests/patch use it, played on the model device (src/patch/model/model_parts.h). Streams are
 * threads, graphs and what is instantiated of them are the model's, kernels are C functions found
 * by name. A node that is made device-updatable gets what the device has written into its
 * parameters at each run. There are two devices, a context of each, and calls in another context
 * than an executable graph's fail. */
#ifndef TESTS_PATCH_CUDA_PLAYED_CUDA_H
#define TESTS_PATCH_CUDA_PLAYED_CUDA_H

#include "../patch/bed_cuda.h"
#include "patch/model/model_parts.h"

#define PLAYED_PROTOTYPE(name, parameters) int name parameters;

CUDA_FUNCTIONS(PLAYED_PROTOTYPE)
BED_CUDA_FUNCTIONS(PLAYED_PROTOTYPE)

/* Calls that are refused while the thread captures, which they end: 0, or the error. And a launch
 * of an executable graph into STREAM. */
int played_may_disturb(void);
int played_launch_into(cuda_stream stream);

/* Of a negative errno or 0. */
int played_result(int rc);

struct dagpatch_model_stream *played_stream(cuda_stream stream);

/* The thread's context is that of EXEC (NULL: there is one), as the model has devices. */
bool played_is_current(cuda_exec exec);

/* What the dependency of TO on FROM, one of those that it has, is. A node's dependencies on kernels
 * are all alike here. */
struct cuda_edge_data played_edge_data(const struct model_node *from, const struct model_node *to);

/* NULL: no kernel is called so. */
struct dagpatch_model_kernel *played_kernel(const char *name);

extern struct dagpatch_model_kernel played_nothing;

/* What a CUgraphDeviceNode stands for. */
struct played_device_node;

/* NODE's image calls another kernel from now on, which puts in what the device wrote. */
int played_make_updatable(struct model_node *node, struct played_device_node **ret_device_node);
/* NULL: the node is not updatable. */
struct played_device_node *played_device_node(const struct model_node *node);
const struct dagpatch_model_kernel *played_real_kernel(const struct model_node *node);
const uint8_t *played_arguments(const struct model_node *node, uint32_t *ret_bytes);
/* An image of the real kernel becomes one of the updatable node's. */
int played_wrap(struct played_device_node *device_node, struct patch_image *image);
/* As cudaGraphKernelNodeSetParam. */
int played_set_param(struct played_device_node *device_node, uint64_t offset, uint64_t value);
/* The host has set the node: what the device wrote goes with the next upload, of any graph. */
void played_forget_params(struct played_device_node *device_node);
void played_upload(void);

#endif
