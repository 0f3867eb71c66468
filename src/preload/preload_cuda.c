/* The doors of CUDA's driver API. An image is struct cuda_image: the call's own structs, and a
 * kernel's arguments as a block with their offsets. docs/dagpatch-preload.md has the table of all
 * graph calls. */
#include <stdlib.h>
#include <string.h>

#include "patch/cuda/cuda_driver.h"
#include "patch/layout.h"
#include "preload/cuda_doors.h"
#include "preload/doors.h"
#include "preload/virtual.h"

enum {
	NOT_FOUND = 500,      /* CUDA_ERROR_NOT_FOUND */
	FLAG_UPLOAD = 2,      /* of cuGraphInstantiateWithParams */
	ATTRIBUTE_BUFFER = 7, /* CU_POINTER_ATTRIBUTE_BUFFER_ID */
	LEGACY_STREAM = 1,
};

#define CUDA_PROTOTYPE(name, parameters, ...) DOOR_EXPORT int name parameters;
CUDA_OTHER_DOORS(CUDA_PROTOTYPE)
CUDA_PASSING_DOORS(CUDA_PROTOTYPE)

enum cuda_door {
#define CUDA_DOOR_NUMBER(name, ...) CUDA_DOOR_##name,
	CUDA_OTHER_DOORS(CUDA_DOOR_NUMBER) CUDA_PASSING_DOORS(CUDA_DOOR_NUMBER) CUDA_DOORS,
};

static struct door doors[CUDA_DOORS] = {
#define CUDA_DOOR(name, ...) {#name, (void *)name, NULL},
	CUDA_OTHER_DOORS(CUDA_DOOR) CUDA_PASSING_DOORS(CUDA_DOOR)};

struct door_library door_cuda = {"libcuda.so", doors, CUDA_DOORS, NULL};

/* The function of CUDA behind a wrapper. */
#define REAL(name) ((__typeof__(&(name)))door_real(&door_cuda, CUDA_DOOR_##name))

/* Calls CUDA's function with the program's arguments. */
#define PASS(name, ...)                                                                            \
	({                                                                                         \
		__typeof__(&(name)) real_ = REAL(name);                                            \
		real_ ? real_(__VA_ARGS__) : NOT_FOUND;                                            \
	})

/* The same for calls that set a node. */
#define PASS_SET(name, ...)                                                                        \
	({                                                                                         \
		uint64_t begin_ = preload_set_begin();                                             \
		int result_ = PASS(name, __VA_ARGS__);                                             \
                                                                                                   \
		preload_set_end(begin_);                                                           \
		result_;                                                                           \
	})

/* ---- what is called besides the doors ---- */

#define CUDA_INNER(FUNCTION)                                                                       \
	FUNCTION(cuGraphClone, (cuda_graph * clone, cuda_graph graph))                             \
	FUNCTION(cuGraphGetNodes, (cuda_graph graph, cuda_node * nodes, size_t * count))           \
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

static struct {
	CUDA_INNER(CUDA_FUNCTION_POINTER)
	/* NULL: what an address belongs to is not known */
	int (*cuPointerGetAttribute)(void *data, int attribute, cuda_address address);
} inner;

static struct cuda_driver layouts; /* only what kernels' parameters need */
static pthread_rwlock_t layouts_lock = PTHREAD_RWLOCK_INITIALIZER;
static bool layouts_are_stale; /* there was no memory for new ones */
static uint64_t epoch;	       /* number of unloaded modules; both with the lock */
static bool is_open;

static const struct patch_driver layouts_driver = {
	.name = "cuda",
	.kernel_parameters = cuda_kernel_parameters,
};

/* False: this driver is passed through; it is older than CUDA 12.4. */
/* NOLINTNEXTLINE(readability-function-size): a few statements for each function of the list */
static bool find_functions(void)
{
	void *found;

#define CUDA_FIND_INNER(name, parameters)                                                          \
	found = door_find(&door_cuda, #name);                                                      \
	memcpy(&inner.name, &found, sizeof(found));                                                \
	if (!found)                                                                                \
		return false;
	CUDA_INNER(CUDA_FIND_INNER)
	found = door_find(&door_cuda, "cuPointerGetAttribute");
	memcpy(&inner.cuPointerGetAttribute, &found, sizeof(found));
	layouts.call.cuFuncGetParamInfo = inner.cuFuncGetParamInfo;
	layouts.call.cuGetErrorName = inner.cuGetErrorName;
	return REAL(cuGraphInstantiateWithFlags) && REAL(cuGraphExecKernelNodeSetParams_v2);
}

static void open_cuda(void)
{
	layouts.base.driver = &layouts_driver;
	is_open = find_functions() && layouts_create(&layouts.base.layouts) == 0;
}

static bool cuda_is_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_cuda);
	return is_open;
}

/* ---- images ---- */

/* What an address belongs to: a number that no other allocation of the process has. */
struct buffer {
	uint64_t id;
};

/* One noted call. Zeroed before it is filled, because images are compared byte by byte. */
struct cuda_image {
	uint32_t door;	   /* enum cuda_door */
	uint32_t count;	   /* kernels: number of arguments */
	uint32_t bytes;	   /* kernels: size of the block */
	uint32_t is_block; /* kernels: the arguments were given by `extra` */
	uint64_t epoch;	   /* kernels: a handle may mean another function after an unload */
	struct buffer dst, src;
	cuda_context context;
	union {
		struct cuda_kernel_node_params kernel; /* without kernelParams and extra */
		struct cuda_memcpy3d copy;
		struct cuda_memset_node_params memset;
		struct cuda_host_node_params host;
		cuda_event event;
		unsigned int is_enabled;
	} u;
	/* kernels: the block, then the offset of each argument as uint32_t */
	uint64_t block[];
};

static int apply_kernel(const struct cuda_image *image, cuda_exec exec, cuda_node node)
{
	const uint32_t *offsets = (const uint32_t *)(image->block + (image->bytes + 7) / 8);
	struct cuda_kernel_node_params params = image->u.kernel;
	void *pointers[PATCH_PARAMETERS + 1];
	size_t bytes = image->bytes;
	void *extra[] = {CUDA_EXTRA_BUFFER, (void *)image->block, CUDA_EXTRA_SIZE, &bytes,
			 CUDA_EXTRA_END};

	for (uint32_t i = 0; i < image->count; i++)
		pointers[i] = (uint8_t *)image->block + offsets[i];
	if (image->is_block)
		params.extra = extra;
	else
		params.kernelParams = pointers;
	return REAL(cuGraphExecKernelNodeSetParams_v2)(exec, node, &params);
}

static int apply(const void *data, void *exec, void *node)
{
	const struct cuda_image *image = data;

	switch (image->door) {
	case CUDA_DOOR_cuGraphExecKernelNodeSetParams_v2:
		return apply_kernel(image, exec, node);
	case CUDA_DOOR_cuGraphExecMemcpyNodeSetParams:
		return REAL(cuGraphExecMemcpyNodeSetParams)(exec, node, &image->u.copy,
							    image->context);
	case CUDA_DOOR_cuGraphExecMemsetNodeSetParams:
		return REAL(cuGraphExecMemsetNodeSetParams)(exec, node, &image->u.memset,
							    image->context);
	case CUDA_DOOR_cuGraphExecHostNodeSetParams:
		return REAL(cuGraphExecHostNodeSetParams)(exec, node, &image->u.host);
	case CUDA_DOOR_cuGraphExecEventRecordNodeSetEvent:
		return REAL(cuGraphExecEventRecordNodeSetEvent)(exec, node, image->u.event);
	case CUDA_DOOR_cuGraphExecEventWaitNodeSetEvent:
		return REAL(cuGraphExecEventWaitNodeSetEvent)(exec, node, image->u.event);
	default:
		return REAL(cuGraphNodeSetEnabled)(exec, node, image->u.is_enabled);
	}
}

/* Finds the argument block that `extra` names. */
static const void *find_block(void **extra, size_t *ret_bytes)
{
	const void *block = NULL;

	*ret_bytes = 0;
	for (; *extra != CUDA_EXTRA_END; extra += 2) {
		if (*extra == CUDA_EXTRA_BUFFER)
			block = extra[1];
		else if (*extra == CUDA_EXTRA_SIZE)
			*ret_bytes = *(const size_t *)extra[1];
		else
			return NULL;
	}
	return *ret_bytes <= UINT16_MAX ? block : NULL;
}

/* Fills the image of a kernel with these arguments. LAYOUT is NULL if they are in BLOCK. */
static struct cuda_image *new_kernel(const struct cuda_kernel_node_params *params,
				     const struct patch_layout *layout, const void *block,
				     size_t bytes, uint32_t *ret_bytes)
{
	uint32_t count = layout ? layout->count : 0;
	size_t words = (bytes + 7) / 8 + (count + 1) / 2;
	struct cuda_image *image = calloc(1, sizeof(*image) + 8 * words);
	uint32_t *offsets;

	if (!image)
		return NULL;
	image->door = CUDA_DOOR_cuGraphExecKernelNodeSetParams_v2;
	image->count = count;
	image->bytes = (uint32_t)bytes;
	image->is_block = !layout;
	image->u.kernel.func = params->func;
	memcpy(&image->u.kernel.gridDimX, &params->gridDimX, 7 * sizeof(params->gridDimX));
	image->u.kernel.kern = params->kern;
	image->u.kernel.ctx = params->ctx;
	offsets = (uint32_t *)(image->block + (bytes + 7) / 8);
	if (block)
		memcpy(image->block, block, bytes);
	for (uint32_t i = 0; i < count; i++) {
		offsets[i] = layout->parameters[i].offset;
		memcpy((uint8_t *)image->block + offsets[i], params->kernelParams[i],
		       layout->parameters[i].bytes);
	}
	*ret_bytes = (uint32_t)(sizeof(*image) + 8 * words);
	return image;
}

/* NULL: what the arguments are is not known. */
static struct cuda_image *kernel_image(const struct cuda_kernel_node_params *params,
				       uint32_t *ret_bytes)
{
	const struct patch_layout *layout;
	struct cuda_image *image = NULL;
	cuda_function function = params->func;
	const void *block;
	size_t bytes;

	if ((params->kernelParams && params->extra) ||
	    (!function && inner.cuKernelGetFunction(&function, params->kern) != CUDA_OK))
		return NULL;
	pthread_rwlock_rdlock(&layouts_lock);
	if (!params->kernelParams && params->extra) {
		block = find_block(params->extra, &bytes);
		image = block ? new_kernel(params, NULL, block, bytes, ret_bytes) : NULL;
	} else if (!layouts_are_stale) {
		patch_layout_find(&layouts.base, function, &layout);
		if (layout && (params->kernelParams || layout->count == 0))
			image = new_kernel(params, layout, NULL, layout->bytes, ret_bytes);
	}
	if (image)
		image->epoch = epoch;
	pthread_rwlock_unlock(&layouts_lock);
	return image;
}

/* False: the driver does not tell what the address belongs to. */
static bool find_buffer(cuda_address address, struct buffer *buffer)
{
	unsigned long long id = 0;

	if (!inner.cuPointerGetAttribute ||
	    inner.cuPointerGetAttribute(&id, ATTRIBUTE_BUFFER, address) != CUDA_OK)
		return false;
	buffer->id = id;
	return true;
}

static bool find_end(uint32_t memory, const void *host, cuda_address device, struct buffer *buffer)
{
	if (memory == CUDA_MEMORY_ARRAY)
		return false;
	return find_buffer(memory == CUDA_MEMORY_HOST ? (uintptr_t)host : device, buffer);
}

/* ---- the vendor's table ---- */

static int graph_destroy(void *graph)
{
	return REAL(cuGraphDestroy)(graph);
}

static int instantiate(void **ret_exec, void *graph, unsigned long long flags)
{
	return REAL(cuGraphInstantiateWithFlags)((cuda_exec *)ret_exec, graph, flags);
}

static int exec_destroy(void *exec)
{
	return REAL(cuGraphExecDestroy)(exec);
}

static int graph_clone(void **ret_clone, void *graph)
{
	return inner.cuGraphClone((cuda_graph *)ret_clone, graph);
}

static int graph_nodes(void *graph, void **nodes, size_t *count)
{
	return inner.cuGraphGetNodes(graph, (cuda_node *)nodes, count);
}

static int event_create(void **ret_event)
{
	return inner.cuEventCreate((cuda_event *)ret_event, CUDA_EVENT_NO_TIMING);
}

static int event_destroy(void *event)
{
	return inner.cuEventDestroy_v2(event);
}

static int event_record(void *event, void *stream)
{
	return inner.cuEventRecord(event, stream);
}

static int stream_wait(void *stream, void *event)
{
	return inner.cuStreamWaitEvent(stream, event, 0);
}

/* The legacy stream cannot be captured, and asking it may end captures of other streams. */
static bool is_capturing(void *stream)
{
	uint32_t status = CUDA_CAPTURE_NONE;

	return (uintptr_t)stream > LEGACY_STREAM &&
	       inner.cuStreamIsCapturing(stream, &status) == CUDA_OK && status != CUDA_CAPTURE_NONE;
}

static uintptr_t device_current(void)
{
	cuda_context context = NULL;

	inner.cuCtxGetCurrent(&context);
	return (uintptr_t)context;
}

/* cuCtxSetCurrent replaces the top of the thread's stack of contexts, or pushes onto an empty one;
 * setting NULL pops. */
static uintptr_t enter_context(uintptr_t context)
{
	uintptr_t before = device_current();

	if (before != context)
		inner.cuCtxSetCurrent((cuda_context)context);
	return before;
}

static void leave_context(uintptr_t before)
{
	if (device_current() != before)
		inner.cuCtxSetCurrent((cuda_context)before);
}

static int relax(void)
{
	uint32_t mode = CUDA_CAPTURE_RELAXED;

	if (inner.cuThreadExchangeStreamCaptureMode(&mode) != CUDA_OK)
		mode = CUDA_CAPTURE_GLOBAL;
	return (int)mode;
}

static void unrelax(int mode)
{
	uint32_t before = (uint32_t)mode;

	inner.cuThreadExchangeStreamCaptureMode(&before);
}

static const struct preload_vendor vendor = {
	.graph_clone = graph_clone,
	.graph_destroy = graph_destroy,
	.graph_nodes = graph_nodes,
	.instantiate = instantiate,
	.exec_destroy = exec_destroy,
	.event_create = event_create,
	.event_destroy = event_destroy,
	.event_record = event_record,
	.stream_wait = stream_wait,
	.apply = apply,
	.is_capturing = is_capturing,
	.device_current = device_current,
	.device_enter = enter_context,
	.device_leave = leave_context,
	.relax = relax,
	.unrelax = unrelax,
};

/* ---- making, launching, destroying ---- */

/* Makes EXEC virtual if the call that made it was the program's and succeeded. */
static int made(int err, bool is_program, cuda_exec *exec, cuda_graph graph,
		unsigned long long flags)
{
	if (err == CUDA_OK && is_program && !(flags & CUDA_INSTANTIATE_DEVICE_LAUNCH))
		virtual_make(&vendor, *exec, graph, flags & ~(unsigned long long)FLAG_UPLOAD);
	return err;
}

/* CALL is made as an inner call, because one function of the driver may call another. */
#define MAKE(exec, graph, flags, call)                                                             \
	({                                                                                         \
		bool is_program_ = virtual_is_on() && cuda_is_open();                              \
		int err_;                                                                          \
                                                                                                   \
		virtual_inner_begin();                                                             \
		err_ = (call);                                                                     \
		virtual_inner_end();                                                               \
		made(err_, is_program_, exec, graph, flags);                                       \
	})

int cuGraphInstantiate(cuda_exec *exec, cuda_graph graph, cuda_node *error, char *log, size_t bytes)
{
	return MAKE(exec, graph, 0, PASS(cuGraphInstantiate, exec, graph, error, log, bytes));
}

int cuGraphInstantiate_v2(cuda_exec *exec, cuda_graph graph, cuda_node *error, char *log,
			  size_t bytes)
{
	return MAKE(exec, graph, 0, PASS(cuGraphInstantiate_v2, exec, graph, error, log, bytes));
}

int cuGraphInstantiateWithFlags(cuda_exec *exec, cuda_graph graph, unsigned long long flags)
{
	return MAKE(exec, graph, flags, PASS(cuGraphInstantiateWithFlags, exec, graph, flags));
}

int cuGraphInstantiateWithParams(cuda_exec *exec, cuda_graph graph,
				 struct cuda_instantiate_params *params)
{
	return MAKE(exec, graph, params ? params->flags : 0,
		    PASS(cuGraphInstantiateWithParams, exec, graph, params));
}

int cuGraphInstantiateWithParams_ptsz(cuda_exec *exec, cuda_graph graph,
				      struct cuda_instantiate_params *params)
{
	return MAKE(exec, graph, params ? params->flags : 0,
		    PASS(cuGraphInstantiateWithParams_ptsz, exec, graph, params));
}

static int launch(cuda_exec exec, cuda_stream stream)
{
	int (*real)(void *, void *) = (int (*)(void *, void *))REAL(cuGraphLaunch);
	struct virtual *v = virtual_take_passing(exec);
	uint64_t scope = 0;
	int err;

	if (!v)
		return real ? real(exec, stream) : NOT_FOUND;
	if ((uintptr_t)stream <= CUDA_STREAM_PER_THREAD)
		scope = virtual_thread_scope(&vendor);
	err = virtual_launch(v, stream, scope, real);
	virtual_release(v);
	return err;
}

int cuGraphLaunch(cuda_exec exec, cuda_stream stream)
{
	return launch(exec, stream);
}

/* The default stream is the thread's own here, which other calls name by a handle. */
int cuGraphLaunch_ptsz(cuda_exec exec, cuda_stream stream)
{
	if (!virtual_is_on() || !registry_find(exec))
		return PASS(cuGraphLaunch_ptsz, exec, stream);
	return launch(exec, stream ? stream : (cuda_stream)CUDA_STREAM_PER_THREAD);
}

static int upload(cuda_exec exec, cuda_stream stream, int (*real)(cuda_exec, cuda_stream))
{
	struct virtual *v = virtual_take(exec);
	int err;

	if (!v)
		return real ? real(exec, stream) : NOT_FOUND;
	err = virtual_upload(v, stream, (int (*)(void *, void *))real);
	virtual_release(v);
	return err;
}

int cuGraphUpload(cuda_exec exec, cuda_stream stream)
{
	return upload(exec, stream, REAL(cuGraphUpload));
}

int cuGraphUpload_ptsz(cuda_exec exec, cuda_stream stream)
{
	return upload(exec, stream, REAL(cuGraphUpload_ptsz));
}

int cuGraphExecDestroy(cuda_exec exec)
{
	struct virtual *v = virtual_forget(exec);

	return v ? virtual_destroy(v, exec, exec_destroy) : PASS(cuGraphExecDestroy, exec);
}

int cuGraphDestroy(cuda_graph graph)
{
	virtual_graph_gone(graph);
	return PASS(cuGraphDestroy, graph);
}

int cuGraphDestroyNode(cuda_node node)
{
	virtual_node_gone(node);
	return PASS(cuGraphDestroyNode, node);
}

int cuStreamDestroy(cuda_stream stream)
{
	virtual_stream_gone(stream);
	return PASS(cuStreamDestroy, stream);
}

int cuStreamDestroy_v2(cuda_stream stream)
{
	virtual_stream_gone(stream);
	return PASS(cuStreamDestroy_v2, stream);
}

/* Handles of functions may be used again, for functions with other parameters. */
static void forget_layouts(void)
{
	struct patch_layouts *fresh = NULL;

	if (!virtual_is_on() || !cuda_is_open())
		return;
	pthread_rwlock_wrlock(&layouts_lock);
	layouts_are_stale = layouts_create(&fresh) < 0;
	if (!layouts_are_stale) {
		layouts_destroy(layouts.base.layouts);
		layouts.base.layouts = fresh;
	}
	epoch++;
	pthread_rwlock_unlock(&layouts_lock);
}

int cuModuleUnload(cuda_module module)
{
	int err = PASS(cuModuleUnload, module);

	forget_layouts();
	return err;
}

int cuLibraryUnload(cuda_library library)
{
	int err = PASS(cuLibraryUnload, library);

	forget_layouts();
	return err;
}

/* ---- calls that are noted ---- */

/* Notes the call on V, which is released. */
static int set_kernel(struct virtual *v, cuda_exec exec, cuda_node node,
		      const struct cuda_kernel_node_params *params)
{
	uint32_t bytes;
	struct cuda_image *image = kernel_image(params, &bytes);
	int err;

	if (image) {
		err = virtual_set(v, node, CELL_PARAMS, image, bytes, false);
	} else {
		err = virtual_dissolve(v, &preload_stats.pass_layout);
		if (err == CUDA_OK)
			err = REAL(cuGraphExecKernelNodeSetParams_v2)(exec, node, params);
	}
	virtual_release(v);
	free(image);
	return err;
}

int cuGraphExecKernelNodeSetParams(cuda_exec exec, cuda_node node,
				   const struct cuda_kernel_node_params_1 *params)
{
	struct virtual *v = params ? virtual_take(exec) : NULL;
	struct cuda_kernel_node_params newer = {0};

	if (!v)
		return PASS_SET(cuGraphExecKernelNodeSetParams, exec, node, params);
	newer.func = params->func;
	memcpy(&newer.gridDimX, params->dimensions, sizeof(params->dimensions));
	newer.sharedMemBytes = params->sharedMemBytes;
	newer.kernelParams = params->kernelParams;
	newer.extra = params->extra;
	return set_kernel(v, exec, node, &newer);
}

int cuGraphExecKernelNodeSetParams_v2(cuda_exec exec, cuda_node node,
				      const struct cuda_kernel_node_params *params)
{
	struct virtual *v = params ? virtual_take(exec) : NULL;

	if (!v)
		return PASS_SET(cuGraphExecKernelNodeSetParams_v2, exec, node, params);
	return set_kernel(v, exec, node, params);
}

/* Notes IMAGE on V, which is released. */
static int set(struct virtual *v, cuda_node node, enum cell_kind kind,
	       const struct cuda_image *image, bool always)
{
	int err = virtual_set(v, node, kind, image, sizeof(*image), always);

	virtual_release(v);
	return err;
}

/* CUDA checks the addresses of copies and memsets by what is allocated at this moment. Where this
 * is not known by a number, CUDA is asked each time. */
int cuGraphExecMemcpyNodeSetParams(cuda_exec exec, cuda_node node,
				   const struct cuda_memcpy3d *params, cuda_context context)
{
	struct cuda_image image = {.door = CUDA_DOOR_cuGraphExecMemcpyNodeSetParams};
	struct virtual *v = params ? virtual_take(exec) : NULL;
	bool is_known;

	if (!v)
		return PASS_SET(cuGraphExecMemcpyNodeSetParams, exec, node, params, context);
	image.u.copy = *params;
	/* padding */
	memset(&image.u.copy.srcMemoryType + 1, 0, sizeof(uint32_t));
	memset(&image.u.copy.dstMemoryType + 1, 0, sizeof(uint32_t));
	image.context = context;
	is_known = find_end(params->srcMemoryType, params->srcHost, params->srcDevice, &image.src);
	is_known &= find_end(params->dstMemoryType, params->dstHost, params->dstDevice, &image.dst);
	return set(v, node, CELL_PARAMS, &image, !is_known);
}

int cuGraphExecMemsetNodeSetParams(cuda_exec exec, cuda_node node,
				   const struct cuda_memset_node_params *params,
				   cuda_context context)
{
	struct cuda_image image = {.door = CUDA_DOOR_cuGraphExecMemsetNodeSetParams};
	struct virtual *v = params ? virtual_take(exec) : NULL;

	if (!v)
		return PASS_SET(cuGraphExecMemsetNodeSetParams, exec, node, params, context);
	image.u.memset = *params;
	image.context = context;
	return set(v, node, CELL_PARAMS, &image, !find_buffer(params->dst, &image.dst));
}

int cuGraphExecHostNodeSetParams(cuda_exec exec, cuda_node node,
				 const struct cuda_host_node_params *params)
{
	struct cuda_image image = {.door = CUDA_DOOR_cuGraphExecHostNodeSetParams};
	struct virtual *v = params ? virtual_take(exec) : NULL;

	if (!v)
		return PASS_SET(cuGraphExecHostNodeSetParams, exec, node, params);
	image.u.host = *params;
	return set(v, node, CELL_PARAMS, &image, false);
}

/* Events may be destroyed and their handles used again, so CUDA is asked each time. */
int cuGraphExecEventRecordNodeSetEvent(cuda_exec exec, cuda_node node, cuda_event event)
{
	struct cuda_image image = {.door = CUDA_DOOR_cuGraphExecEventRecordNodeSetEvent};
	struct virtual *v = virtual_take(exec);

	if (!v)
		return PASS_SET(cuGraphExecEventRecordNodeSetEvent, exec, node, event);
	image.u.event = event;
	return set(v, node, CELL_PARAMS, &image, true);
}

int cuGraphExecEventWaitNodeSetEvent(cuda_exec exec, cuda_node node, cuda_event event)
{
	struct cuda_image image = {.door = CUDA_DOOR_cuGraphExecEventWaitNodeSetEvent};
	struct virtual *v = virtual_take(exec);

	if (!v)
		return PASS_SET(cuGraphExecEventWaitNodeSetEvent, exec, node, event);
	image.u.event = event;
	return set(v, node, CELL_PARAMS, &image, true);
}

int cuGraphNodeSetEnabled(cuda_exec exec, cuda_node node, unsigned int is_enabled)
{
	struct cuda_image image = {.door = CUDA_DOOR_cuGraphNodeSetEnabled};
	struct virtual *v = REAL(cuGraphNodeSetEnabled) ? virtual_take(exec) : NULL;

	if (!v)
		return PASS_SET(cuGraphNodeSetEnabled, exec, node, is_enabled);
	image.u.is_enabled = is_enabled;
	return set(v, node, CELL_ENABLED, &image, false);
}

/* ---- calls that are passed on ---- */

int cuGraphNodeGetEnabled(cuda_exec exec, cuda_node node, unsigned int *is_enabled)
{
	struct virtual *v = virtual_take(exec);
	int err = CUDA_OK;

	if (v) {
		err = virtual_settle(v);
		virtual_release(v);
	}
	return err ? err : PASS(cuGraphNodeGetEnabled, exec, node, is_enabled);
}

static int dissolve(cuda_exec exec)
{
	struct virtual *v = virtual_take(exec);
	int err = CUDA_OK;

	if (v) {
		err = virtual_dissolve(v, &preload_stats.pass_call);
		virtual_release(v);
	}
	return err;
}

#define CUDA_PASSING(name, parameters, arguments)                                                  \
	int name parameters                                                                        \
	{                                                                                          \
		int err = dissolve(exec);                                                          \
                                                                                                   \
		uint64_t begin = preload_set_begin();                                              \
                                                                                                   \
		err = err ? err : PASS_ALL(name, arguments);                                       \
		preload_set_end(begin);                                                            \
		return err;                                                                        \
	}
#define PASS_ALL(name, arguments) (REAL(name) ? REAL(name) arguments : NOT_FOUND)
CUDA_PASSING_DOORS(CUDA_PASSING)

/* ---- cuGetProcAddress ---- */

static void wrap(const char *name, void **function, int version, uint64_t flags)
{
	char symbol[CUDA_SYMBOL_BYTES];

	if (name && function && *function && cuda_symbol(name, version, flags, symbol))
		*function = door_wrap(&door_cuda, symbol, *function);
}

int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
	int err = PASS(cuGetProcAddress, name, function, version, flags);

	if (err == CUDA_OK)
		wrap(name, function, version, flags);
	return err;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
			int *ret_found)
{
	int err = PASS(cuGetProcAddress_v2, name, function, version, flags, ret_found);

	if (err == CUDA_OK)
		wrap(name, function, version, flags);
	return err;
}
