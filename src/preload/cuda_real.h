/* CUDA's functions behind the wrappers, and those that the library calls besides. One room of
 * files: preload_cuda.c has the wrappers of calls on executables, cuda_graphs.c of those on graphs,
 * cuda_proc.c that of cuGetProcAddress and the table of all, cuda_open.c what holds for all
 * executables, cuda_vendor.c the table of functions for virtual executables, cuda_image.c and
 * cuda_child.c the images of calls. */
#ifndef DAGPATCH_PRELOAD_CUDA_REAL_H
#define DAGPATCH_PRELOAD_CUDA_REAL_H

#include "preload/cuda_capture_count.h"
#include "preload/cuda_doors.h"
#include "preload/cuda_graph_doors.h"
#include "preload/cuda_memory_doors.h"
#include "preload/vendor_doors.h"
#include "preload/virtual.h"

#define CUDA_PROTOTYPE(name, parameters, ...) DOOR_EXPORT int name parameters;
CUDA_OTHER_DOORS(CUDA_PROTOTYPE)
CUDA_PASSING_DOORS(CUDA_PROTOTYPE)
CUDA_GRAPH_DOORS(CUDA_PROTOTYPE)
CUDA_MEMORY_DOORS(CUDA_PROTOTYPE)

enum cuda_door {
#define CUDA_DOOR_NUMBER(name, ...) CUDA_DOOR_##name,
	CUDA_OTHER_DOORS(CUDA_DOOR_NUMBER) CUDA_PASSING_DOORS(CUDA_DOOR_NUMBER)
		CUDA_GRAPH_DOORS(CUDA_DOOR_NUMBER) CUDA_MEMORY_DOORS(CUDA_DOOR_NUMBER) CUDA_DOORS,
};

/* ---- cuda_inner.c ---- */

/* The function of CUDA behind a wrapper. */
#define CUDA_REAL(name) ((__typeof__(&(name)))door_real(&cuda_doors, CUDA_DOOR_##name))
extern struct door_library cuda_doors;

#define CUDA_INNER(FUNCTION)                                                                       \
	FUNCTION(cuGraphClone, (cuda_graph * clone, cuda_graph graph))                             \
	FUNCTION(cuGraphGetNodes, (cuda_graph graph, cuda_node * nodes, size_t * count))           \
	FUNCTION(cuGraphGetEdges_v2, (cuda_graph graph, cuda_node * from, cuda_node * to,          \
				      struct cuda_edge_data * data, size_t * count))               \
	FUNCTION(cuGraphNodeGetType, (cuda_node node, uint32_t * type))                            \
	FUNCTION(cuGraphChildGraphNodeGetGraph, (cuda_node node, cuda_graph * graph))              \
	FUNCTION(cuGraphKernelNodeGetParams_v2,                                                    \
		 (cuda_node node, struct cuda_kernel_node_params * params))                        \
	FUNCTION(cuGraphKernelNodeGetAttribute,                                                    \
		 (cuda_node node, uint32_t attribute, union cuda_attribute_value * value))         \
	FUNCTION(cuGraphMemcpyNodeGetParams, (cuda_node node, struct cuda_memcpy3d * params))      \
	FUNCTION(cuGraphMemsetNodeGetParams,                                                       \
		 (cuda_node node, struct cuda_memset_node_params * params))                        \
	FUNCTION(cuGraphHostNodeGetParams,                                                         \
		 (cuda_node node, struct cuda_host_node_params * params))                          \
	FUNCTION(cuEventCreate, (cuda_event * event, unsigned int flags))                          \
	FUNCTION(cuEventDestroy_v2, (cuda_event event))                                            \
	FUNCTION(cuEventRecord, (cuda_event event, cuda_stream stream))                            \
	FUNCTION(cuStreamWaitEvent, (cuda_stream stream, cuda_event event, unsigned int flags))    \
	FUNCTION(cuStreamIsCapturing, (cuda_stream stream, uint32_t * status))                     \
	FUNCTION(cuThreadExchangeStreamCaptureMode, (uint32_t * mode))                             \
	FUNCTION(cuCtxGetCurrent, (cuda_context * context))                                        \
	FUNCTION(cuCtxSetCurrent, (cuda_context context))                                          \
	FUNCTION(cuKernelGetFunction, (cuda_function * function, cuda_kernel kernel))              \
	FUNCTION(cuFuncGetParamInfo,                                                               \
		 (cuda_function function, size_t index, size_t * offset, size_t * bytes))          \
	FUNCTION(cuGetErrorName, (int error, const char **name))

#define CUDA_INNER_POINTER(name, parameters) int(*name) parameters;

/* Constant after cuda_inner_open. */
struct cuda_inner {
	CUDA_INNER(CUDA_INNER_POINTER)
	/* NULL: what an address belongs to is not known */
	int (*cuPointerGetAttribute)(void *data, int attribute, cuda_address address);
	/* NULL: what module a function belongs to is not known */
	int (*cuFuncGetModule)(void **module, cuda_function function);
};
extern struct cuda_inner cuda_inner;

/* Finds all functions. False: this driver is passed through; it is older than CUDA 12.4. */
bool cuda_inner_open(void);

/* ---- cuda_open.c ---- */

/* False: this driver is passed through, or everything of CUDA is. */
bool cuda_is_open(void);

/* The program may change executables by calls that are not known: all of them pass through, and no
 * more are made virtual. Does nothing if everything passes. */
void cuda_pass_all(void);

/* The program's call will destroy the functions of MODULE, or of any if it is NULL; their handles
 * may then mean other ones. Does nothing if everything passes. */
void cuda_forget_functions(void *module);

/* ---- cuda_vendor.c ---- */

extern const struct preload_vendor cuda_vendor;

/* ---- cuda_proc.c ---- */

/* The program has got a function of this name that is not wrapped. */
void cuda_unwrapped(const char *name);

/* ---- cuda_image.c ---- */

/* What an address belongs to: a number that no other allocation of the process has. */
struct cuda_buffer {
	uint64_t id;
};

/* Images are zeroed before they are filled, because they are compared byte by byte. Each begins
 * with its door (enum cuda_door). */
struct cuda_image {
	uint32_t door;
	uint32_t unused;
	struct cuda_buffer dst, src;
	cuda_context context;
	union {
		struct cuda_memcpy3d copy;
		struct cuda_memset_node_params memset;
		struct cuda_host_node_params host;
		cuda_event event;
		unsigned int is_enabled;
	} u;
};

/* Where an argument is in its kernel's block. */
struct cuda_argument {
	uint16_t offset, bytes;
};

/* The same for a kernel. */
struct cuda_kernel_image {
	uint32_t door;
	uint32_t count;	   /* number of arguments */
	uint32_t bytes;	   /* size of the block */
	uint32_t is_block; /* the arguments were given by `extra` */
	uint64_t epoch;	   /* a handle may mean another function after an unload */
	cuda_function func;
	cuda_kernel kern;
	cuda_context context;
	unsigned int dimensions[6], shared_bytes;
	/* the block, then struct cuda_argument for each */
	uint64_t block[];
};

/* Creates what the images of kernels need. -ENOMEM. */
int cuda_images_open(void);

/* Appends the image of a kernel to V's scratch. Returns its size, or 0: what the arguments are is
 * not known, or there is no memory. */
uint32_t cuda_image_kernel(struct virtual *v, const struct cuda_kernel_node_params *params);

/* Whether an image (struct image.data) is that of a kernel with these arguments. */
bool cuda_image_is_kernel(const void *data, const struct cuda_kernel_node_params *params);

/* The addresses of a copy, on the host or a device. */
cuda_address cuda_copy_src(const struct cuda_memcpy3d *params);
cuda_address cuda_copy_dst(const struct cuda_memcpy3d *params);

/* Whether an image (struct image.data) that was made while all was known is that of a copy with
 * these parameters, and its addresses still belong to the same memory. */
bool cuda_image_is_copy(struct virtual *v, const void *data, const struct cuda_memcpy3d *params,
			cuda_context context);

/* Fill an image. Return false if the driver does not tell what the addresses belong to. */
bool cuda_image_copy(struct virtual *v, const struct cuda_memcpy3d *params, cuda_context context,
		     struct cuda_image *image);
bool cuda_image_memset(struct virtual *v, const struct cuda_memset_node_params *params,
		       cuda_context context, struct cuda_image *image);

/* Functions will be destroyed: their handles may be used again, for functions with other
 * parameters. */
void cuda_images_forget_functions(void);

/* Makes the noted call again (preload_vendor.apply). */
int cuda_image_apply(const void *data, void *child, void *exec, void *node);

/* ---- cuda_memory.c ---- */

/* Finds what an address belongs to. False: the driver does not tell. V is locked. */
bool cuda_find_buffer(struct virtual *v, cuda_address address, struct cuda_buffer *buffer);

/* A call has returned that may have ended allocations. Any thread. */
void cuda_memory_ended(void);

/* The program may end allocations by a call that is not wrapped: the driver is asked each time, for
 * good. Takes no lock. */
void cuda_memory_unknown_call(void);

/* ---- cuda_child.c ---- */

/* Appends the image of a call that sets a child graph to GRAPH, all that it contains, to V's
 * scratch. What cannot be read gets a number that is used once, so that the image equals no other
 * one. Returns the size, or 0: no memory. *RET_IS_KNOWN: as cuda_image_copy. *RET_SEEN, zeroed: its
 * graph is filled if the image can be remembered for it. */
uint32_t cuda_image_child(struct virtual *v, cuda_graph graph, struct seen_child *ret_seen,
			  bool *ret_is_known);

/* Returns what V remembers of NODE set to GRAPH, or NULL: it has to be read. */
const struct seen_child *cuda_child_seen(struct virtual *v, cuda_node node, cuda_graph graph);

#endif
