/* The function table of the HIP driver, which works with whichever libamdhip64 there is; nodes are
 * in hip_node.c. HIP's quirks and what is done about them are listed in docs/dagpatch.md. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patch/hip/hip_driver.h"

enum {
	VERSION_5_3 = 50300000,
	VERSION_6_0 = 60000000,
	VERSION_6_3 = 60300000,
	VERSION_7_2 = 70200000,
	/* Newer releases keep kernels' arguments in a pool that updates only take from. About
	 * 4,100 updates of a graph exhaust it; further updates do nothing and return success. */
	UPDATES_OF_A_NODE = 2000,
};

/* ---- the thread's device ---- */

/* Before HIP 6, calls on different graphs from several threads disturb each other: a kernel's
 * arguments pass through one buffer that no lock protects (5.2.3: wrong arguments and crashes with
 * bare calls; 6.4.3 and 7.2.4: none). There, one thread of the process at a time is inside. */
static pthread_mutex_t only_one = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static bool is_racy(const struct hip_driver *hip)
{
	return hip->version < VERSION_6_0;
}

/* With a single device it is always current, so HIP is not called. */
static int make_current(struct hip_driver *hip, int *ret_before)
{
	int ordinal = hip->device.ordinal;
	int now = ordinal;
	int err = hip->device_count > 1 ? HIP_CALL(hip, hipGetDevice, &now) : 0;

	if (err == 0 && now != ordinal)
		err = HIP_CALL(hip, hipSetDevice, ordinal);
	*ret_before = now;
	return err;
}

static void resume_visit(struct patch_device *device)
{
	if (is_racy(hip_of(device)))
		pthread_mutex_lock(&only_one);
}

static void pause_visit(struct patch_device *device)
{
	if (is_racy(hip_of(device)))
		pthread_mutex_unlock(&only_one);
}

static int enter(struct patch_device *device, uintptr_t *ret_before)
{
	int before, err;

	resume_visit(device);
	err = make_current(hip_of(device), &before);
	if (err < 0)
		pause_visit(device);
	else
		*ret_before = (uintptr_t)before;
	return err;
}

static void leave(struct patch_device *device, uintptr_t before)
{
	if ((int)before != device->ordinal)
		hip_of(device)->call.hipSetDevice((int)before);
	pause_visit(device);
}

static void settle(struct patch_device *device)
{
	int before;

	make_current(hip_of(device), &before);
}

static int stream_device(struct patch_device *device, struct driver_stream *stream,
			 int *ret_ordinal)
{
	struct hip_driver *hip = hip_of(device);
	int ordinal = device->ordinal;

	if (hip->device_count > 1 && (uintptr_t)stream > HIP_STREAM_PER_THREAD)
		ordinal = hip->call.hipGetStreamDeviceId(stream);
	if (ordinal < 0)
		return patch_fault(-EINVAL, "hipGetStreamDeviceId", ordinal, "no stream");
	*ret_ordinal = ordinal;
	return 0;
}

/* ---- opening ---- */

static int complain(struct dagpatch_error *error, const char *what, const char *why)
{
	if (error) {
		error->code = -ENOENT;
		snprintf(error->message, sizeof(error->message), "hip: %s: %s", what, why);
	}
	return -ENOENT;
}

static int find(struct hip_driver *hip, const char *name, void *ret_function,
		struct dagpatch_error *error)
{
	void *function = dlsym(hip->library, name);

	if (!function)
		return complain(error, name, "not in this libamdhip64; HIP 5.2 has it");
	memcpy(ret_function, &function, sizeof(function));
	return 0;
}

/* NOLINTNEXTLINE(readability-function-*): two statements for each function of the list */
static int find_all(struct hip_driver *hip, struct dagpatch_error *error)
{
	int err = find(hip, "hipGetErrorString", &hip->call.hipGetErrorString, error);

	if (err == 0)
		err = find(hip, "hipKernelNameRef", &hip->call.hipKernelNameRef, error);
	if (err == 0)
		err = find(hip, "hipKernelNameRefByPtr", &hip->call.hipKernelNameRefByPtr, error);
#define HIP_FIND(name, parameters)                                                                 \
	if (err == 0)                                                                              \
		err = find(hip, #name, &hip->call.name, error);
	HIP_FUNCTIONS(HIP_FIND)
#undef HIP_FIND
	return err;
}

static void find_optional(struct hip_driver *hip)
{
	void *function = dlsym(hip->library, "hipGraphDebugDotPrint");

	memcpy(&hip->hipGraphDebugDotPrint, &function, sizeof(function));
	function = dlsym(hip->library, "hipGraphKernelNodeCopyAttributes");
	memcpy(&hip->hipGraphKernelNodeCopyAttributes, &function, sizeof(function));
	if (hip->version < HIP_HAS_ATTRIBUTES)
		return;
	function = dlsym(hip->library, "hipGraphKernelNodeSetAttribute");
	memcpy(&hip->hipGraphKernelNodeSetAttribute, &function, sizeof(function));
	if (function)
		hip->device.attributes = DAGPATCH_COOPERATIVE;
}

static int open_library(struct hip_driver *hip, const char *given, struct dagpatch_error *error)
{
	hip->library = hip_library_open(given);
	return hip->library ? 0 : complain(error, given ? given : "libamdhip64", dlerror());
}

/* Finds the thread's current device. */
static int find_device(struct hip_driver *hip, struct dagpatch_error *error)
{
	if (hip->call.hipGetDeviceCount(&hip->device_count) != HIP_OK || hip->device_count == 0)
		return complain(error, "hipGetDeviceCount", "no GPU");
	if (hip->device_count > 1 && hip->call.hipGetDevice(&hip->device.ordinal) != HIP_OK)
		return complain(error, "hipGetDevice", "it does not say");
	return 0;
}

static int open_hip(const struct dagpatch_options *options, struct patch_device **ret_device,
		    struct dagpatch_error *error)
{
	struct hip_driver *hip = calloc(1, sizeof(*hip));
	uintptr_t before;
	bool is_chain, forgets;
	int err = hip ? open_library(hip, options->library, error) : -ENOMEM;

	if (err == 0)
		err = find_all(hip, error);
	if (err == 0)
		err = find_device(hip, error);
	if (err == 0 && hip->call.hipRuntimeGetVersion(&hip->version) != HIP_OK)
		err = complain(error, "hipRuntimeGetVersion", "it does not say");
	if (err < 0) {
		if (hip && hip->library)
			dlclose(hip->library);
		free(hip);
		return err;
	}
	hip_find_loader(hip);
	find_optional(hip);
	pthread_mutex_init(&hip->texts_lock, NULL);
	pthread_mutex_init(&hip->idle_lock, NULL);
	hip->device.driver = &patch_driver_hip;
	/* docs/rocm.md has the observations behind these. */
	is_chain = hip->version < VERSION_5_3 || hip->version >= VERSION_6_3;
	forgets = hip->version >= VERSION_6_3 && hip->version < VERSION_7_2;
	hip->device.capabilities = PATCH_FLATTENS | (is_chain ? PATCH_CHAINS : 0) |
				   (forgets ? PATCH_FORGETS_MEMSETS : 0) |
				   (hip->loader.query_segment_descriptors ? PATCH_HAS_LAYOUTS : 0);
	if (hip->version >= VERSION_6_0)
		hip->device.updates_before_instantiate = UPDATES_OF_A_NODE;
	if (enter(&hip->device, &before) == 0) {
		hip_relax(hip);
		hip_probe(hip);
		hip_unrelax(hip, HIP_OK);
		leave(&hip->device, before);
	}
	patch_fault_take(); /* if the test cannot be run, every change makes a new graph */
	*ret_device = &hip->device;
	return 0;
}

static void close_hip(struct patch_device *device)
{
	struct hip_driver *hip = hip_of(device);
	uintptr_t before;

	if (hip->idle_count > 0 && enter(device, &before) == 0) {
		while (hip->idle_count > 0)
			hip->call.hipStreamDestroy(hip->idle[--hip->idle_count]);
		leave(device, before);
	}
	pthread_mutex_destroy(&hip->idle_lock);
	hip_text_release(hip);
	pthread_mutex_destroy(&hip->texts_lock);
	dlclose(hip->library);
	free(hip);
}

/* ---- memory ---- */

static int memory_alloc(struct patch_device *device, uint64_t bytes, bool on_host,
			void **ret_address)
{
	struct hip_driver *hip = hip_of(device);

	return on_host ? HIP_RELAXED(hip, hipHostMalloc, ret_address, bytes, 0)
		       : HIP_RELAXED(hip, hipMalloc, ret_address, bytes);
}

static void memory_free(struct patch_device *device, void *address, bool on_host)
{
	struct hip_driver *hip = hip_of(device);

	hip_relax(hip);
	if (on_host)
		hip->call.hipHostFree(address);
	else
		hip->call.hipFree(address);
	hip_unrelax(hip, HIP_OK);
}

static int copy_async(struct patch_device *device, void *dst, const void *src, uint64_t bytes,
		      struct driver_stream *stream)
{
	struct hip_driver *hip = hip_of(device);

	return HIP_CALL(hip, hipMemcpyAsync, dst, src, bytes, HIP_COPY_DEFAULT, stream);
}

/* ---- marks: events ---- */

static int mark_record(struct patch_device *device, struct driver_mark **mark,
		       struct driver_stream *stream)
{
	struct hip_driver *hip = hip_of(device);
	int err = 0;

	if (!*mark)
		err = HIP_CALL(hip, hipEventCreateWithFlags, (void **)mark, HIP_EVENT_NO_TIMING);
	return err < 0 ? err : HIP_CALL(hip, hipEventRecord, *mark, stream);
}

static int mark_order(struct patch_device *device, struct driver_mark *mark,
		      struct driver_stream *stream)
{
	struct hip_driver *hip = hip_of(device);

	return HIP_CALL(hip, hipStreamWaitEvent, stream, mark, 0);
}

static bool mark_is_done(struct patch_device *device, struct driver_mark *mark)
{
	struct hip_driver *hip = hip_of(device);

	hip_relax(hip);
	return hip_unrelax(hip, hip->call.hipEventQuery(mark)) == HIP_OK;
}

static void mark_wait(struct patch_device *device, struct driver_mark *mark)
{
	struct hip_driver *hip = hip_of(device);

	hip_relax(hip);
	hip_unrelax(hip, hip->call.hipEventSynchronize(mark));
}

static void mark_destroy(struct patch_device *device, struct driver_mark *mark)
{
	hip_of(device)->call.hipEventDestroy(mark);
}

static void wait_all(struct patch_device *device)
{
	struct hip_driver *hip = hip_of(device);

	hip_relax(hip);
	hip_unrelax(hip, hip->call.hipDeviceSynchronize());
}

/* ---- graphs ---- */

static int graph_create(struct patch_device *device, struct driver_graph **ret_graph)
{
	struct hip_driver *hip = hip_of(device);

	return HIP_CALL(hip, hipGraphCreate, (void **)ret_graph, 0);
}

static void graph_destroy(struct patch_device *device, struct driver_graph *graph)
{
	hip_of(device)->call.hipGraphDestroy(graph);
}

static int graph_clone(struct patch_device *device, struct driver_graph *graph,
		       struct driver_graph **ret_clone)
{
	struct hip_driver *hip = hip_of(device);

	return HIP_CALL(hip, hipGraphClone, (void **)ret_clone, graph);
}

/* If more nodes are asked for than there are, 5.2 fills the rest with NULL and returns the number
 * asked for. */
static int graph_nodes(struct patch_device *device, struct driver_graph *graph,
		       struct driver_node **ret_nodes, uint32_t capacity)
{
	struct hip_driver *hip = hip_of(device);
	size_t count = 0, room;
	int err = HIP_CALL(hip, hipGraphGetNodes, graph, NULL, &count);

	if (err < 0)
		return err;
	hip_text_forget(hip, graph);
	room = count < capacity ? count : capacity;
	if (room > 0)
		err = HIP_CALL(hip, hipGraphGetNodes, graph, (void **)ret_nodes, &room);
	return err < 0 ? err : (int)count;
}

static int graph_edges(struct patch_device *device, struct driver_graph *graph,
		       struct driver_node **ret_from, struct driver_node **ret_to,
		       uint32_t capacity)
{
	struct hip_driver *hip = hip_of(device);
	size_t count = 0, room;
	int err = HIP_CALL(hip, hipGraphGetEdges, graph, NULL, NULL, &count);

	if (err < 0)
		return err;
	room = count < capacity ? count : capacity;
	if (room > 0)
		err = HIP_CALL(hip, hipGraphGetEdges, graph, (void **)ret_from, (void **)ret_to,
			       &room);
	return err < 0 ? err : (int)count;
}

static int child_graph(struct patch_device *device, struct driver_node *node,
		       struct driver_graph **ret_graph)
{
	struct hip_driver *hip = hip_of(device);

	return HIP_CALL(hip, hipGraphChildGraphNodeGetGraph, node, (void **)ret_graph);
}

/* ---- executable graphs ---- */

/* HIP cannot launch a graph without nodes, alone or as a child: adds an empty node. */
static int fill_empty(struct hip_driver *hip, struct driver_graph *graph)
{
	struct patch_device *device = &hip->device;
	int count = graph_nodes(device, graph, NULL, 0);
	struct driver_node **nodes;
	void *node;
	int err;

	if (count <= 0)
		return count < 0 ? count
				 : HIP_CALL(hip, hipGraphAddEmptyNode, &node, graph, NULL, 0);
	nodes = calloc((size_t)count, sizeof(struct driver_node *));
	if (!nodes)
		return patch_fault(-ENOMEM, "calloc", 0, "no memory for nodes");
	err = graph_nodes(device, graph, nodes, (uint32_t)count);
	for (int i = 0; err >= 0 && i < count; i++) {
		struct driver_graph *child = hip_child_graph(hip, nodes[i]);

		if (child)
			err = fill_empty(hip, child);
	}
	free(nodes);
	return err;
}

static int instantiate(struct patch_device *device, struct driver_graph *graph, bool by_priorities,
		       struct driver_exec **ret_exec)
{
	struct hip_driver *hip = hip_of(device);
	int err = fill_empty(hip, graph);

	if (err < 0)
		return err;
	return HIP_CALL(hip, hipGraphInstantiate, (void **)ret_exec, graph, NULL, NULL, 0);
}

/* HIP frees what a replay in flight still uses. */
static void exec_destroy(struct patch_device *device, struct driver_exec *exec)
{
	hip_of(device)->call.hipGraphExecDestroy(exec);
}

static int launch(struct patch_device *device, struct driver_exec *exec, struct driver_table *table,
		  struct driver_stream *stream)
{
	struct hip_driver *hip = hip_of(device);

	return HIP_CALL(hip, hipGraphLaunch, exec, stream);
}

const struct patch_driver patch_driver_hip = {
	.name = "hip",
	.open = open_hip,
	.close = close_hip,
	.enter = enter,
	.leave = leave,
	.settle = settle,
	.pause = pause_visit,
	.resume = resume_visit,
	.stream_device = stream_device,
	.memory_alloc = memory_alloc,
	.memory_free = memory_free,
	.copy_async = copy_async,
	.kernel_name = hip_kernel_name,
	.mark_record = mark_record,
	.mark_order = mark_order,
	.mark_is_done = mark_is_done,
	.mark_wait = mark_wait,
	.mark_destroy = mark_destroy,
	.wait_all = wait_all,
	.kernel_parameters = hip_kernel_parameters,
	.capture_begin = hip_capture_begin,
	.capture_end = hip_capture_end,
	.stream_is_captured = hip_stream_is_captured,
	.capturing_get = hip_capturing_get,
	.capturing_continue = hip_capturing_continue,
	.graph_create = graph_create,
	.graph_destroy = graph_destroy,
	.graph_clone = graph_clone,
	.graph_nodes = graph_nodes,
	.graph_edges = graph_edges,
	.node_get = hip_node_get,
	.node_inherit = hip_node_inherit,
	.node_add = hip_node_add,
	.node_set = hip_node_set,
	.attributes_set = hip_attributes_set,
	.can_set = hip_can_set,
	.child_graph = child_graph,
	.instantiate = instantiate,
	.exec_destroy = exec_destroy,
	.exec_set = hip_exec_set,
	.exec_update = hip_exec_update,
	.launch = launch,
};
