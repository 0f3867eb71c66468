/*
 * Captures as on an H200 with driver 580. While a capture is open, calls of the capturing thread
 * that might disturb it are refused and invalidate it, in all modes except relaxed; so does a
 * launch of an executable graph into the stream. (On that driver a capture in global mode is also
 * invalidated by other threads' calls; here it is not.)
 */
#include <errno.h>

#include "played_cuda.h"

enum { CAPTURES = 8 };

static _Thread_local struct {
	cuda_stream stream;
	cuda_graph into; /* of a recapture; NULL: a new graph */
	bool forbids, is_invalid;
} open_captures[CAPTURES];
static _Thread_local uint32_t thread_mode = CUDA_CAPTURE_GLOBAL;

static int find(cuda_stream stream)
{
	for (int i = 0; i < CAPTURES; i++)
		if (open_captures[i].stream == stream)
			return i;
	return -1;
}

int played_may_disturb(void)
{
	int result = CUDA_OK;

	for (int i = 0; i < CAPTURES && thread_mode != CUDA_CAPTURE_RELAXED; i++)
		if (open_captures[i].stream && open_captures[i].forbids) {
			open_captures[i].is_invalid = true;
			result = CUDA_CAPTURE_UNSUPPORTED;
		}
	return result;
}

int played_launch_into(cuda_stream stream)
{
	int at = stream ? find(stream) : -1;

	if (at < 0)
		return CUDA_OK;
	open_captures[at].is_invalid = true;
	return CUDA_CAPTURE_UNSUPPORTED;
}

int cuThreadExchangeStreamCaptureMode(uint32_t *mode)
{
	uint32_t before = thread_mode;

	thread_mode = *mode;
	*mode = before;
	return CUDA_OK;
}

static int begin(cuda_stream stream, uint32_t mode, cuda_graph into)
{
	int rc = dagpatch_model_capture_begin(played_stream(stream));
	int at = find(NULL);

	if (rc == 0 && at >= 0) {
		open_captures[at].stream = stream;
		open_captures[at].into = into;
		open_captures[at].forbids = mode != CUDA_CAPTURE_RELAXED;
		open_captures[at].is_invalid = false;
	}
	return played_result(rc);
}

int cuStreamBeginCapture_v2(cuda_stream stream, uint32_t mode)
{
	return begin(stream, mode, NULL);
}

/* Calls no callback: accepts all parameters. */
int cuStreamBeginRecaptureToGraph(cuda_stream stream, uint32_t mode, cuda_graph graph,
				  void *callback, void *user)
{
	return begin(stream, mode, graph);
}

/* Gives the nodes of INTO the parameters of *GRAPH's, which is destroyed; then *GRAPH is INTO. */
static int recapture(cuda_graph into, cuda_graph *graph)
{
	struct dagpatch_model_graph *from = MODEL_GRAPH(*graph), *to = MODEL_GRAPH(into);
	int rc = from->count == to->count ? 0 : -EINVAL;

	for (uint32_t i = 0; rc == 0 && i < from->count; i++) {
		const struct model_node *node = from->nodes[i];
		struct patch_params params = {
			.kind = node->kind, .size = node->size, .image = node->image};

		rc = model_node_set(to->nodes[i], &params);
	}
	dagpatch_model_graph_destroy(from);
	*graph = into;
	return played_result(rc);
}

int cuStreamEndCapture(cuda_stream stream, cuda_graph *graph)
{
	int at = find(stream);
	int rc = dagpatch_model_capture_end(played_stream(stream),
					    (struct dagpatch_model_graph **)graph);

	if (at < 0)
		return played_result(rc);
	open_captures[at].stream = NULL;
	if (rc == 0 && !open_captures[at].is_invalid && open_captures[at].into)
		return recapture(open_captures[at].into, graph);
	if (rc < 0 || !open_captures[at].is_invalid)
		return played_result(rc);
	dagpatch_model_graph_destroy((struct dagpatch_model_graph *)*graph);
	*graph = NULL;
	return CUDA_CAPTURE_IS_INVALID;
}

int cuStreamIsCapturing(cuda_stream stream, uint32_t *status)
{
	struct model_node *const *nodes;
	uint32_t count;
	int at = find(stream);

	*status = CUDA_CAPTURE_NONE;
	if (model_stream_capture(played_stream(stream), &nodes, &count))
		*status = at >= 0 && open_captures[at].is_invalid ? CUDA_CAPTURE_INVALIDATED
								  : CUDA_CAPTURE_ACTIVE;
	return CUDA_OK;
}

int cuStreamGetCaptureInfo_v2(cuda_stream stream, uint32_t *status, uint64_t *id, cuda_graph *graph,
			      const cuda_node **nodes, size_t *count)
{
	uint32_t number = 0;

	*graph = (cuda_graph)model_stream_capture(played_stream(stream),
						  (struct model_node *const **)nodes, &number);
	*count = number;
	*id = 1;
	return cuStreamIsCapturing(stream, status);
}

int cuStreamUpdateCaptureDependencies(cuda_stream stream, cuda_node *nodes, size_t count,
				      unsigned int flags)
{
	if (flags != CUDA_SET_CAPTURE_DEPENDENCIES)
		return CUDA_NOT_SUPPORTED;
	return played_result(model_stream_continue(
		played_stream(stream), (struct model_node *const *)nodes, (uint32_t)count));
}
