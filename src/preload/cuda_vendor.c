/* What virtual executables call of CUDA. */
#include "preload/cuda_real.h"

enum { LEGACY_STREAM = 1 };

static int graph_destroy(void *graph)
{
	return CUDA_REAL(cuGraphDestroy)(graph);
}

static int instantiate(void **ret_exec, void *graph, unsigned long long flags)
{
	return CUDA_REAL(cuGraphInstantiateWithFlags)((cuda_exec *)ret_exec, graph, flags);
}

static int exec_destroy(void *exec)
{
	return CUDA_REAL(cuGraphExecDestroy)(exec);
}

static int graph_clone(void **ret_clone, void *graph)
{
	return cuda_inner.cuGraphClone((cuda_graph *)ret_clone, graph);
}

static int graph_nodes(void *graph, void **nodes, size_t *count)
{
	return cuda_inner.cuGraphGetNodes(graph, (cuda_node *)nodes, count);
}

static int node_type(void *node, uint32_t *ret_type, void **ret_child)
{
	int err = cuda_inner.cuGraphNodeGetType(node, ret_type);

	*ret_child = NULL;
	if (err == CUDA_OK && *ret_type == CUDA_NODE_GRAPH)
		err = cuda_inner.cuGraphChildGraphNodeGetGraph(node, (cuda_graph *)ret_child);
	return err;
}

/* Without an answer of the driver the node may name it. */
static bool may_name(void *node, void *module)
{
	struct cuda_kernel_node_params params = {0};
	void *own = module;
	uint32_t type;

	if (cuda_inner.cuGraphNodeGetType(node, &type) != CUDA_OK)
		return true;
	if (type != CUDA_NODE_KERNEL)
		return false;
	return !cuda_inner.cuFuncGetModule ||
	       cuda_inner.cuGraphKernelNodeGetParams_v2(node, &params) != CUDA_OK || !params.func ||
	       cuda_inner.cuFuncGetModule(&own, params.func) != CUDA_OK || own == module;
}

static int event_create(void **ret_event)
{
	return cuda_inner.cuEventCreate((cuda_event *)ret_event, CUDA_EVENT_NO_TIMING);
}

static int event_destroy(void *event)
{
	return cuda_inner.cuEventDestroy_v2(event);
}

static int event_record(void *event, void *stream)
{
	return cuda_inner.cuEventRecord(event, stream);
}

static int stream_wait(void *stream, void *event)
{
	return cuda_inner.cuStreamWaitEvent(stream, event, 0);
}

/* The legacy stream cannot be captured, and asking it may end captures of other streams. */
static bool is_capturing(void *stream)
{
	uint32_t status = CUDA_CAPTURE_NONE;

	return (uintptr_t)stream > LEGACY_STREAM && cuda_may_capture() &&
	       cuda_inner.cuStreamIsCapturing(stream, &status) == CUDA_OK &&
	       status != CUDA_CAPTURE_NONE;
}

static uintptr_t device_current(void)
{
	cuda_context context = NULL;

	cuda_inner.cuCtxGetCurrent(&context);
	return (uintptr_t)context;
}

/* Replaces the top of the thread's stack of contexts, or pushes onto an empty one; NULL pops. */
static void device_set(uintptr_t context)
{
	cuda_inner.cuCtxSetCurrent((cuda_context)context);
}

static int exchange_capture_mode(int *mode)
{
	return cuda_inner.cuThreadExchangeStreamCaptureMode((uint32_t *)mode);
}

const struct preload_vendor cuda_vendor = {
	.graph_clone = graph_clone,
	.graph_destroy = graph_destroy,
	.graph_nodes = graph_nodes,
	.node_type = node_type,
	.may_name = may_name,
	.instantiate = instantiate,
	.exec_destroy = exec_destroy,
	.event_create = event_create,
	.event_destroy = event_destroy,
	.event_record = event_record,
	.stream_wait = stream_wait,
	.apply = cuda_image_apply,
	.is_capturing = is_capturing,
	.device_current = device_current,
	.device_set = device_set,
	.exchange_capture_mode = exchange_capture_mode,
};
