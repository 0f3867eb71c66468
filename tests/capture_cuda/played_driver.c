/* Events, waits and streams as a driver plays them: played_driver.h. */
#include "played_driver.h"

#include <pthread.h>
#include <stdlib.h>

#include "cuda_play.h"
#include "record/record.h"

enum { EVENTS_MOST = 256, STREAMS_MOST = 16 };

struct event {
	uint64_t handle;
	uint32_t number; /* CUPTI's; each event has its own */
	uint64_t order;	 /* of its last record, 0 = none */
	bool is_captured;
};

static struct {
	pthread_mutex_t lock;
	struct event events[EVENTS_MOST];
	uint32_t count, last_number;
	uint64_t last_order;
	uint64_t captured[STREAMS_MOST]; /* streams in the capture */
	uint32_t captured_count;
} driver = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread uint32_t correlation;
static __thread int result;
static __thread struct model_open half;

void driver_number_from(uint32_t first)
{
	correlation = first - 1;
}

void driver_fail(int with)
{
	result = with;
}

/* ---- state; call with the lock held ---- */

static struct event *find_event(uint64_t handle)
{
	for (uint32_t i = 0; i < driver.count; i++)
		if (driver.events[i].handle == handle)
			return &driver.events[i];
	if (driver.count == EVENTS_MOST)
		abort();
	driver.events[driver.count] =
		(struct event){.handle = handle, .number = ++driver.last_number};
	return &driver.events[driver.count++];
}

static bool is_captured(uint64_t stream)
{
	for (uint32_t i = 0; i < driver.captured_count; i++)
		if (driver.captured[i] == stream)
			return true;
	return false;
}

static void capture(uint64_t stream)
{
	if (!is_captured(stream))
		driver.captured[driver.captured_count++] = stream;
}

/* ---- calls ---- */

static void call(uint32_t cbid, const char *name, const void *params)
{
	struct model_open open;

	model_enter(&open, CUPTI_DOMAIN_RUNTIME, cbid, ++correlation, name, params);
	model_leave(&open, result);
}

static struct model_stream find_stream(uint64_t stream, enum driver_variant variant)
{
	return model_find_stream(!stream && variant == DRIVER_PTSZ ? CUDA_STREAM_PER_THREAD
								   : stream);
}

static void put_record(const struct event *event, struct model_stream stream)
{
	struct cupti_cuda_event record = {
		.kind = CUPTI_KIND_CUDA_EVENT,
		.correlationId = correlation,
		.contextId = stream.context,
		.streamId = stream.number,
		.eventId = event->number,
		.deviceTimestamp = model_now(),
		.cudaEventSyncId = event->order,
	};

	PLAY_PUT(record);
}

static void put_wait(enum record_cuda_sync_type type, struct model_stream stream,
		     const struct event *event)
{
	struct cupti_synchronization wait = {
		.kind = CUPTI_KIND_SYNCHRONIZATION,
		.type = type,
		.start = model_now(),
		.end = model_now(),
		.correlationId = correlation,
		.contextId = stream.context,
		.streamId = stream.number,
		.cudaEventId = event ? event->number : RECORD_CUDA_NONE,
		.cudaEventSyncId = event ? event->order : UINT32_MAX,
		.returnValue = (uint32_t)result,
	};

	PLAY_PUT(wait);
}

static struct model_stream no_stream(void)
{
	struct model_stream stream = model_find_stream(0);

	stream.number = RECORD_CUDA_NONE;
	return stream;
}

/* ---- events ---- */

void driver_create_event(uint64_t event)
{
	uint64_t made = 0;
	const uint64_t params[] = {(uintptr_t)&made, 0};
	struct model_open open;

	model_enter(&open, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaEventCreateWithFlags, ++correlation,
		    "cudaEventCreateWithFlags", params);
	if (!result)
		made = event;
	model_leave(&open, result);
}

void driver_destroy_event(uint64_t event)
{
	const uint64_t params[] = {event};

	call(CUPTI_cudaEventDestroy, "cudaEventDestroy", params);
	pthread_mutex_lock(&driver.lock);
	*find_event(event) = driver.events[driver.count - 1];
	driver.count--;
	pthread_mutex_unlock(&driver.lock);
}

/* A captured record leaves the event's last record as it was. */
static void take_record(uint64_t handle, uint64_t stream, enum driver_variant variant)
{
	struct event *event;

	pthread_mutex_lock(&driver.lock);
	event = find_event(handle);
	event->is_captured = !result && is_captured(stream);
	if (!result && !event->is_captured) {
		event->order = ++driver.last_order;
		put_record(event, find_stream(stream, variant));
	}
	pthread_mutex_unlock(&driver.lock);
}

void driver_record(uint64_t event, uint64_t stream, enum driver_variant variant)
{
	const uint64_t params[] = {event, stream};

	if (variant == DRIVER_PTSZ)
		call(CUPTI_cudaEventRecord_ptsz, "cudaEventRecord_ptsz", params);
	else
		call(CUPTI_cudaEventRecord, "cudaEventRecord", params);
	take_record(event, stream, variant);
}

void driver_record_enter(uint64_t event, uint64_t stream)
{
	static __thread uint64_t params[2];

	params[0] = event;
	params[1] = stream;
	model_enter(&half, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaEventRecord, ++correlation,
		    "cudaEventRecord", params);
	take_record(event, stream, DRIVER_PLAIN);
}

void driver_record_leave(void)
{
	model_leave(&half, result);
}

void driver_stream_wait(uint64_t stream, uint64_t handle, enum driver_variant variant)
{
	const uint64_t params[] = {stream, handle, 0};
	struct event *event;

	if (variant == DRIVER_PTSZ)
		call(CUPTI_cudaStreamWaitEvent_ptsz, "cudaStreamWaitEvent_ptsz", params);
	else
		call(CUPTI_cudaStreamWaitEvent, "cudaStreamWaitEvent", params);
	pthread_mutex_lock(&driver.lock);
	event = find_event(handle);
	if (!result && event->is_captured && driver.captured_count)
		capture(stream);
	put_wait(RECORD_CUDA_SYNC_STREAM_WAIT, find_stream(stream, variant), event);
	pthread_mutex_unlock(&driver.lock);
}

static void wait_for_event(uint64_t handle)
{
	pthread_mutex_lock(&driver.lock);
	put_wait(RECORD_CUDA_SYNC_EVENT, no_stream(), find_event(handle));
	pthread_mutex_unlock(&driver.lock);
}

void driver_wait_for_event(uint64_t event)
{
	const uint64_t params[] = {event};

	call(CUPTI_cudaEventSynchronize, "cudaEventSynchronize", params);
	wait_for_event(event);
}

void driver_query_event(uint64_t event)
{
	const uint64_t params[] = {event};

	call(CUPTI_cudaEventQuery, "cudaEventQuery", params);
	wait_for_event(event);
}

/* ---- streams ---- */

void driver_wait_for_stream(uint64_t stream, enum driver_variant variant)
{
	const uint64_t params[] = {stream};

	if (variant == DRIVER_PTSZ)
		call(CUPTI_cudaStreamSynchronize_ptsz, "cudaStreamSynchronize_ptsz", params);
	else
		call(CUPTI_cudaStreamSynchronize, "cudaStreamSynchronize", params);
	put_wait(RECORD_CUDA_SYNC_STREAM, find_stream(stream, variant), NULL);
}

void driver_query_stream(uint64_t stream)
{
	const uint64_t params[] = {stream};

	call(CUPTI_cudaStreamQuery, "cudaStreamQuery", params);
	put_wait(RECORD_CUDA_SYNC_STREAM, find_stream(stream, DRIVER_PLAIN), NULL);
}

void driver_wait_for_device(void)
{
	call(CUPTI_cudaDeviceSynchronize, "cudaDeviceSynchronize", NULL);
	put_wait(RECORD_CUDA_SYNC_CONTEXT, no_stream(), NULL);
}

void driver_kernel(uint64_t stream, enum driver_variant variant, const char *name)
{
	struct model_stream on = find_stream(stream, variant);
	struct cupti_kernel kernel;

	play_call(++correlation);
	kernel = play_kernel(correlation, name);
	kernel.contextId = on.context;
	kernel.streamId = on.number;
	PLAY_PUT(kernel);
}

/* ---- captures and graphs ---- */

void driver_begin_capture(uint64_t stream)
{
	const uint64_t params[] = {stream, 0};

	call(CUPTI_cudaStreamBeginCapture, "cudaStreamBeginCapture", params);
	pthread_mutex_lock(&driver.lock);
	capture(stream);
	pthread_mutex_unlock(&driver.lock);
}

void driver_end_capture(uint64_t stream)
{
	const uint64_t params[] = {stream, 0};

	call(CUPTI_cudaStreamEndCapture, "cudaStreamEndCapture", params);
	pthread_mutex_lock(&driver.lock);
	driver.captured_count = 0;
	for (uint32_t i = 0; i < driver.count; i++)
		driver.events[i].is_captured = false;
	pthread_mutex_unlock(&driver.lock);
}

void driver_record_node(uint64_t event, uint64_t stream, uint32_t graph, uint64_t node)
{
	const uint64_t params[] = {event, stream, 1};
	struct cupti_graph_data data = {
		.graph = (void *)(uintptr_t)graph,
		.node = (void *)node,
	};
	struct model_open open;

	model_enter(&open, CUPTI_DOMAIN_RUNTIME, CUPTI_cudaEventRecordWithFlags, ++correlation,
		    "cudaEventRecordWithFlags", params);
	model_resource(CUPTI_GRAPHNODE_CREATED, &data);
	model_leave(&open, result);
}

void driver_launch_recorder(uint32_t exec, uint64_t handle, uint64_t stream)
{
	const struct cupti_graph_launch_params params = {(void *)(uintptr_t)exec, (void *)stream};
	struct event *event;

	call(CUPTI_cudaGraphLaunch, "cudaGraphLaunch", &params);
	pthread_mutex_lock(&driver.lock);
	event = find_event(handle);
	event->order = ++driver.last_order;
	put_record(event, find_stream(stream, DRIVER_PLAIN));
	pthread_mutex_unlock(&driver.lock);
}
