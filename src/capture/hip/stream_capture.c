/* Finds the graph nodes that captured calls become; see stream_capture.h. */
#include "capture/hip/stream_capture.h"

#include <string.h>

#include "capture/capture_session.h"
#include "capture/handle_map.h"
#include "capture/hip/graph_node.h"
#include "capture/hip/hip_runtime.h"
#include "record/stream_handles.h"
#include "vendor/hip_types.h"

_Static_assert(HIP_STREAM_LEGACY == STREAM_HANDLE_LEGACY &&
		       HIP_STREAM_PER_THREAD == STREAM_HANDLE_PER_THREAD,
	       "readers know them");

_Atomic uint32_t stream_captures;

static struct handle_map streams = HANDLE_MAP_INIT; /* the streams on which captures were begun */

/* The answer of hipStreamGetCaptureInfo_v2; the nodes are the runtime's. */
struct capture_info {
	int status;
	void *graph;
	const void *const *nodes;
	size_t node_count;
};

/* Returns the stream that the call works on. For functions whose name ends in _spt, NULL is the
 * thread's own default stream. */
static void *stream_of(const struct hip_call *call)
{
	const char *symbol = hip_functions[call->frame.function].symbol;
	size_t length = strlen(symbol);

	if (!call->stream && length > 4 && !strcmp(symbol + length - 4, "_spt"))
		return (void *)HIP_STREAM_PER_THREAD;
	return call->stream;
}

/* Returns hipStreamGetCaptureInfo_v2 of the runtime that the call went to; NULL: none. */
static void *info_function(const struct hip_call *call)
{
	enum hip_function function = HIP_hipStreamGetCaptureInfo_v2;

	return call->is_bare ? atomic_load_explicit(&hip_nexts[call->door][function],
						    memory_order_relaxed)
			     : hip_next(function);
}

/* Returns whether the call's stream is being captured, and its state. */
static bool read_info(const struct hip_call *call, struct capture_info *ret_info)
{
	int (*get)(void *, int *, unsigned long long *, void **, const void *const **, size_t *) =
		info_function(call);
	void *stream = stream_of(call);
	struct capture_info info = {0};
	struct frame frame;
	int err;

	/* The legacy default stream cannot be captured. */
	if (!get || (uintptr_t)stream <= HIP_STREAM_LEGACY)
		return false;
	hip_mute(&frame);
	err = get(stream, &info.status, NULL, &info.graph, &info.nodes, &info.node_count);
	hip_unmute(&frame);
	*ret_info = info;
	return err == HIP_OK && info.status == HIP_CAPTURE_ACTIVE;
}

/* Launches without a stream argument: an earlier call has set the stream, or a list has several. */
static bool has_no_stream(uint32_t function)
{
	return function == HIP_hipLaunchByPtr ||
	       function == HIP_hipExtLaunchMultiKernelMultiDevice ||
	       function == HIP_hipLaunchCooperativeKernelMultiDevice ||
	       function == HIP_hipModuleLaunchCooperativeKernelMultiDevice;
}

void stream_capture_before(struct hip_call *call)
{
	struct capture_info info;

	if (has_no_stream(call->frame.function)) {
		call->capturing = true;
		return;
	}
	call->capturing = read_info(call, &info);
	call->last_node = call->capturing && info.node_count ? info.nodes[0] : NULL;
}

/* Calls that change the set of last nodes without making a node, or that end the capture. */
static bool makes_no_node(uint32_t function)
{
	return function == HIP_hipStreamWaitEvent || function == HIP_hipStreamWaitEvent_spt ||
	       function == HIP_hipStreamUpdateCaptureDependencies ||
	       function == HIP_hipStreamEndCapture || function == HIP_hipStreamEndCapture_spt ||
	       function == HIP_hipStreamDestroy;
}

/* For calls with a stream argument. */
static bool is_launch(uint32_t function)
{
	return strstr(hip_functions[function].symbol, "Launch") != NULL;
}

void stream_capture_after(struct hip_call *call, const uint64_t *args)
{
	struct capture_info info;

	if (makes_no_node(call->frame.function))
		return;
	/* The call has submitted nothing, so its stream may be one that is being captured. */
	if (has_no_stream(call->frame.function)) {
		if (!call->frame.activities && call->frame.session)
			graph_node_captured_unknown(call);
		return;
	}
	/* A new node becomes the stream's only last node. The old last nodes still exist, so the
	 * new one cannot have the address of one of them. When there is no new node, the call
	 * was not captured: HIP 5.2.3 launches most kernels at once. The handles of a second
	 * runtime cannot be used with our functions. */
	if (call->is_bare || !read_info(call, &info)) {
		if (is_launch(call->frame.function) && call->frame.session)
			graph_node_captured_unknown(call);
	} else if (info.node_count == 1 && info.nodes[0] != call->last_node) {
		call->is_node = true;
		graph_node_captured(call, (uintptr_t)info.nodes[0], (uintptr_t)info.graph, args);
	}
}

/* The key of a stream in streams. Each thread has a default stream of its own, all under one
 * handle, so the thread's id is part of the key. */
static uint64_t key_of(const struct hip_call *call, uint64_t stream)
{
	if (!stream)
		stream = (uintptr_t)stream_of(call);
	return stream == HIP_STREAM_PER_THREAD ? (uint64_t)session_tid() << 32 | stream : stream;
}

void stream_capture_begun(struct hip_call *call, int result, const uint64_t *args)
{
	uint64_t stream = key_of(call, args[ARG_hipStreamBeginCapture_stream]);

	if (result == HIP_OK && stream && !handle_map_get(&streams, stream) &&
	    !handle_map_put(&streams, stream, 1))
		atomic_fetch_add_explicit(&stream_captures, 1, memory_order_relaxed);
}

/* A stream's capture has ended. A stream that is not in streams is ignored. */
static void forget(uint64_t stream)
{
	if (stream && handle_map_take(&streams, stream))
		atomic_fetch_sub_explicit(&stream_captures, 1, memory_order_relaxed);
}

void stream_capture_ended(struct hip_call *call, int result, const uint64_t *args)
{
	/* Asking the runtime after a failure would change what hipGetLastError is about to
	 * return to the program. So the error code has to tell whether the capture goes on. */
	if (result == HIP_CAPTURE_UNMATCHED || result == HIP_CAPTURE_WRONG_THREAD)
		return;
	if (result == HIP_OK && !call->is_bare)
		graph_node_graph_made(args[ARG_hipStreamEndCapture_pGraph]);
	forget(key_of(call, args[ARG_hipStreamEndCapture_stream]));
}

void stream_capture_stream_gone(struct hip_call *call, int result, const uint64_t *args)
{
	if (result == HIP_OK)
		forget(args[ARG_hipStreamDestroy_stream]);
}

void stream_capture_reset(void)
{
	handle_map_reset(&streams);
	atomic_store_explicit(&stream_captures, 0, memory_order_relaxed);
}
