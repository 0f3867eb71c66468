/* The doors of HIP. An image is struct hip_image: the call's own structs, and a kernel's arguments
 * as a block with their offsets. docs/dagpatch-preload.md has the table of all graph calls. */
#include <stdlib.h>
#include <string.h>

#include "patch/hip/hip_driver.h"
#include "patch/layout.h"
#include "preload/doors.h"
#include "preload/hip_doors.h"
#include "preload/virtual.h"

enum {
	NOT_FOUND = 500, /* hipErrorNotFound */
	/* ROCm/clr#138: 6.3 frees the memory of the arguments that it is given. */
	FREES_ARGUMENTS_FROM = 60300000,
	FREES_ARGUMENTS_TO = 60400000,
	/* Executables lose the values of memsets some time after they were set. */
	FORGETS_MEMSETS_FROM = 60300000,
	FORGETS_MEMSETS_TO = 70200000,
	PER_THREAD_DEFAULT_STREAM = 2, /* hipGetProcAddress */
};

#define HIP_PROTOTYPE(name, parameters)		   DOOR_EXPORT int name parameters;
#define HIP_PASSING_PROTOTYPE(name, parameters, a) DOOR_EXPORT int name parameters;
HIP_OTHER_DOORS(HIP_PROTOTYPE)
HIP_PASSING_DOORS(HIP_PASSING_PROTOTYPE)
DOOR_EXPORT void __hipUnregisterFatBinary(void **modules);

enum hip_door {
#define HIP_DOOR_NUMBER(name, ...) HIP_DOOR_##name,
	HIP_OTHER_DOORS(HIP_DOOR_NUMBER) HIP_PASSING_DOORS(HIP_DOOR_NUMBER)
		HIP_DOOR___hipUnregisterFatBinary,
	HIP_DOORS,
};

static struct door doors[HIP_DOORS] = {
#define HIP_DOOR(name, ...) {#name, (void *)name, NULL},
	HIP_OTHER_DOORS(HIP_DOOR) HIP_PASSING_DOORS(HIP_DOOR) HIP_DOOR(__hipUnregisterFatBinary)};

struct door_library door_hip = {"libamdhip64", doors, HIP_DOORS, NULL, NULL};

/* The function of HIP behind a wrapper. */
#define REAL(name) ((__typeof__(&(name)))door_real(&door_hip, HIP_DOOR_##name))

/* Calls HIP's function with the program's arguments. */
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

static struct {
#define HIP_POINTER_TO(name, parameters) int(*name) parameters;
	HIP_INNER(HIP_POINTER_TO)
} inner;

static struct hip_driver layouts; /* only what kernels' parameters need */
static pthread_rwlock_t layouts_lock = PTHREAD_RWLOCK_INITIALIZER;
static bool layouts_are_stale; /* there was no memory for new ones */
static uint64_t epoch;	       /* number of unloaded modules; both with the lock */
static bool is_open;

static const struct patch_driver layouts_driver = {
	.name = "hip",
	.kernel_parameters = hip_kernel_parameters,
};

/* False: this HIP is passed through. */
/* NOLINTNEXTLINE(readability-function-size): a few statements for each function of the list */
static bool find_functions(void)
{
	void *found;

#define HIP_FIND_INNER(name, parameters)                                                           \
	found = door_find(&door_hip, #name);                                                       \
	memcpy(&inner.name, &found, sizeof(found));                                                \
	if (!found)                                                                                \
		return false;
	HIP_INNER(HIP_FIND_INNER)
	found = door_find(&door_hip, "hipKernelNameRef");
	memcpy(&layouts.call.hipKernelNameRef, &found, sizeof(found));
	found = door_find(&door_hip, "hipKernelNameRefByPtr");
	memcpy(&layouts.call.hipKernelNameRefByPtr, &found, sizeof(found));
	layouts.call.hipGetDevice = inner.hipGetDevice;
	return layouts.call.hipKernelNameRef && layouts.call.hipKernelNameRefByPtr &&
	       inner.hipRuntimeGetVersion(&layouts.version) == HIP_OK &&
	       (layouts.version < FREES_ARGUMENTS_FROM || layouts.version >= FREES_ARGUMENTS_TO);
}

static void open_hip(void)
{
	layouts.device.driver = &layouts_driver;
	layouts.library = hip_library_open(NULL);
	is_open =
		layouts.library && find_functions() && layouts_create(&layouts.device.layouts) == 0;
	if (is_open)
		hip_find_loader(&layouts);
}

static bool hip_is_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_hip);
	return is_open;
}

/* ---- images ---- */

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

static int apply_kernel(const struct hip_image *image, void *exec, void *node)
{
	const uint32_t *offsets = (const uint32_t *)(image->block + (image->bytes + 7) / 8);
	struct hip_kernel_params params = image->u.kernel;
	void *pointers[PATCH_PARAMETERS + 1];
	size_t bytes = image->bytes;
	void *extra[] = {HIP_EXTRA_BUFFER_POINTER, (void *)image->block, HIP_EXTRA_BUFFER_SIZE,
			 &bytes, HIP_EXTRA_END};

	for (uint32_t i = 0; i < image->count; i++)
		pointers[i] = (uint8_t *)image->block + offsets[i];
	if (image->is_block)
		params.extra = extra;
	else
		params.arguments = pointers;
	return REAL(hipGraphExecKernelNodeSetParams)(exec, node, &params);
}

static int apply(const void *data, void *child, void *exec, void *node)
{
	const struct hip_image *image = data;
	struct hip_copy_params copy;

	switch (image->door) {
	case HIP_DOOR_hipGraphExecKernelNodeSetParams:
		return apply_kernel(image, exec, node);
	case HIP_DOOR_hipGraphExecMemcpyNodeSetParams:
		copy = image->u.copy;
		return REAL(hipGraphExecMemcpyNodeSetParams)(exec, node, &copy);
	case HIP_DOOR_hipGraphExecMemcpyNodeSetParams1D:
		return REAL(hipGraphExecMemcpyNodeSetParams1D)(
			exec, node, image->u.copy_1d.dst, image->u.copy_1d.src,
			image->u.copy_1d.bytes, image->u.copy_1d.kind);
	case HIP_DOOR_hipGraphExecMemsetNodeSetParams:
		return REAL(hipGraphExecMemsetNodeSetParams)(exec, node, &image->u.memset);
	case HIP_DOOR_hipGraphExecHostNodeSetParams:
		return REAL(hipGraphExecHostNodeSetParams)(exec, node, &image->u.host);
	case HIP_DOOR_hipGraphExecEventRecordNodeSetEvent:
		return REAL(hipGraphExecEventRecordNodeSetEvent)(exec, node, image->u.event);
	case HIP_DOOR_hipGraphExecEventWaitNodeSetEvent:
		return REAL(hipGraphExecEventWaitNodeSetEvent)(exec, node, image->u.event);
	default:
		return REAL(hipGraphNodeSetEnabled)(exec, node, image->u.is_enabled);
	}
}

/* Finds the argument block that `extra` names. */
static const void *find_block(void *const *extra, size_t *ret_bytes)
{
	const void *block = NULL;

	*ret_bytes = 0;
	for (; *extra != HIP_EXTRA_END; extra += 2) {
		if (extra[0] == HIP_EXTRA_BUFFER_POINTER)
			block = extra[1];
		else if (extra[0] == HIP_EXTRA_BUFFER_SIZE)
			*ret_bytes = *(const size_t *)extra[1];
		else
			return NULL;
	}
	return *ret_bytes <= UINT16_MAX ? block : NULL;
}

/* Appends the image of a kernel with these arguments. LAYOUT is NULL if they are in BLOCK. Returns
 * its size, or 0: no memory. */
static uint32_t add_kernel(const struct hip_kernel_params *params,
			   const struct patch_layout *layout, const void *block, size_t bytes,
			   struct bytes *to)
{
	uint32_t count = layout ? layout->count : 0;
	size_t words = (bytes + 7) / 8 + (count + 1) / 2;
	struct hip_image *image = bytes_add(to, sizeof(*image) + 8 * words);
	uint32_t *offsets;

	if (!image)
		return 0;
	image->door = HIP_DOOR_hipGraphExecKernelNodeSetParams;
	image->count = count;
	image->bytes = (uint32_t)bytes;
	image->is_block = !layout;
	image->epoch = epoch;
	image->u.kernel = (struct hip_kernel_params){
		.block = params->block,
		.function = params->function,
		.grid = params->grid,
	};
	image->u.kernel.shared_bytes = params->shared_bytes;
	offsets = (uint32_t *)(image->block + (bytes + 7) / 8);
	if (block)
		memcpy(image->block, block, bytes);
	for (uint32_t i = 0; i < count; i++) {
		offsets[i] = layout->parameters[i].offset;
		memcpy((uint8_t *)image->block + offsets[i], params->arguments[i],
		       layout->parameters[i].bytes);
	}
	return (uint32_t)(sizeof(*image) + 8 * words);
}

/* Appends the image of a kernel. Returns its size, or 0: what the arguments are is not known, or
 * there is no memory. */
static uint32_t kernel_image(const struct hip_kernel_params *params, struct bytes *to)
{
	const struct patch_layout *layout;
	const void *block;
	uint32_t size = 0;
	size_t bytes;

	if (!params || (params->arguments && params->extra))
		return 0;
	pthread_rwlock_rdlock(&layouts_lock);
	if (!params->arguments && params->extra) {
		block = find_block(params->extra, &bytes);
		size = block ? add_kernel(params, NULL, block, bytes, to) : 0;
	} else if (!layouts_are_stale) {
		patch_layout_find(&layouts.device, params->function, &layout);
		if (layout && (params->arguments || layout->count == 0))
			size = add_kernel(params, layout, NULL, layout->bytes, to);
	}
	pthread_rwlock_unlock(&layouts_lock);
	return size;
}

/* ---- the vendor's table ---- */

static int graph_destroy(void *graph)
{
	return REAL(hipGraphDestroy)(graph);
}

static int instantiate(void **ret_exec, void *graph, unsigned long long flags)
{
	return REAL(hipGraphInstantiate)(ret_exec, graph, NULL, NULL, 0);
}

static int exec_destroy(void *exec)
{
	return REAL(hipGraphExecDestroy)(exec);
}

static int graph_clone(void **ret_clone, void *graph)
{
	return inner.hipGraphClone(ret_clone, graph);
}

static int graph_nodes(void *graph, void **nodes, size_t *count)
{
	return inner.hipGraphGetNodes(graph, nodes, count);
}

/* Child graphs are not listed: no release of HIP sets nodes in them reliably (docs/dagpatch.md). */
static int node_type(void *node, uint32_t *ret_type, void **ret_child)
{
	*ret_child = NULL;
	return inner.hipGraphNodeGetType(node, ret_type);
}

static int event_create(void **ret_event)
{
	return inner.hipEventCreateWithFlags(ret_event, HIP_EVENT_NO_TIMING);
}

static int event_destroy(void *event)
{
	return inner.hipEventDestroy(event);
}

static int event_record(void *event, void *stream)
{
	return inner.hipEventRecord(event, stream);
}

static int stream_wait(void *stream, void *event)
{
	return inner.hipStreamWaitEvent(stream, event, 0);
}

static bool is_capturing(void *stream)
{
	int status = HIP_CAPTURE_NONE;

	return (uintptr_t)stream > HIP_STREAM_PER_THREAD &&
	       inner.hipStreamIsCapturing(stream, &status) == HIP_OK && status != HIP_CAPTURE_NONE;
}

static uintptr_t device_current(void)
{
	int device = 0;

	inner.hipGetDevice(&device);
	return (uintptr_t)device;
}

static uintptr_t enter_device(uintptr_t device)
{
	uintptr_t before = device_current();

	if (before != device)
		inner.hipSetDevice((int)device);
	return before;
}

static void leave_device(uintptr_t before)
{
	if (device_current() != before)
		inner.hipSetDevice((int)before);
}

static int relax(void)
{
	int mode = HIP_CAPTURE_MODE_RELAXED;

	inner.hipThreadExchangeStreamCaptureMode(&mode);
	return mode;
}

static void unrelax(int mode)
{
	inner.hipThreadExchangeStreamCaptureMode(&mode);
}

static void forget_error(void)
{
	inner.hipGetLastError();
}

static const struct preload_vendor vendor = {
	.graph_clone = graph_clone,
	.graph_destroy = graph_destroy,
	.graph_nodes = graph_nodes,
	.node_type = node_type,
	.instantiate = instantiate,
	.exec_destroy = exec_destroy,
	.event_create = event_create,
	.event_destroy = event_destroy,
	.event_record = event_record,
	.stream_wait = stream_wait,
	.apply = apply,
	.is_capturing = is_capturing,
	.device_current = device_current,
	.device_enter = enter_device,
	.device_leave = leave_device,
	.relax = relax,
	.unrelax = unrelax,
	.forget_error = forget_error,
};

/* ---- making, launching, destroying ---- */

int hipGraphInstantiate(void **exec, void *graph, void **error, char *log, size_t bytes)
{
	bool is_inner = !virtual_is_on() || !hip_is_open();
	int err;

	virtual_inner_begin();
	err = PASS(hipGraphInstantiate, exec, graph, error, log, bytes);
	virtual_inner_end();
	if (err == HIP_OK && !is_inner)
		virtual_make(&vendor, *exec, graph, 0);
	return err;
}

int hipGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
	bool is_inner = !virtual_is_on() || !hip_is_open();
	int err;

	virtual_inner_begin();
	err = PASS(hipGraphInstantiateWithFlags, exec, graph, flags);
	virtual_inner_end();
	/* What flags do differs between releases. */
	if (err == HIP_OK && !is_inner && flags == 0)
		virtual_make(&vendor, *exec, graph, 0);
	return err;
}

static int launch(void *exec, void *stream, int (*real)(void *exec, void *stream))
{
	struct virtual *v = virtual_take_passing(exec);
	uint64_t scope = 0;
	int err;

	if (!v)
		return real ? real(exec, stream) : NOT_FOUND;
	if ((uintptr_t)stream <= HIP_STREAM_PER_THREAD)
		scope = virtual_thread_scope(&vendor);
	err = virtual_launch(v, stream, scope, real);
	virtual_release(v);
	return err;
}

int hipGraphLaunch(void *exec, void *stream)
{
	return launch(exec, stream, REAL(hipGraphLaunch));
}

/* The default stream is the thread's own here, which other calls name by a handle. */
int hipGraphLaunch_spt(void *exec, void *stream)
{
	struct virtual *v = virtual_is_on() ? registry_find(exec) : NULL;

	if (!v)
		return PASS(hipGraphLaunch_spt, exec, stream);
	return launch(exec, stream ? stream : (void *)HIP_STREAM_PER_THREAD, REAL(hipGraphLaunch));
}

int hipGraphUpload(void *exec, void *stream)
{
	struct virtual *v = virtual_take(exec);
	int err;

	if (!v)
		return PASS(hipGraphUpload, exec, stream);
	err = virtual_upload(v, stream, REAL(hipGraphUpload));
	virtual_release(v);
	return err;
}

int hipGraphExecDestroy(void *exec)
{
	struct virtual *v = virtual_forget(exec);

	return v ? virtual_destroy(v, exec, REAL(hipGraphExecDestroy))
		 : PASS(hipGraphExecDestroy, exec);
}

int hipGraphDestroy(void *graph)
{
	virtual_graph_gone(graph);
	return PASS(hipGraphDestroy, graph);
}

int hipGraphDestroyNode(void *node)
{
	virtual_node_gone(node);
	return PASS(hipGraphDestroyNode, node);
}

int hipStreamDestroy(void *stream)
{
	virtual_stream_gone(stream);
	return PASS(hipStreamDestroy, stream);
}

/* Handles of functions may be used again, for functions with other parameters. */
static void forget_layouts(void)
{
	struct patch_layouts *fresh = NULL;

	if (!virtual_is_on() || !hip_is_open())
		return;
	pthread_rwlock_wrlock(&layouts_lock);
	layouts_are_stale = layouts_create(&fresh) < 0;
	if (!layouts_are_stale) {
		layouts_destroy(layouts.device.layouts);
		layouts.device.layouts = fresh;
	}
	epoch++;
	pthread_rwlock_unlock(&layouts_lock);
}

int hipModuleUnload(void *module)
{
	int err = PASS(hipModuleUnload, module);

	forget_layouts();
	return err;
}

void __hipUnregisterFatBinary(void **modules)
{
	__typeof__(&__hipUnregisterFatBinary) real = REAL(__hipUnregisterFatBinary);

	if (real)
		real(modules);
	forget_layouts();
}

/* ---- calls that are noted ---- */

int hipGraphExecKernelNodeSetParams(void *exec, void *node, const struct hip_kernel_params *params)
{
	struct virtual *v = virtual_take(exec);
	uint64_t begin = preload_note_begin();
	struct bytes *bytes = v ? virtual_scratch(v) : NULL;
	struct note note = {.call = "hipGraphExecKernelNodeSetParams"};
	uint64_t sample;
	int err;

	if (!v)
		return PASS_SET(hipGraphExecKernelNodeSetParams, exec, node, params);
	sample = virtual_note_begin(v);
	note.bytes = kernel_image(params, bytes);
	note.data = bytes->at;
	if (note.bytes)
		err = virtual_set(v, node, CELL_PARAMS, &note);
	else
		err = virtual_dissolve(v, &preload_stats.pass_layout, note.call);
	virtual_note_end(v, sample);
	virtual_release(v);
	preload_time_end(begin, &preload_stats.times.note);
	if (!note.bytes && err == HIP_OK)
		err = PASS_SET(hipGraphExecKernelNodeSetParams, exec, node, params);
	return err;
}

/* Notes IMAGE. HIP checks addresses of copies and memsets by what is allocated at this moment, so
 * it is asked each time. */
static int set(struct virtual *v, void *node, enum cell_kind kind, const struct hip_image *image,
	       bool is_always_tried)
{
	struct note note = {image, sizeof(*image), is_always_tried, doors[image->door].name, NULL,
			    NULL};
	int err = virtual_set(v, node, kind, &note);

	virtual_release(v);
	return err;
}

int hipGraphExecMemcpyNodeSetParams(void *exec, void *node, struct hip_copy_params *params)
{
	struct hip_image image = {.door = HIP_DOOR_hipGraphExecMemcpyNodeSetParams};
	struct virtual *v = params ? virtual_take(exec) : NULL;

	if (!v)
		return PASS_SET(hipGraphExecMemcpyNodeSetParams, exec, node, params);
	image.u.copy.src_array = params->src_array;
	image.u.copy.src_position = params->src_position;
	image.u.copy.src = params->src;
	image.u.copy.dst_array = params->dst_array;
	image.u.copy.dst_position = params->dst_position;
	image.u.copy.dst = params->dst;
	image.u.copy.extent = params->extent;
	image.u.copy.kind = params->kind;
	return set(v, node, CELL_PARAMS, &image, true);
}

int hipGraphExecMemcpyNodeSetParams1D(void *exec, void *node, void *dst, const void *src,
				      size_t bytes, int kind)
{
	struct hip_image image = {.door = HIP_DOOR_hipGraphExecMemcpyNodeSetParams1D};
	struct virtual *v = virtual_take(exec);

	if (!v)
		return PASS_SET(hipGraphExecMemcpyNodeSetParams1D, exec, node, dst, src, bytes,
				kind);
	image.u.copy_1d.dst = dst;
	image.u.copy_1d.src = src;
	image.u.copy_1d.bytes = bytes;
	image.u.copy_1d.kind = kind;
	return set(v, node, CELL_PARAMS, &image, true);
}

int hipGraphExecMemsetNodeSetParams(void *exec, void *node, const struct hip_memset_params *params)
{
	struct hip_image image = {.door = HIP_DOOR_hipGraphExecMemsetNodeSetParams};
	struct virtual *v = params ? virtual_take(exec) : NULL;
	int err = HIP_OK;

	if (v && layouts.version >= FORGETS_MEMSETS_FROM && layouts.version < FORGETS_MEMSETS_TO) {
		err = virtual_dissolve(v, &preload_stats.pass_call,
				       "hipGraphExecMemsetNodeSetParams");
		virtual_release(v);
		v = NULL;
	}
	if (!v)
		return err ? err : PASS_SET(hipGraphExecMemsetNodeSetParams, exec, node, params);
	image.u.memset.dst = params->dst;
	image.u.memset.element_bytes = params->element_bytes;
	image.u.memset.height = params->height;
	image.u.memset.pitch = params->pitch;
	image.u.memset.value = params->value;
	image.u.memset.width = params->width;
	return set(v, node, CELL_PARAMS, &image, true);
}

int hipGraphExecHostNodeSetParams(void *exec, void *node, const struct hip_host_params *params)
{
	struct hip_image image = {.door = HIP_DOOR_hipGraphExecHostNodeSetParams};
	struct virtual *v = params ? virtual_take(exec) : NULL;

	if (!v)
		return PASS_SET(hipGraphExecHostNodeSetParams, exec, node, params);
	image.u.host.function = params->function;
	image.u.host.user = params->user;
	return set(v, node, CELL_PARAMS, &image, false);
}

/* Events may be destroyed and their handles used again, so the driver is asked each time. */
int hipGraphExecEventRecordNodeSetEvent(void *exec, void *node, void *event)
{
	struct hip_image image = {.door = HIP_DOOR_hipGraphExecEventRecordNodeSetEvent};
	struct virtual *v = virtual_take(exec);

	if (!v)
		return PASS_SET(hipGraphExecEventRecordNodeSetEvent, exec, node, event);
	image.u.event = event;
	return set(v, node, CELL_PARAMS, &image, true);
}

int hipGraphExecEventWaitNodeSetEvent(void *exec, void *node, void *event)
{
	struct hip_image image = {.door = HIP_DOOR_hipGraphExecEventWaitNodeSetEvent};
	struct virtual *v = virtual_take(exec);

	if (!v)
		return PASS_SET(hipGraphExecEventWaitNodeSetEvent, exec, node, event);
	image.u.event = event;
	return set(v, node, CELL_PARAMS, &image, true);
}

int hipGraphNodeSetEnabled(void *exec, void *node, unsigned int is_enabled)
{
	struct hip_image image = {.door = HIP_DOOR_hipGraphNodeSetEnabled};
	struct virtual *v = REAL(hipGraphNodeSetEnabled) ? virtual_take(exec) : NULL;

	if (!v)
		return PASS_SET(hipGraphNodeSetEnabled, exec, node, is_enabled);
	image.u.is_enabled = is_enabled;
	return set(v, node, CELL_ENABLED, &image, false);
}

/* ---- calls that are passed on ---- */

int hipGraphNodeGetEnabled(void *exec, void *node, unsigned int *is_enabled)
{
	struct virtual *v = virtual_take(exec);
	int err = HIP_OK;

	if (v) {
		err = virtual_settle(v);
		virtual_release(v);
	}
	return err ? err : PASS(hipGraphNodeGetEnabled, exec, node, is_enabled);
}

static int dissolve(void *exec, const char *call)
{
	struct virtual *v = virtual_take(exec);
	int err = HIP_OK;

	if (v) {
		err = virtual_dissolve(v, &preload_stats.pass_call, call);
		virtual_release(v);
	}
	return err;
}

#define HIP_PASSING(name, parameters, arguments)                                                   \
	int name parameters                                                                        \
	{                                                                                          \
		int err = dissolve(exec, #name);                                                   \
		uint64_t begin = preload_set_begin();                                              \
                                                                                                   \
		err = err ? err : PASS_ALL(name, arguments);                                       \
		preload_set_end(begin);                                                            \
		return err;                                                                        \
	}
#define PASS_ALL(name, arguments) (REAL(name) ? REAL(name) arguments : NOT_FOUND)
HIP_PASSING_DOORS(HIP_PASSING)

int hipGetProcAddress(const char *name, void **function, int version, uint64_t flags,
		      int *ret_found)
{
	int err = PASS(hipGetProcAddress, name, function, version, flags, ret_found);

	if (err != HIP_OK || !function || !*function || !name)
		return err;
	if ((flags & PER_THREAD_DEFAULT_STREAM) && strcmp(name, "hipGraphLaunch") == 0)
		name = "hipGraphLaunch_spt";
	*function = door_wrap(&door_hip, name, *function);
	return err;
}
