/* HIP's functions behind the wrappers, and those that the library calls besides. One room of files,
 * as CUDA's (cuda_real.h): preload_hip.c has the wrappers, hip_inner.c finds the functions,
 * hip_image.c and hip_child.c have the images of calls, hip_vendor.c the table of functions for
 * virtual executables. */
#ifndef DAGPATCH_PRELOAD_HIP_REAL_H
#define DAGPATCH_PRELOAD_HIP_REAL_H

#include "patch/hip/hip_driver.h"
#include "preload/hip_doors.h"
#include "preload/vendor_doors.h"
#include "preload/virtual.h"

#define HIP_PROTOTYPE(name, parameters)		   DOOR_EXPORT int name parameters;
#define HIP_PASSING_PROTOTYPE(name, parameters, a) DOOR_EXPORT int name parameters;
HIP_OTHER_DOORS(HIP_PROTOTYPE)
HIP_PASSING_DOORS(HIP_PASSING_PROTOTYPE)
DOOR_EXPORT void __hipUnregisterFatBinary(void **modules);

enum hip_door {
#define HIP_DOOR_NUMBER(name, ...) HIP_DOOR_##name,
	HIP_OTHER_DOORS(HIP_DOOR_NUMBER) HIP_PASSING_DOORS(HIP_DOOR_NUMBER)
		HIP_DOOR_NUMBER(__hipUnregisterFatBinary) HIP_DOORS,
};

/* ---- hip_inner.c ---- */

/* The function of HIP behind a wrapper. */
#define HIP_REAL(name) ((__typeof__(&(name)))door_real(&hip_doors, HIP_DOOR_##name))

/* HIP_READING: reads graphs. Releases may lack them; then they are NULL. */
#define HIP_READING(FUNCTION)                                                                      \
	FUNCTION(hipGraphKernelNodeGetParams, (void *node, struct hip_kernel_params *params))      \
	FUNCTION(hipGraphKernelNodeGetAttribute, (void *node, int attribute, void *value))         \
	FUNCTION(hipGraphMemsetNodeGetParams, (void *node, struct hip_memset_params *params))      \
	FUNCTION(hipGraphHostNodeGetParams, (void *node, struct hip_host_params *params))          \
	FUNCTION(hipGraphChildGraphNodeGetGraph, (void *node, void **graph))                       \
	FUNCTION(hipGraphGetEdges, (void *graph, void **from, void **to, size_t *count))

#define HIP_INNER(FUNCTION)                                                                        \
	FUNCTION(hipGraphClone, (void **clone, void *graph))                                       \
	FUNCTION(hipGraphGetNodes, (void *graph, void **nodes, size_t *count))                     \
	FUNCTION(hipGraphNodeGetType, (void *node, uint32_t *type))                                \
	FUNCTION(hipEventCreateWithFlags, (void **event, unsigned int flags))                      \
	FUNCTION(hipEventDestroy, (void *event))                                                   \
	FUNCTION(hipEventRecord, (void *event, void *stream))                                      \
	FUNCTION(hipStreamWaitEvent, (void *stream, void *event, unsigned int flags))              \
	FUNCTION(hipStreamIsCapturing, (void *stream, int *status))                                \
	FUNCTION(hipThreadExchangeStreamCaptureMode, (int *mode))                                  \
	FUNCTION(hipGetDevice, (int *device))                                                      \
	FUNCTION(hipSetDevice, (int device))                                                       \
	FUNCTION(hipGetLastError, (void))                                                          \
	FUNCTION(hipRuntimeGetVersion, (int *version))
/* Constant after hip_inner_open. */
struct hip_inner {
#define HIP_POINTER_TO(name, parameters) int(*name) parameters;
	HIP_INNER(HIP_POINTER_TO)
	HIP_READING(HIP_POINTER_TO)
	int version;
};
extern struct hip_inner hip_inner;
extern struct door_library hip_doors;

/* Finds all functions. False: this HIP is passed through; it lacks one, or it is 6.3. */
bool hip_inner_open(void);

/* Whether executables lose the values of memsets that were set. After hip_inner_open. */
bool hip_forgets_memsets(void);

/* ---- hip_vendor.c ---- */

extern const struct preload_vendor hip_vendor;

/* ---- hip_image.c ---- */

/* One noted call. Zeroed before it is filled, because images are compared byte by byte. */
struct hip_image {
	uint32_t door;	   /* enum hip_door */
	uint32_t count;	   /* kernels: number of arguments */
	uint32_t bytes;	   /* kernels: size of the block */
	uint32_t is_block; /* kernels: the arguments were given by `extra` */
	uint64_t epoch;	   /* kernels: a handle may mean another function after an unload */
	union {
		struct hip_kernel_params kernel; /* without `arguments` and `extra` */
		struct hip_copy_params copy;
		struct {
			void *dst;
			const void *src;
			size_t bytes;
			int kind;
		} copy_1d;
		struct hip_memset_params memset;
		struct hip_host_params host;
		void *event;
		unsigned int is_enabled;
	} u;
	/* kernels: the block, then the offset of each argument as uint32_t */
	uint64_t block[];
};

/* Prepares what the images of kernels need, once HIP's functions are found. False: this HIP does
 * not tell what a kernel's arguments are, or there is no memory. */
bool hip_images_open(void);

/* Appends the image of a kernel. Returns its size, or 0: what the arguments are is not known, or
 * there is no memory. */
uint32_t hip_image_kernel(const struct hip_kernel_params *params, struct bytes *to);

/* A module will be unloaded: handles of functions may be used again, for functions with other
 * parameters. */
void hip_images_forget_functions(void);

/* ---- hip_child.c ---- */

/* Whether calls that set child graphs are noted with this HIP. After hip_inner_open. */
bool hip_sets_children(void);

/* Appends the image of a call that sets a child graph to GRAPH, all that it contains. What cannot
 * be read gets a number that is used once, so that the image equals no other one. Returns the size,
 * or 0: no memory. *RET_HAS_ADDRESSES: HIP's answer depends on what is allocated at this moment. */
uint32_t hip_image_child(void *graph, struct bytes *to, bool *ret_has_addresses);

/* ---- hip_image.c, again ---- */

/* Makes the noted call again (preload_vendor.apply). */
int hip_image_apply(const void *data, void *child, void *exec, void *node);

#endif
