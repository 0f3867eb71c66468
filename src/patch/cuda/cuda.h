/* The CUDA driver: libcuda.so.1 by its driver API, nothing of the runtime's. driver_cuda.c is its
 * table; cuda_node.c turns images into the driver's structs and back; cuda_table.c is the table
 * that kernel nodes take their addresses from. */
#ifndef DAGPATCH_PATCH_CUDA_H
#define DAGPATCH_PATCH_CUDA_H

#include <pthread.h>

#include "patch/driver.h"
#include "vendor/cuda_types.h"

#define CUDA_FUNCTION_POINTER(name, parameters) int(*name) parameters;

struct cuda_functions {
	CUDA_FUNCTIONS(CUDA_FUNCTION_POINTER)
};

struct cuda_idle_stream;

struct cuda_driver {
	struct patch_device base;
	struct cuda_functions call;
	void *library;
	int version;
	int device_count;
	cuda_context context; /* every call's but open's and close's */
	bool is_retained;     /* it is the device's primary one */
	cuda_library kernels; /* cuda_kernels.cu */
	pthread_mutex_t lock; /* of what follows */
	struct cuda_idle_stream *idle;
	struct driver_table *tables;
};

/* Notes the fault; a negative errno. */
int cuda_fault(struct cuda_driver *cuda, const char *call, int result);

static inline int cuda_check(struct cuda_driver *cuda, const char *call, int result)
{
	return result == CUDA_OK ? 0 : cuda_fault(cuda, call, result);
}

#define CUDA_CALL(cuda, name, ...) cuda_check(cuda, #name, (cuda)->call.name(__VA_ARGS__))

static inline struct cuda_driver *cuda_of(struct patch_device *device)
{
	return (struct cuda_driver *)device;
}

static inline cuda_address cuda_address_of(const void *memory)
{
	return (uintptr_t)memory;
}

/* One of our kernels. */
int cuda_kernel_find(struct cuda_driver *cuda, const char *name, cuda_function *ret_function);
/* A node's list from one of the functions that count first: of malloc, NULL when there is none. */
int cuda_roots(struct cuda_driver *cuda, cuda_graph graph, cuda_node **ret_nodes,
	       size_t *ret_count);

/* ---- cuda_capture.c ---- */

/* What CUDA refuses while a stream is captured, of whomever, and then ends that capture for:
 * memory, instantiating, destroying, waiting and asking. Allowed from here to cuda_unrelax, which
 * returns RESULT. They do not nest. */
void cuda_relax(struct cuda_driver *cuda);
int cuda_unrelax(struct cuda_driver *cuda, int result);
#define CUDA_RELAXED(cuda, name, ...)                                                              \
	(cuda_relax(cuda),                                                                         \
	 cuda_check(cuda, #name, cuda_unrelax(cuda, (cuda)->call.name(__VA_ARGS__))))
/* Streams that captures were made with. */
void cuda_capture_release(struct cuda_driver *cuda);
int cuda_capture_begin(struct patch_device *device, struct driver_stream **ret_stream);
int cuda_capture_end(struct patch_device *device, struct driver_stream *stream,
		     struct driver_graph **ret_graph);
int cuda_stream_is_captured(struct patch_device *device, struct driver_stream *stream);
int cuda_capturing_get(struct patch_device *device, struct driver_stream *stream,
		       struct patch_capturing *ret_capturing);
int cuda_capturing_continue(struct patch_device *device, struct driver_stream *stream,
			    struct driver_node *const *nodes, uint32_t count);

/* ---- cuda_node.c ---- */

int cuda_node_get(struct patch_device *device, struct driver_graph *graph, struct driver_node *node,
		  struct patch_image *image);
int cuda_node_add(struct patch_device *device, struct driver_graph *graph,
		  const struct patch_params *params, struct driver_node *const *after,
		  uint32_t after_count, struct driver_node **ret_node);
int cuda_node_set(struct patch_device *device, struct driver_node *node,
		  const struct patch_params *params);
int cuda_exec_set(struct patch_device *device, struct driver_exec *exec, struct driver_node *node,
		  const struct patch_params *params);
int cuda_conditional_add(struct patch_device *device, struct driver_graph *graph, uint64_t handle,
			 enum dagpatch_condition condition, uint32_t body_count,
			 struct driver_node *const *after, uint32_t after_count,
			 struct driver_node **ret_node, struct driver_graph **ret_bodies);

/* ---- cuda_costs.c ---- */

int cuda_measure(struct patch_device *device, struct patch_costs *ret_costs);

/* ---- cuda_attributes.c ---- */

int cuda_attributes_set(struct patch_device *device, struct driver_node *node,
			const struct dagpatch_attributes *attributes);
int cuda_graph_has_priority(struct patch_device *device, struct driver_graph *graph);
/* NODE, a kernel that was added without dependencies, waits for these, for kernels as ATTRIBUTES
 * say. */
int cuda_add_programmatic(struct cuda_driver *cuda, cuda_node node, cuda_graph graph,
			  const cuda_node *after, uint32_t count,
			  const struct dagpatch_attributes *attributes);

/* ---- cuda_table.c ---- */

int cuda_table_create(struct patch_device *device, struct driver_graph *graph,
		      const struct patch_table_plan *plan, struct driver_table **ret_table);
int cuda_table_attach(struct patch_device *device, struct driver_table *table,
		      struct driver_exec *exec);
bool cuda_table_is_idle(struct patch_device *device, struct driver_table *table);
void cuda_table_bytes(const struct driver_table *table, uint64_t *ret_device_bytes,
		      uint64_t *ret_pinned_bytes);
void cuda_table_destroy(struct patch_device *device, struct driver_table *table);
int cuda_table_bind(struct patch_device *device, struct driver_table *table, const uint32_t *slots,
		    const uint64_t *addresses, uint32_t count);
/* How to instantiate GRAPH, which may have a table; and that this was refused. */
unsigned long long cuda_table_flags(struct cuda_driver *cuda, cuda_graph graph);
void cuda_table_refused(struct cuda_driver *cuda, cuda_graph graph);
/* Handles are used again. */
void cuda_table_exec_gone(struct cuda_driver *cuda, cuda_exec exec);
int cuda_table_launch(struct cuda_driver *cuda, struct driver_table *table, cuda_exec exec,
		      cuda_stream stream);
/* Before the host sets a kernel node of EXEC: where that has a table, waits until no replay patches
 * nodes, and has the next launch apply the table again. */
int cuda_table_give_way(struct cuda_driver *cuda, cuda_exec exec);

#endif
