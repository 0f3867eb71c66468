/* Captures of CUDA streams: on dagpatch's own streams, and of the caller's streams that a launch
 * becomes part of. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/cuda/cuda_driver.h"

/* ---- own captures ---- */

struct cuda_idle_stream {
	struct cuda_idle_stream *next;
	cuda_stream stream;
};

static cuda_stream take_idle(struct cuda_driver *cuda)
{
	struct cuda_idle_stream *found;
	cuda_stream stream = NULL;

	pthread_mutex_lock(&cuda->lock);
	found = cuda->idle;
	if (found) {
		cuda->idle = found->next;
		stream = found->stream;
		free(found);
	}
	pthread_mutex_unlock(&cuda->lock);
	return stream;
}

static void give_idle(struct cuda_driver *cuda, cuda_stream stream)
{
	struct cuda_idle_stream *idle = malloc(sizeof(*idle));

	if (!idle) {
		cuda->call.cuStreamDestroy_v2(stream);
		return;
	}
	pthread_mutex_lock(&cuda->lock);
	*idle = (struct cuda_idle_stream){cuda->idle, stream};
	cuda->idle = idle;
	pthread_mutex_unlock(&cuda->lock);
}

int cuda_capture_begin(struct patch_device *device, struct driver_stream **ret_stream)
{
	struct cuda_driver *cuda = cuda_of(device);
	cuda_stream stream = take_idle(cuda);
	int err = 0;

	if (!stream)
		err = CUDA_CALL(cuda, cuStreamCreate, &stream, CUDA_STREAM_NON_BLOCKING);
	if (err)
		return err;
	err = CUDA_CALL(cuda, cuStreamBeginCapture_v2, stream, CUDA_CAPTURE_THREAD_LOCAL);
	if (err)
		cuda->call.cuStreamDestroy_v2(stream);
	else
		*ret_stream = (struct driver_stream *)stream;
	return err;
}

int cuda_capture_end(struct patch_device *device, struct driver_stream *stream,
		     struct driver_graph **ret_graph)
{
	struct cuda_driver *cuda = cuda_of(device);
	cuda_graph graph = NULL;
	int err = CUDA_CALL(cuda, cuStreamEndCapture, (cuda_stream)stream, &graph);

	*ret_graph = (struct driver_graph *)graph;
	if (err)
		cuda->call.cuStreamDestroy_v2((cuda_stream)stream);
	else
		give_idle(cuda, (cuda_stream)stream);
	return err;
}

void cuda_capture_release(struct cuda_driver *cuda)
{
	struct cuda_idle_stream *idle = cuda->idle;

	while (idle) {
		struct cuda_idle_stream *next = idle->next;

		cuda->call.cuStreamDestroy_v2(idle->stream);
		free(idle);
		idle = next;
	}
	cuda->idle = NULL;
}

/* ---- captures of the caller ---- */

int cuda_stream_is_captured(struct patch_device *device, struct driver_stream *stream)
{
	struct cuda_driver *cuda = cuda_of(device);
	uint32_t status = CUDA_CAPTURE_NONE;
	int err = CUDA_CALL(cuda, cuStreamIsCapturing, (cuda_stream)stream, &status);

	if (err)
		return err;
	if (status == CUDA_CAPTURE_INVALIDATED)
		return patch_fault(-EINVAL, "cuStreamIsCapturing", (int)status,
				   "the stream's capture was invalidated");
	return status == CUDA_CAPTURE_ACTIVE;
}

int cuda_capturing_get(struct patch_device *device, struct driver_stream *stream,
		       struct patch_capturing *ret_capturing)
{
	struct cuda_driver *cuda = cuda_of(device);
	struct patch_capturing capturing = {0};
	const cuda_node *after = NULL;
	cuda_graph graph = NULL;
	uint32_t status;
	uint64_t id;
	size_t count = 0;
	int err = CUDA_CALL(cuda, cuStreamGetCaptureInfo_v2, (cuda_stream)stream, &status, &id,
			    &graph, &after, &count);

	if (err)
		return err;
	capturing.graph = (struct driver_graph *)graph;
	capturing.after = calloc(count + 1, sizeof(struct driver_node *));
	if (!capturing.after)
		return patch_fault(-ENOMEM, "calloc", 0, "no memory for dependencies");
	if (count > 0)
		memcpy(capturing.after, after, count * sizeof(*after));
	capturing.after_count = (uint32_t)count;
	*ret_capturing = capturing;
	return 0;
}

int cuda_capturing_continue(struct patch_device *device, struct driver_stream *stream,
			    struct driver_node *const *nodes, uint32_t count)
{
	struct cuda_driver *cuda = cuda_of(device);

	return CUDA_CALL(cuda, cuStreamUpdateCaptureDependencies, (cuda_stream)stream,
			 (cuda_node *)nodes, count, CUDA_SET_CAPTURE_DEPENDENCIES);
}
