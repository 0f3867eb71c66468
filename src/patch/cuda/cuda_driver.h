/* The CUDA driver of dagpatch: libcuda.so.1 through its driver API; the runtime API is not used.
 * driver_cuda.c has the driver's function table; cuda_call.c has what all files call; cuda_graph.c
 * has graphs; cuda_node.c and cuda_node_get.c convert images into CUDA's structs and back;
 * cuda_table.c is the table from which kernel nodes take their addresses.
 *
 * Functions named cuda_<x> that have the parameters of struct patch_driver's <x> fulfil its
 * contract (driver.h). */
#ifndef DAGPATCH_PATCH_CUDA_H
#define DAGPATCH_PATCH_CUDA_H

#include <pthread.h>

#include "patch/driver.h"
#include "vendor/cuda_types.h"

#define CUDA_FUNCTION_POINTER(name, parameters) int(*name) parameters;

/* The functions that are called, loaded by name. */
struct cuda_functions {
	CUDA_FUNCTIONS(CUDA_FUNCTION_POINTER)
};

struct cuda_idle_stream;

/* A CUDA device as a driver sees it. */
struct cuda_driver {
	struct patch_device base;
	struct cuda_functions call; /* filled at opening, constant afterwards */
	void *library;
	int version; /* as cuDriverGetVersion returns it */
	int device_count;
	cuda_context context; /* current in every call except open and close */
	bool is_retained;     /* the context is the device's primary one, which is retained */
	cuda_library kernels; /* the module of cuda_kernels.cu */
	pthread_mutex_t lock; /* protects the following fields */
	struct cuda_idle_stream *idle; /* streams to capture on */
	/* list; also read without the lock, to see whether there are any */
	struct driver_table *tables;
};

/* ---- cuda_call.c ---- */

/* Passes RESULT to patch_fault. Returns the negative errno for it. */
int cuda_fault(struct cuda_driver *cuda, const char *call, int result);

/* 0, or what cuda_fault returns. */
static inline int cuda_check(struct cuda_driver *cuda, const char *call, int err)
{
	return err == CUDA_OK ? 0 : cuda_fault(cuda, call, err);
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

/* While any stream is being captured, by whichever thread, CUDA refuses calls that allocate or
 * free memory, instantiate, destroy, wait or query, and then ends that capture. From cuda_relax to
 * cuda_unrelax, which returns RESULT, the calling thread may make such calls. The two do not
 * nest. */
void cuda_relax(struct cuda_driver *cuda);
int cuda_unrelax(struct cuda_driver *cuda, int result);
#define CUDA_RELAXED(cuda, name, ...)                                                              \
	(cuda_relax(cuda),                                                                         \
	 cuda_check(cuda, #name, cuda_unrelax(cuda, (cuda)->call.name(__VA_ARGS__))))

/* As driver.h says. Uses only cuFuncGetParamInfo and cuGetErrorName of CUDA's functions. */
int cuda_kernel_parameters(struct patch_device *device, void *function,
			   struct dagpatch_parameter *ret_parameters, uint32_t capacity);

/* Finds one of dagpatch's own kernels (cuda_kernels.h has the names). */
int cuda_kernel_find(struct cuda_driver *cuda, const char *name, cuda_function *ret_function);

/* ---- cuda_capture.c (the contracts are in patch/driver.h) ---- */

/* Destroys the streams that captures were made on. */
void cuda_capture_release(struct cuda_driver *cuda);
int cuda_capture_begin(struct patch_device *device, struct driver_stream **ret_stream);
int cuda_capture_end(struct patch_device *device, struct driver_stream *stream,
		     struct driver_graph **ret_graph);
int cuda_stream_is_captured(struct patch_device *device, struct driver_stream *stream);
int cuda_capturing_get(struct patch_device *device, struct driver_stream *stream,
		       struct patch_capturing *ret_capturing);
int cuda_capturing_continue(struct patch_device *device, struct driver_stream *stream,
			    struct driver_node *const *nodes, uint32_t count);

/* ---- cuda_graph.c (the contracts are in patch/driver.h) ---- */

int cuda_graph_create(struct patch_device *device, struct driver_graph **ret_graph);
void cuda_graph_destroy(struct patch_device *device, struct driver_graph *graph);
int cuda_graph_clone(struct patch_device *device, struct driver_graph *graph,
		     struct driver_graph **ret_clone);
int cuda_graph_nodes(struct patch_device *device, struct driver_graph *graph,
		     struct driver_node **ret_nodes, uint32_t capacity);
int cuda_graph_edges(struct patch_device *device, struct driver_graph *graph,
		     struct driver_node **ret_from, struct driver_node **ret_to, uint32_t capacity);
int cuda_child_graph(struct patch_device *device, struct driver_node *node,
		     struct driver_graph **ret_graph);
int cuda_condition_create(struct patch_device *device, struct driver_graph *graph,
			  uint64_t *ret_handle);
int cuda_condition_kernel(struct patch_device *device, void **ret_function);
int cuda_instantiate(struct patch_device *device, struct driver_graph *graph, bool by_priorities,
		     struct driver_exec **ret_exec);
void cuda_exec_destroy(struct patch_device *device, struct driver_exec *exec);
int cuda_exec_update(struct patch_device *device, struct driver_exec *exec,
		     struct driver_graph *graph);
int cuda_launch(struct patch_device *device, struct driver_exec *exec, struct driver_table *table,
		struct driver_stream *stream);

/* ---- cuda_node.c, cuda_node_get.c (the contracts are in patch/driver.h) ---- */

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

/* ---- cuda_costs.c (the contracts are in patch/driver.h) ---- */

int cuda_measure(struct patch_device *device, struct patch_costs *ret_costs);

/* ---- cuda_attributes.c (the contracts are in patch/driver.h) ---- */

int cuda_attributes_set(struct patch_device *device, struct driver_node *node,
			const struct dagpatch_attributes *attributes);
int cuda_graph_has_priority(struct patch_device *device, struct driver_graph *graph);

/* Makes NODE, a kernel that was added without dependencies, wait for AFTER; for kernels among
 * these as ATTRIBUTES say. */
int cuda_add_programmatic(struct cuda_driver *cuda, cuda_node node, cuda_graph graph,
			  const cuda_node *after, uint32_t count,
			  const struct dagpatch_attributes *attributes);

/* ---- cuda_table.c (the contracts are in patch/driver.h) ---- */

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

/* cuda_table_flags returns the flags to instantiate GRAPH with, which may have a table.
 * cuda_table_refused notes that CUDA refused these flags. */
unsigned long long cuda_table_flags(struct cuda_driver *cuda, cuda_graph graph);
void cuda_table_refused(struct cuda_driver *cuda, cuda_graph graph);

/* Forgets EXEC, which is being destroyed, because CUDA uses handles again. */
void cuda_table_exec_gone(struct cuda_driver *cuda, cuda_exec exec);

/* Launches EXEC with its table. Called by one thread at a time for one table. */
int cuda_table_launch(struct cuda_driver *cuda, struct driver_table *table, cuda_exec exec,
		      cuda_stream stream);

/* Call before the host sets a kernel node of EXEC. If EXEC has a table, waits until no replay is
 * patching nodes, and makes the next launch apply the table again. */
int cuda_table_give_way(struct cuda_driver *cuda, cuda_exec exec);

#endif
