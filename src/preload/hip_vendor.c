/* What virtual executables call of HIP. */
#include "preload/hip_real.h"

static int graph_destroy(void *graph)
{
	return HIP_REAL(hipGraphDestroy)(graph);
}

static int instantiate(void **ret_exec, void *graph, unsigned long long flags)
{
	return HIP_REAL(hipGraphInstantiate)(ret_exec, graph, NULL, NULL, 0);
}

static int exec_destroy(void *exec)
{
	return HIP_REAL(hipGraphExecDestroy)(exec);
}

static int graph_clone(void **ret_clone, void *graph)
{
	return hip_inner.hipGraphClone(ret_clone, graph);
}

static int graph_nodes(void *graph, void **nodes, size_t *count)
{
	return hip_inner.hipGraphGetNodes(graph, nodes, count);
}

/* Nodes in child graphs are not listed: no release of HIP sets them reliably (docs/dagpatch.md). */
static int node_type(void *node, uint32_t *ret_type, void **ret_child)
{
	*ret_child = NULL;
	return hip_inner.hipGraphNodeGetType(node, ret_type);
}

static int event_create(void **ret_event)
{
	return hip_inner.hipEventCreateWithFlags(ret_event, HIP_EVENT_NO_TIMING);
}

static int event_destroy(void *event)
{
	return hip_inner.hipEventDestroy(event);
}

static int event_record(void *event, void *stream)
{
	return hip_inner.hipEventRecord(event, stream);
}

static int stream_wait(void *stream, void *event)
{
	return hip_inner.hipStreamWaitEvent(stream, event, 0);
}

static bool is_capturing(void *stream)
{
	int status = HIP_CAPTURE_NONE;

	return (uintptr_t)stream > HIP_STREAM_PER_THREAD &&
	       hip_inner.hipStreamIsCapturing(stream, &status) == HIP_OK &&
	       status != HIP_CAPTURE_NONE;
}

static uintptr_t device_current(void)
{
	int device = 0;

	hip_inner.hipGetDevice(&device);
	return (uintptr_t)device;
}

static void device_set(uintptr_t device)
{
	hip_inner.hipSetDevice((int)device);
}

static int exchange_capture_mode(int *mode)
{
	return hip_inner.hipThreadExchangeStreamCaptureMode(mode);
}

static void forget_error(void)
{
	hip_inner.hipGetLastError();
}

const struct preload_vendor hip_vendor = {
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
	.apply = hip_image_apply,
	.is_capturing = is_capturing,
	.device_current = device_current,
	.device_set = device_set,
	.exchange_capture_mode = exchange_capture_mode,
	.forget_error = forget_error,
};
