#include "capture/hip/stream_capture.h"

#include "capture/hip/graph_node.h"
#include "capture/hip/handle_map.h"

_Atomic uint32_t stream_captures;

static struct handle_map streams = HANDLE_MAP_INIT; /* origin streams of captures */

struct capture_info {
	int status;
	void *graph;
	const void *const *nodes;
	size_t node_count;
};

static bool read_info(void *stream, struct capture_info *ret_info)
{
	int (*get)(void *, int *, unsigned long long *, void **, const void *const **, size_t *) =
		hip_next(HIP_hipStreamGetCaptureInfo_v2);
	struct capture_info info = {0};
	struct frame frame;
	int result;

	if (!get)
		return false;
	hip_mute(&frame);
	result = get(stream, &info.status, NULL, &info.graph, &info.nodes, &info.node_count);
	hip_unmute(&frame);
	*ret_info = info;
	return result == HIP_OK && info.status == HIP_CAPTURE_ACTIVE;
}

void stream_capture_before(struct hip_call *call)
{
	struct capture_info info;

	call->capturing = read_info(call->stream, &info);
	call->last_node = call->capturing && info.node_count ? info.nodes[0] : NULL;
}

/* Calls that change the set of last nodes without making one. */
static bool makes_no_node(uint32_t op)
{
	return op == HIP_hipStreamWaitEvent || op == HIP_hipStreamWaitEvent_spt ||
	       op == HIP_hipStreamUpdateCaptureDependencies;
}

void stream_capture_after(struct hip_call *call, const uint64_t *args)
{
	struct capture_info info;

	if (makes_no_node(call->frame.op) || !read_info(call->stream, &info))
		return;
	/* A new node is the stream's only last one; the old ones stay alive beside it, so that it
	 * cannot have the address of one of them. */
	if (info.node_count == 1 && info.nodes[0] != call->last_node)
		graph_node_captured(call, (uintptr_t)info.nodes[0], (uintptr_t)info.graph, args);
}

void stream_capture_begun(struct hip_call *call, int result, const uint64_t *args)
{
	uint64_t stream = args[ARG_hipStreamBeginCapture_stream];

	if (result == HIP_OK && stream && !handle_map_get(&streams, stream) &&
	    !handle_map_put(&streams, stream, 1))
		atomic_fetch_add_explicit(&stream_captures, 1, memory_order_relaxed);
}

static void forget(uint64_t stream)
{
	if (stream && handle_map_take(&streams, stream))
		atomic_fetch_sub_explicit(&stream_captures, 1, memory_order_relaxed);
}

void stream_capture_ended(struct hip_call *call, int result, const uint64_t *args)
{
	/* Asking the runtime after a failure would wipe out what hipGetLastError is about to tell
	 * the program, so the code has to say whether the capture goes on. */
	if (result == HIP_CAPTURE_UNMATCHED || result == HIP_CAPTURE_WRONG_THREAD)
		return;
	if (result == HIP_OK)
		graph_node_graph_made(args[ARG_hipStreamEndCapture_pGraph]);
	call->capturing = false;
	forget(args[ARG_hipStreamEndCapture_stream]);
}

void stream_capture_stream_gone(struct hip_call *call, int result, const uint64_t *args)
{
	if (result == HIP_OK) {
		call->capturing = false;
		forget(args[ARG_hipStreamDestroy_stream]);
	}
}

void stream_capture_reset(void)
{
	handle_map_reset(&streams);
	atomic_store_explicit(&stream_captures, 0, memory_order_relaxed);
}
