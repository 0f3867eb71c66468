/* The wrappers of HIP. docs/dagpatch-preload.md has the table of all graph calls. */
#include <string.h>

#include "preload/hip_real.h"
#include "preload/passing.h"

enum {
	PER_THREAD_DEFAULT_STREAM = 2, /* hipGetProcAddress */
};

static void *const wrappers[HIP_DOORS] = {
#define HIP_WRAPPER(name, ...) (void *)name,
	HIP_OTHER_DOORS(HIP_WRAPPER) HIP_PASSING_DOORS(HIP_WRAPPER)
		HIP_WRAPPER(__hipUnregisterFatBinary)};

const struct door_wrappers door_hip = {&hip_doors, wrappers, NULL};

#define REAL(name) HIP_REAL(name)

#define PASS(name, ...)	    DOOR_PASS(REAL(name), __VA_ARGS__)
#define PASS_SET(name, ...) DOOR_PASS_SET(REAL(name), __VA_ARGS__)

static bool is_open;

static void open_hip(void)
{
	is_open = hip_inner_open() && hip_images_open();
}

/* False: this HIP is passed through. */
static bool hip_is_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_hip);
	return is_open;
}

/* ---- making, launching, destroying ---- */

int hipGraphInstantiate(void **exec, void *graph, void **error, char *log, size_t bytes)
{
	bool is_inner = !virtual_is_on() || !hip_is_open();
	int err;

	virtual_inner_begin();
	err = PASS(hipGraphInstantiate, exec, graph, error, log, bytes);
	virtual_inner_end();
	if (err == HIP_OK && !is_inner)
		virtual_make(&hip_vendor, *exec, graph, 0);
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
		virtual_make(&hip_vendor, *exec, graph, 0);
	return err;
}

static int launch(void *exec, void *stream, int (*real)(void *exec, void *stream))
{
	struct virtual *v = virtual_take_passing(exec);
	uint64_t scope = 0;
	int err;

	if (!v)
		return real ? real(exec, stream) : DOOR_NOT_FOUND;
	if ((uintptr_t)stream <= HIP_STREAM_PER_THREAD)
		scope = virtual_thread_scope(&hip_vendor);
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

static void forget_functions(void)
{
	if (!virtual_is_on() || !hip_is_open())
		return;
	virtual_functions_end(&hip_vendor, NULL);
	hip_images_forget_functions();
}

/* Before HIP's call: during it, other threads may get the handles for new functions. */
int hipModuleUnload(void *module)
{
	forget_functions();
	return PASS(hipModuleUnload, module);
}

int hipLibraryUnload(void *library)
{
	forget_functions();
	return PASS(hipLibraryUnload, library);
}

int hipDeviceReset(void)
{
	forget_functions();
	return PASS(hipDeviceReset);
}

void __hipUnregisterFatBinary(void **modules)
{
	__typeof__(&__hipUnregisterFatBinary) real = REAL(__hipUnregisterFatBinary);

	forget_functions();
	if (real)
		real(modules);
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
	note.bytes = hip_image_kernel(params, bytes);
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
	struct note note = {
		image, sizeof(*image), is_always_tried, hip_doors.doors[image->door].name, NULL,
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

	if (v && hip_forgets_memsets()) {
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

/* Reads CHILD and notes the call. */
static int set_child(struct virtual *v, void *exec, void *node, void *child)
{
	struct note note = {.child = child, .call = "hipGraphExecChildGraphNodeSetParams"};
	struct bytes *bytes = virtual_scratch(v);
	int err;

	if (hip_sets_children())
		note.bytes = hip_image_child(child, bytes, &note.is_always_tried);
	note.data = bytes->at;
	if (note.bytes)
		return virtual_set(v, node, CELL_PARAMS, &note);
	err = virtual_dissolve(v, &preload_stats.pass_call, note.call);
	return err ? err : REAL(hipGraphExecChildGraphNodeSetParams)(exec, node, child);
}

int hipGraphExecChildGraphNodeSetParams(void *exec, void *node, void *child)
{
	uint64_t begin = preload_note_begin();
	struct virtual *v = child ? virtual_take(exec) : NULL;
	uint64_t sample;
	int err;

	if (!v)
		return PASS_SET(hipGraphExecChildGraphNodeSetParams, exec, node, child);
	sample = virtual_note_begin(v);
	err = set_child(v, exec, node, child);
	virtual_note_end(v, sample);
	virtual_release(v);
	preload_time_end(begin, &preload_stats.times.note_child);
	return err;
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
#define PASS_ALL(name, arguments) (REAL(name) ? REAL(name) arguments : DOOR_NOT_FOUND)
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
