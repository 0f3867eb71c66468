/* The function table of the CUDA driver, and the device: its contexts, memory and marks. Graphs are
 * in cuda_graph.c, nodes in cuda_node.c, captures in cuda_capture.c, the table of addresses in
 * cuda_table.c. */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "patch/cuda/cuda_driver.h"
#include "patch/cuda/cuda_kernels.h"

#define DEFAULT_LIBRARY "libcuda.so.1"

_Static_assert(sizeof(struct condition) == sizeof(struct patch_condition_arguments) &&
		       CONDITION_CASE == DAGPATCH_CASE,
	       "the kernel reads what the core writes");

extern const char cuda_kernels_ptx[];

/* ---- the thread's context ---- */

/* cuCtxSetCurrent replaces the top of the thread's stack of contexts, or pushes onto an empty
 * stack; setting NULL pops. So leave restores whatever was current before. */
static int enter(struct patch_device *device, uintptr_t *ret_before)
{
	struct cuda_driver *cuda = cuda_of(device);
	cuda_context now = NULL;
	int err = CUDA_CALL(cuda, cuCtxGetCurrent, &now);

	if (!err && now != cuda->context)
		err = CUDA_CALL(cuda, cuCtxSetCurrent, cuda->context);
	if (!err)
		*ret_before = (uintptr_t)now;
	return err;
}

static void leave(struct patch_device *device, uintptr_t before)
{
	struct cuda_driver *cuda = cuda_of(device);

	if ((cuda_context)before != cuda->context)
		cuda->call.cuCtxSetCurrent((cuda_context)before);
}

static void settle(struct patch_device *device)
{
	struct cuda_driver *cuda = cuda_of(device);

	cuda->call.cuCtxSetCurrent(cuda->context);
}

/* dagpatch's context is current before and after. */
static int context_device(struct cuda_driver *cuda, cuda_context context, int *ret_ordinal)
{
	cuda_device device;
	int err = CUDA_CALL(cuda, cuCtxSetCurrent, context);

	if (err)
		return err;
	err = CUDA_CALL(cuda, cuCtxGetDevice, &device);
	cuda->call.cuCtxSetCurrent(cuda->context);
	if (!err)
		*ret_ordinal = (int)device;
	return err;
}

static int stream_device(struct patch_device *device, struct driver_stream *stream,
			 int *ret_ordinal)
{
	struct cuda_driver *cuda = cuda_of(device);
	cuda_context context = cuda->context;
	int err = 0;

	if (cuda->device_count > 1 && (uintptr_t)stream > CUDA_STREAM_PER_THREAD)
		err = CUDA_CALL(cuda, cuStreamGetCtx, (cuda_stream)stream, &context);
	if (!err && context != cuda->context)
		return context_device(cuda, context, ret_ordinal);
	*ret_ordinal = device->ordinal;
	return err;
}

/* ---- opening ---- */

__attribute__((format(printf, 3, 4))) static int complain(struct dagpatch_error *error, int result,
							  const char *format, ...)
{
	va_list values;

	if (!error)
		return -ENOENT;
	*error = (struct dagpatch_error){
		.code = -ENOENT,
		.driver_code = result,
		.node = DAGPATCH_NONE,
		.byte = DAGPATCH_NONE,
	};
	va_start(values, format);
	vsnprintf(error->message, sizeof(error->message), format, values);
	va_end(values);
	return -ENOENT;
}

#define CUDA_FUNCTION_NAME(name, parameters) #name,

static const char *const function_names[] = {CUDA_FUNCTIONS(CUDA_FUNCTION_NAME)};

#define FUNCTION_COUNT (sizeof(function_names) / sizeof(*function_names))

_Static_assert(sizeof(struct cuda_functions) == FUNCTION_COUNT * sizeof(void *),
	       "functions are loaded as an array");

static int load_functions(struct cuda_driver *cuda, const char *path, struct dagpatch_error *error)
{
	void **functions = (void **)&cuda->call;

	/* libcuda has threads of its own, so it must never be unloaded. */
	cuda->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!cuda->library)
		return complain(error, 0, "%s", dlerror());
	for (size_t i = 0; i < FUNCTION_COUNT; i++) {
		functions[i] = dlsym(cuda->library, function_names[i]);
		if (!functions[i])
			return complain(error, 0,
					"%s has no %s: install a driver for CUDA 12.4 or later",
					path, function_names[i]);
	}
	return 0;
}

/* Uses the thread's context or, if it has none, the primary context of the first device. A primary
 * context is retained, because the program may release it while recordings still need it. */
static int find_context(struct cuda_driver *cuda)
{
	cuda_device device = 0;
	cuda_context primary = NULL;
	unsigned int flags;
	int is_active = 1;
	int err = CUDA_CALL(cuda, cuCtxGetCurrent, &cuda->context);

	if (!err)
		err = cuda->context ? CUDA_CALL(cuda, cuCtxGetDevice, &device)
				    : CUDA_CALL(cuda, cuDeviceGet, &device, 0);
	cuda->base.ordinal = (int)device;
	if (!err && cuda->context)
		err = CUDA_CALL(cuda, cuDevicePrimaryCtxGetState, device, &flags, &is_active);
	if (err || !is_active)
		return err;
	err = CUDA_CALL(cuda, cuDevicePrimaryCtxRetain, &primary, device);
	if (err)
		return err;
	if (!cuda->context)
		cuda->context = primary;
	cuda->is_retained = primary == cuda->context;
	return cuda->is_retained ? 0 : CUDA_CALL(cuda, cuDevicePrimaryCtxRelease_v2, device);
}

static int load_kernels(struct cuda_driver *cuda)
{
	uintptr_t before;
	int err = enter(&cuda->base, &before);

	if (err)
		return err;
	err = CUDA_CALL(cuda, cuLibraryLoadData, &cuda->kernels, cuda_kernels_ptx, NULL, NULL, 0,
			NULL, NULL, 0);
	leave(&cuda->base, before);
	return err;
}

static int start(struct cuda_driver *cuda, const char *path, struct dagpatch_error *error)
{
	struct patch_fault fault;
	int err = CUDA_CALL(cuda, cuInit, 0);

	if (!err)
		err = CUDA_CALL(cuda, cuDriverGetVersion, &cuda->version);
	if (!err && cuda->version < CUDA_LEAST_VERSION)
		return complain(error, 0,
				"%s is a driver for CUDA %d.%d: install one for 12.4 or later",
				path, cuda->version / 1000, cuda->version % 1000 / 10);
	if (!err)
		err = CUDA_CALL(cuda, cuDeviceGetCount, &cuda->device_count);
	if (!err)
		err = find_context(cuda);
	if (!err)
		err = load_kernels(cuda);
	if (!err)
		return 0;
	fault = patch_fault_take();
	return complain(error, fault.code, "%s: GPU %d does not start: %s: %d %s%s", path,
			cuda->base.ordinal, fault.call, fault.code, fault.text,
			fault.code == CUDA_NO_DEVICE ? ": there is no GPU" : "");
}

static void release_device(struct cuda_driver *cuda)
{
	uintptr_t before;
	bool is_inside = enter(&cuda->base, &before) == 0;

	cuda_relax(cuda);
	cuda_capture_release(cuda);
	if (cuda->kernels)
		cuda->call.cuLibraryUnload(cuda->kernels);
	if (is_inside)
		leave(&cuda->base, before);
	if (cuda->is_retained)
		cuda->call.cuDevicePrimaryCtxRelease_v2((cuda_device)cuda->base.ordinal);
	cuda_unrelax(cuda, CUDA_OK);
}

static void cuda_close(struct patch_device *device)
{
	struct cuda_driver *cuda = cuda_of(device);

	if (cuda->context)
		release_device(cuda);
	if (cuda->library)
		dlclose(cuda->library);
	pthread_mutex_destroy(&cuda->lock);
	free(cuda);
}

static int cuda_open(const struct dagpatch_options *options, struct patch_device **ret_device,
		     struct dagpatch_error *error)
{
	const char *path = options->library ? options->library : DEFAULT_LIBRARY;
	struct cuda_driver *cuda = calloc(1, sizeof(*cuda));
	int err;

	if (!cuda)
		return -ENOMEM;
	pthread_mutex_init(&cuda->lock, NULL);
	cuda->base.driver = &patch_driver_cuda;
	cuda->base.capabilities = PATCH_HAS_TABLE | PATCH_HAS_CONDITIONALS | PATCH_HAS_LAYOUTS |
				  PATCH_SETS_NESTED | PATCH_KEEPS_EXECS | PATCH_KEEPS_NO_TABLES;
	cuda->base.attributes =
		DAGPATCH_PRIORITY | DAGPATCH_COOPERATIVE | DAGPATCH_CLUSTER | DAGPATCH_PROGRAMMATIC;
	err = load_functions(cuda, path, error);
	if (!err) {
		cuda_relax(cuda);
		err = start(cuda, path, error);
		cuda_unrelax(cuda, CUDA_OK);
	}
	if (err) {
		cuda_close(&cuda->base);
		return err;
	}
	if (cuda->version >= CUDA_WITH_SWITCH)
		cuda->base.capabilities |= PATCH_HAS_CASES;
	*ret_device = &cuda->base;
	return 0;
}

/* ---- memory, kernels ---- */

static int cuda_memory_alloc(struct patch_device *device, uint64_t bytes, bool on_host,
			     void **ret_address)
{
	struct cuda_driver *cuda = cuda_of(device);
	cuda_address address;
	int err;

	if (on_host)
		return CUDA_RELAXED(cuda, cuMemHostAlloc, ret_address, bytes,
				    CUDA_HOST_PORTABLE | CUDA_HOST_MAPPED);
	err = CUDA_RELAXED(cuda, cuMemAlloc_v2, &address, bytes);
	if (!err)
		*ret_address = (void *)address;
	return err;
}

static void cuda_memory_free(struct patch_device *device, void *address, bool on_host)
{
	struct cuda_driver *cuda = cuda_of(device);

	cuda_relax(cuda);
	if (on_host)
		cuda->call.cuMemFreeHost(address);
	else
		cuda->call.cuMemFree_v2(cuda_address_of(address));
	cuda_unrelax(cuda, CUDA_OK);
}

static int cuda_copy_async(struct patch_device *device, void *dst, const void *src, uint64_t bytes,
			   struct driver_stream *stream)
{
	struct cuda_driver *cuda = cuda_of(device);

	return CUDA_CALL(cuda, cuMemcpyAsync, cuda_address_of(dst), cuda_address_of(src), bytes,
			 (cuda_stream)stream);
}

/* FUNCTION is a CUfunction or a CUkernel: tries both. */
static int cuda_kernel_name(struct patch_device *device, void *function, char *text, size_t size)
{
	struct cuda_driver *cuda = cuda_of(device);
	const char *name = NULL;
	int err = cuda->call.cuFuncGetName(&name, function);

	if (err != CUDA_OK)
		err = cuda->call.cuKernelGetName(&name, function);
	if (err == CUDA_OK && name)
		snprintf(text, size, "%s", name);
	return cuda_check(cuda, "cuFuncGetName", err);
}

/* ---- marks: events ---- */

static int cuda_mark_record(struct patch_device *device, struct driver_mark **mark,
			    struct driver_stream *stream)
{
	struct cuda_driver *cuda = cuda_of(device);
	int err = 0;

	if (!*mark)
		err = CUDA_CALL(cuda, cuEventCreate, (cuda_event *)mark, CUDA_EVENT_NO_TIMING);
	if (!err)
		err = CUDA_CALL(cuda, cuEventRecord, (cuda_event)*mark, (cuda_stream)stream);
	return err;
}

static int cuda_mark_order(struct patch_device *device, struct driver_mark *mark,
			   struct driver_stream *stream)
{
	struct cuda_driver *cuda = cuda_of(device);

	return CUDA_CALL(cuda, cuStreamWaitEvent, (cuda_stream)stream, (cuda_event)mark, 0);
}

static bool cuda_mark_is_done(struct patch_device *device, struct driver_mark *mark)
{
	struct cuda_driver *cuda = cuda_of(device);

	cuda_relax(cuda);
	return cuda_unrelax(cuda, cuda->call.cuEventQuery((cuda_event)mark)) == CUDA_OK;
}

static void cuda_mark_wait(struct patch_device *device, struct driver_mark *mark)
{
	struct cuda_driver *cuda = cuda_of(device);

	cuda_relax(cuda);
	cuda_unrelax(cuda, cuda->call.cuEventSynchronize((cuda_event)mark));
}

static void cuda_mark_destroy(struct patch_device *device, struct driver_mark *mark)
{
	cuda_of(device)->call.cuEventDestroy_v2((cuda_event)mark);
}

static void cuda_wait_all(struct patch_device *device)
{
	struct cuda_driver *cuda = cuda_of(device);

	cuda_relax(cuda);
	cuda_unrelax(cuda, cuda->call.cuCtxSynchronize());
}

const struct patch_driver patch_driver_cuda = {
	.name = "cuda",
	.open = cuda_open,
	.close = cuda_close,
	.measure = cuda_measure,
	.enter = enter,
	.leave = leave,
	.settle = settle,
	.stream_device = stream_device,
	.memory_alloc = cuda_memory_alloc,
	.memory_free = cuda_memory_free,
	.copy_async = cuda_copy_async,
	.kernel_name = cuda_kernel_name,
	.mark_record = cuda_mark_record,
	.mark_order = cuda_mark_order,
	.mark_is_done = cuda_mark_is_done,
	.mark_wait = cuda_mark_wait,
	.mark_destroy = cuda_mark_destroy,
	.wait_all = cuda_wait_all,
	.kernel_parameters = cuda_kernel_parameters,
	.capture_begin = cuda_capture_begin,
	.capture_end = cuda_capture_end,
	.stream_is_captured = cuda_stream_is_captured,
	.capturing_get = cuda_capturing_get,
	.capturing_continue = cuda_capturing_continue,
	.graph_create = cuda_graph_create,
	.graph_destroy = cuda_graph_destroy,
	.graph_clone = cuda_graph_clone,
	.graph_nodes = cuda_graph_nodes,
	.graph_edges = cuda_graph_edges,
	.node_get = cuda_node_get,
	.node_add = cuda_node_add,
	.node_set = cuda_node_set,
	.attributes_set = cuda_attributes_set,
	.graph_has_priority = cuda_graph_has_priority,
	.child_graph = cuda_child_graph,
	.condition_create = cuda_condition_create,
	.condition_kernel = cuda_condition_kernel,
	.conditional_add = cuda_conditional_add,
	.instantiate = cuda_instantiate,
	.exec_destroy = cuda_exec_destroy,
	.exec_set = cuda_exec_set,
	.exec_update = cuda_exec_update,
	.launch = cuda_launch,
	.table_create = cuda_table_create,
	.table_attach = cuda_table_attach,
	.table_is_idle = cuda_table_is_idle,
	.table_destroy = cuda_table_destroy,
	.table_bytes = cuda_table_bytes,
	.table_bind = cuda_table_bind,
};
