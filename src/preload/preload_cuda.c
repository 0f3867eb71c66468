/* The wrappers of CUDA's driver API. docs/dagpatch-preload.md has the table of all graph calls. */
#include <string.h>

#include "preload/cuda_real.h"
#include "preload/graph_versions.h"
#include "preload/passing.h"

enum { FLAG_UPLOAD = 2 }; /* of cuGraphInstantiateWithParams */

#define REAL(name) CUDA_REAL(name)

#define PASS(name, ...)	    DOOR_PASS(REAL(name), __VA_ARGS__)
#define PASS_SET(name, ...) DOOR_PASS_SET(REAL(name), __VA_ARGS__)

/* ---- making, launching, destroying ---- */

/* Makes EXEC virtual if the call that made it was the program's and succeeded. */
static int made(int err, bool is_program, cuda_exec *exec, cuda_graph graph,
		unsigned long long flags)
{
	if (err == CUDA_OK && is_program && !(flags & CUDA_INSTANTIATE_DEVICE_LAUNCH))
		virtual_make(&cuda_vendor, *exec, graph, flags & ~(unsigned long long)FLAG_UPLOAD);
	/* It was switched off meanwhile. */
	if (is_program && !cuda_is_open())
		cuda_pass_all();
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

/* The graph may have nodes that free memory, if it is not virtual. */
static int launch_plain(cuda_exec exec, cuda_stream stream, int (*real)(void *, void *))
{
	uint64_t begin = preload_set_begin();
	int err = real ? real(exec, stream) : DOOR_NOT_FOUND;

	preload_time_end(begin, &preload_stats.times.launch_passed);
	if (virtual_is_on() && !registry_find(exec))
		cuda_memory_ended();
	return err;
}

static int launch(cuda_exec exec, cuda_stream stream)
{
	int (*real)(void *, void *) = (int (*)(void *, void *))REAL(cuGraphLaunch);
	struct virtual *v = virtual_take_passing(exec);
	uint64_t scope = 0;
	int err;

	if (!v)
		return launch_plain(exec, stream, real);
	if ((uintptr_t)stream <= CUDA_STREAM_PER_THREAD)
		scope = virtual_thread_scope(&cuda_vendor);
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
		return launch_plain(exec, stream,
				    (int (*)(void *, void *))REAL(cuGraphLaunch_ptsz));
	return launch(exec, stream ? stream : (cuda_stream)CUDA_STREAM_PER_THREAD);
}

static int upload(cuda_exec exec, cuda_stream stream, int (*real)(cuda_exec, cuda_stream))
{
	struct virtual *v = virtual_take(exec);
	int err;

	if (!v)
		return real ? real(exec, stream) : DOOR_NOT_FOUND;
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

	return v ? virtual_destroy(v, exec, cuda_vendor.exec_destroy)
		 : PASS(cuGraphExecDestroy, exec);
}

int cuGraphDestroy(cuda_graph graph)
{
	virtual_graph_gone(graph);
	if (virtual_is_on())
		graph_gone(graph);
	return PASS(cuGraphDestroy, graph);
}

int cuGraphDestroyNode(cuda_node node)
{
	int err;

	virtual_node_gone(node);
	err = PASS(cuGraphDestroyNode, node);
	if (virtual_is_on())
		graph_any_changes();
	return err;
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

/* Before the driver's call: during it, other threads may get the handles for new functions. */
int cuModuleUnload(cuda_module module)
{
	int err;

	cuda_forget_functions(module);
	err = PASS(cuModuleUnload, module);
	cuda_memory_ended();
	return err;
}

int cuLibraryUnload(cuda_library library)
{
	int err;

	/* Each context has a module of its own for it. */
	cuda_forget_functions(NULL);
	err = PASS(cuLibraryUnload, library);
	cuda_memory_ended();
	return err;
}

/* ---- calls that are noted ---- */

/* Makes the image of the call and notes it. */
static int set_new_kernel(struct virtual *v, cuda_exec exec, cuda_node node,
			  const struct cuda_kernel_node_params *params)
{
	struct bytes *bytes = virtual_scratch(v);
	struct note note = {.bytes = cuda_image_kernel(v, params),
			    .call = "cuGraphExecKernelNodeSetParams"};
	int err;

	note.data = bytes->at;
	if (note.bytes)
		return virtual_set(v, node, CELL_PARAMS, &note);
	err = virtual_dissolve(v, &preload_stats.pass_layout, note.call);
	return err ? err : REAL(cuGraphExecKernelNodeSetParams_v2)(exec, node, params);
}

/* Notes the call on V, which is released. */
static int set_kernel(struct virtual *v, cuda_exec exec, cuda_node node,
		      const struct cuda_kernel_node_params *params)
{
	uint64_t begin = preload_note_begin();
	uint64_t sample = virtual_note_begin(v);
	uint32_t number;
	const struct image *guess = virtual_guess(v, node, CELL_PARAMS, &number);
	int err;

	if (guess && cuda_image_is_kernel(guess->data, params))
		err = virtual_set_again(v, number);
	else
		err = set_new_kernel(v, exec, node, params);
	virtual_note_end(v, sample);
	virtual_release(v);
	preload_time_end(begin, &preload_stats.times.note);
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

/* Notes IMAGE on V, which is released. SAMPLE: of virtual_note_begin, or 0. */
static int set(struct virtual *v, cuda_node node, enum cell_kind kind,
	       const struct cuda_image *image, bool is_always_tried, uint64_t sample)
{
	struct note note = {
		image, sizeof(*image), is_always_tried, cuda_doors.doors[image->door].name, NULL,
		NULL};
	int err = virtual_set(v, node, kind, &note);

	virtual_note_end(v, sample);
	virtual_release(v);
	return err;
}

/* Makes the image of the call and notes it. */
static int set_new_copy(struct virtual *v, cuda_node node, const struct cuda_memcpy3d *params,
			cuda_context context)
{
	struct cuda_image image = {0};
	bool is_known = cuda_image_copy(v, params, context, &image);
	struct note note = {.data = &image,
			    .bytes = sizeof(image),
			    .is_always_tried = !is_known,
			    .call = "cuGraphExecMemcpyNodeSetParams"};

	return virtual_set(v, node, CELL_PARAMS, &note);
}

/* CUDA checks the addresses of copies and memsets by what is allocated at this moment. Where this
 * is not known by a number, CUDA is asked each time. */
int cuGraphExecMemcpyNodeSetParams(cuda_exec exec, cuda_node node,
				   const struct cuda_memcpy3d *params, cuda_context context)
{
	uint64_t begin = preload_note_begin();
	struct virtual *v = params ? virtual_take(exec) : NULL;
	const struct image *guess;
	uint32_t number;
	uint64_t sample;
	int err;

	if (!v)
		return PASS_SET(cuGraphExecMemcpyNodeSetParams, exec, node, params, context);
	sample = virtual_note_begin(v);
	guess = virtual_guess(v, node, CELL_PARAMS, &number);
	if (guess && cuda_image_is_copy(v, guess->data, params, context))
		err = virtual_set_again(v, number);
	else
		err = set_new_copy(v, node, params, context);
	virtual_note_end(v, sample);
	virtual_release(v);
	preload_time_end(begin, &preload_stats.times.note_memory);
	return err;
}

int cuGraphExecMemsetNodeSetParams(cuda_exec exec, cuda_node node,
				   const struct cuda_memset_node_params *params,
				   cuda_context context)
{
	uint64_t begin = preload_note_begin();
	struct virtual *v = params ? virtual_take(exec) : NULL;
	struct cuda_image image = {0};
	uint64_t sample;
	bool is_known;
	int err;

	if (!v)
		return PASS_SET(cuGraphExecMemsetNodeSetParams, exec, node, params, context);
	sample = virtual_note_begin(v);
	is_known = cuda_image_memset(v, params, context, &image);
	err = set(v, node, CELL_PARAMS, &image, !is_known, sample);
	preload_time_end(begin, &preload_stats.times.note_memory);
	return err;
}

/* Reads GRAPH and notes the call. */
static int set_child(struct virtual *v, cuda_exec exec, cuda_node node, cuda_graph graph)
{
	struct note note = {.child = graph, .call = "cuGraphExecChildGraphNodeSetParams"};
	struct seen_child seen = {.node = node};
	bool is_known;
	int err;

	note.bytes = cuda_image_child(v, graph, &seen, &is_known);
	note.data = v->scratch.at;
	note.is_always_tried = !is_known;
	note.seen = seen.graph ? &seen : NULL;
	if (note.bytes)
		return virtual_set(v, node, CELL_PARAMS, &note);
	err = virtual_dissolve(v, &preload_stats.pass_memory, note.call);
	return err ? err : REAL(cuGraphExecChildGraphNodeSetParams)(exec, node, graph);
}

int cuGraphExecChildGraphNodeSetParams(cuda_exec exec, cuda_node node, cuda_graph graph)
{
	uint64_t begin = preload_note_begin();
	struct virtual *v = graph ? virtual_take(exec) : NULL;
	const struct seen_child *seen;
	uint64_t sample;
	int err;

	if (!v)
		return PASS_SET(cuGraphExecChildGraphNodeSetParams, exec, node, graph);
	sample = virtual_note_begin(v);
	seen = cuda_child_seen(v, node, graph);
	err = seen ? virtual_set_again(v, seen->image) : set_child(v, exec, node, graph);
	virtual_note_end(v, sample);
	virtual_release(v);
	preload_time_end(begin, &preload_stats.times.note_child);
	return err;
}

int cuGraphExecHostNodeSetParams(cuda_exec exec, cuda_node node,
				 const struct cuda_host_node_params *params)
{
	struct cuda_image image = {.door = CUDA_DOOR_cuGraphExecHostNodeSetParams};
	struct virtual *v = params ? virtual_take(exec) : NULL;

	if (!v)
		return PASS_SET(cuGraphExecHostNodeSetParams, exec, node, params);
	image.u.host = *params;
	return set(v, node, CELL_PARAMS, &image, false, 0);
}

/* Events may be destroyed and their handles used again, so CUDA is asked each time. */
int cuGraphExecEventRecordNodeSetEvent(cuda_exec exec, cuda_node node, cuda_event event)
{
	struct cuda_image image = {.door = CUDA_DOOR_cuGraphExecEventRecordNodeSetEvent};
	struct virtual *v = virtual_take(exec);

	if (!v)
		return PASS_SET(cuGraphExecEventRecordNodeSetEvent, exec, node, event);
	image.u.event = event;
	return set(v, node, CELL_PARAMS, &image, true, 0);
}

int cuGraphExecEventWaitNodeSetEvent(cuda_exec exec, cuda_node node, cuda_event event)
{
	struct cuda_image image = {.door = CUDA_DOOR_cuGraphExecEventWaitNodeSetEvent};
	struct virtual *v = virtual_take(exec);

	if (!v)
		return PASS_SET(cuGraphExecEventWaitNodeSetEvent, exec, node, event);
	image.u.event = event;
	return set(v, node, CELL_PARAMS, &image, true, 0);
}

int cuGraphNodeSetEnabled(cuda_exec exec, cuda_node node, unsigned int is_enabled)
{
	struct cuda_image image = {.door = CUDA_DOOR_cuGraphNodeSetEnabled};
	struct virtual *v = REAL(cuGraphNodeSetEnabled) ? virtual_take(exec) : NULL;

	if (!v)
		return PASS_SET(cuGraphNodeSetEnabled, exec, node, is_enabled);
	image.u.is_enabled = is_enabled;
	return set(v, node, CELL_ENABLED, &image, false, 0);
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

static int dissolve(cuda_exec exec, const char *call)
{
	struct virtual *v = virtual_take(exec);
	int err = CUDA_OK;

	if (v) {
		err = virtual_dissolve(v, &preload_stats.pass_call, call);
		virtual_release(v);
	}
	return err;
}

#define CUDA_PASSING(name, parameters, arguments)                                                  \
	int name parameters                                                                        \
	{                                                                                          \
		int err = dissolve(exec, #name);                                                   \
                                                                                                   \
		uint64_t begin = preload_set_begin();                                              \
                                                                                                   \
		err = err ? err : PASS_ALL(name, arguments);                                       \
		preload_set_end(begin);                                                            \
		return err;                                                                        \
	}
#define PASS_ALL(name, arguments) (REAL(name) ? REAL(name) arguments : DOOR_NOT_FOUND)
CUDA_PASSING_DOORS(CUDA_PASSING)
