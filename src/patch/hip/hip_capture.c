/* Captures of HIP streams: on dagpatch's own streams, and of the caller's streams that a launch
 * becomes part of. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/hip/hip_driver.h"

/* ---- own captures ---- */

/* Streams are kept, because in 5.2.3 hipStreamDestroy sometimes hangs while another thread is in
 * hipMemcpy. */
static int take_stream(struct hip_driver *hip, void **ret_stream)
{
	void *stream = NULL;

	pthread_mutex_lock(&hip->idle_lock);
	if (hip->idle_count > 0)
		stream = hip->idle[--hip->idle_count];
	pthread_mutex_unlock(&hip->idle_lock);
	if (!stream)
		return HIP_CALL(hip, hipStreamCreateWithFlags, ret_stream, HIP_STREAM_NON_BLOCKING);
	*ret_stream = stream;
	return 0;
}

static void give_stream(struct hip_driver *hip, void *stream)
{
	pthread_mutex_lock(&hip->idle_lock);
	if (hip->idle_count < HIP_IDLE) {
		hip->idle[hip->idle_count++] = stream;
		stream = NULL;
	}
	pthread_mutex_unlock(&hip->idle_lock);
	if (stream)
		hip->call.hipStreamDestroy(stream);
}

int hip_capture_begin(struct patch_device *device, struct driver_stream **ret_stream)
{
	struct hip_driver *hip = hip_of(device);
	void *stream;
	int err = take_stream(hip, &stream);

	if (err < 0)
		return err;
	err = HIP_CALL(hip, hipStreamBeginCapture, stream, HIP_CAPTURE_MODE_THREAD_LOCAL);
	if (err < 0) {
		hip->call.hipStreamDestroy(stream);
		return err;
	}
	*ret_stream = stream;
	return 0;
}

int hip_capture_end(struct patch_device *device, struct driver_stream *stream,
		    struct driver_graph **ret_graph)
{
	struct hip_driver *hip = hip_of(device);
	void *graph = NULL;
	int err = HIP_CALL(hip, hipStreamEndCapture, stream, &graph);

	if (err < 0)
		hip->call.hipStreamDestroy(stream);
	else
		give_stream(hip, stream);
	*ret_graph = err < 0 ? NULL : graph;
	return err;
}

/* ---- calls during captures of others ---- */

static _Thread_local int mode_before;

void hip_relax(struct hip_driver *hip)
{
	mode_before = HIP_CAPTURE_MODE_RELAXED;
	hip->call.hipThreadExchangeStreamCaptureMode(&mode_before);
}

int hip_unrelax(struct hip_driver *hip, int result)
{
	hip->call.hipThreadExchangeStreamCaptureMode(&mode_before);
	return result;
}

/* ---- captures of the caller ---- */

int hip_stream_is_captured(struct patch_device *device, struct driver_stream *stream)
{
	struct hip_driver *hip = hip_of(device);
	int status = HIP_CAPTURE_NONE;
	int err;

	if (!stream || (uintptr_t)stream == HIP_STREAM_LEGACY)
		return 0; /* never captured; 5.2 refuses these streams here */
	err = HIP_CALL(hip, hipStreamIsCapturing, stream, &status);
	if (err < 0)
		return err;
	if (status == HIP_CAPTURE_INVALIDATED)
		return patch_fault(-EINVAL, "hipStreamIsCapturing", status,
				   "the stream's capture was invalidated");
	return status == HIP_CAPTURE_ACTIVE;
}

int hip_capturing_get(struct patch_device *device, struct driver_stream *stream,
		      struct patch_capturing *ret_capturing)
{
	struct hip_driver *hip = hip_of(device);
	struct patch_capturing capturing = {0};
	unsigned long long id;
	void *const *after = NULL;
	size_t count = 0;
	int status = HIP_CAPTURE_NONE;
	int err = HIP_CALL(hip, hipStreamGetCaptureInfo_v2, stream, &status, &id,
			   (void **)&capturing.graph, &after, &count);

	if (err < 0)
		return err;
	if (!capturing.graph)
		return patch_fault(-EIO, "hipStreamGetCaptureInfo_v2", status, "no graph");
	capturing.after = calloc(count + 1, sizeof(struct driver_node *));
	if (!capturing.after)
		return patch_fault(-ENOMEM, "calloc", 0, "no memory for dependencies");
	if (count > 0)
		memcpy(capturing.after, after, count * sizeof(struct driver_node *));
	capturing.after_count = (uint32_t)count;
	*ret_capturing = capturing;
	return 0;
}

int hip_capturing_continue(struct patch_device *device, struct driver_stream *stream,
			   struct driver_node *const *nodes, uint32_t count)
{
	struct hip_driver *hip = hip_of(device);

	return HIP_CALL(hip, hipStreamUpdateCaptureDependencies, stream, (void *const *)nodes,
			count, HIP_SET_CAPTURE_DEPENDENCIES);
}
