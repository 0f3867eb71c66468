/* Streams of the model device: in-order queues. A thread that waits for work of a lazy stream runs
 * that stream. */
#include <errno.h>
#include <stdlib.h>

#include "patch/model/model_queue.h"

pthread_mutex_t model_queues_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct dagpatch_model_stream *alive;

/* The streams that NULL stands for, one for each device; never destroyed. */
static struct dagpatch_model_stream defaults[DAGPATCH_MODEL_DEVICES];

struct dagpatch_model_stream *model_stream_of(struct dagpatch_model_stream *given)
{
	uint32_t device = dagpatch_model_device();
	struct dagpatch_model_stream *stream = &defaults[device];

	if (given)
		return given;
	pthread_mutex_lock(&model_queues_lock);
	if (!stream->end) {
		stream->device = device;
		stream->kind = DAGPATCH_MODEL_LAZY;
		stream->end = &stream->first;
		stream->next_alive = alive;
		alive = stream;
	}
	pthread_mutex_unlock(&model_queues_lock);
	return stream;
}

static bool is_alive(const struct dagpatch_model_stream *stream)
{
	for (struct dagpatch_model_stream *at = alive; at; at = at->next_alive)
		if (at == stream)
			return true;
	return false;
}

/* Call with the lock. */
static void order_release(struct model_exec_order *order)
{
	if (--order->references > 0)
		return;
	model_memory_give(order->bytes);
	free(order);
}

/* Call with the lock. */
static void operation_destroy(struct operation *operation)
{
	if (operation->order)
		order_release(operation->order);
	if (operation->what == RUN_REPLAY) {
		model_plan_release(operation->replay.plan);
		model_values_release(operation->replay.values);
	}
	patch_image_release(&operation->image);
	free(operation);
}

static void run_one(struct dagpatch_model_stream *stream);

void model_stream_help(struct dagpatch_model_stream *stream)
{
	if (stream && is_alive(stream) && stream->kind == DAGPATCH_MODEL_LAZY &&
	    !stream->is_running && stream->first)
		run_one(stream);
	else
		pthread_cond_wait(&changed, &model_queues_lock);
}

/* An event node of a graph. Call without the lock. */
static void run_event(struct dagpatch_model_event *event, bool is_record)
{
	pthread_mutex_lock(&model_queues_lock);
	if (is_record) {
		event->recorded++;
		event->done++;
		pthread_cond_broadcast(&changed);
	} else {
		uint64_t target = event->recorded;

		while (event->done < target)
			model_stream_help(event->stream);
	}
	pthread_mutex_unlock(&model_queues_lock);
}

/* Call with the lock; it is released while the work runs. */
static void run_operation(struct operation *operation)
{
	struct model_exec_order *order = operation->order;

	switch (operation->what) {
	case AWAIT_EVENT:
		while (operation->event->done < operation->ticket)
			model_stream_help(operation->other);
		break;
	case RECORD_EVENT:
		operation->event->done++;
		break;
	case RUN_REPLAY:
		while (order->done < operation->ticket)
			model_stream_help(operation->other);
		if (order->is_gone)
			model_note_stale();
		pthread_mutex_unlock(&model_queues_lock);
		model_run_replay(&operation->replay, run_event);
		pthread_mutex_lock(&model_queues_lock);
		order->done++;
		break;
	case RUN_IMAGE:
		pthread_mutex_unlock(&model_queues_lock);
		model_run_image(operation->image.kind, operation->image.bytes, run_event);
		pthread_mutex_lock(&model_queues_lock);
		break;
	}
}

static void run_one(struct dagpatch_model_stream *stream)
{
	struct operation *operation = stream->first;

	stream->first = operation->next;
	if (!stream->first)
		stream->end = &stream->first;
	stream->is_running = true;
	run_operation(operation);
	operation_destroy(operation);
	stream->is_running = false;
	pthread_cond_broadcast(&changed);
}

static void *stream_thread(void *argument)
{
	struct dagpatch_model_stream *stream = argument;

	pthread_mutex_lock(&model_queues_lock);
	while (stream->first || !stream->is_ending) {
		if (stream->first)
			run_one(stream);
		else
			pthread_cond_wait(&changed, &model_queues_lock);
	}
	pthread_mutex_unlock(&model_queues_lock);
	return NULL;
}

int dagpatch_model_stream_create(int kind, struct dagpatch_model_stream **ret_stream)
{
	struct dagpatch_model_stream *stream;

	if (!ret_stream || (kind != DAGPATCH_MODEL_LAZY && kind != DAGPATCH_MODEL_THREADED))
		return -EINVAL;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return -ENOMEM;
	stream->device = dagpatch_model_device();
	stream->kind = kind;
	stream->end = &stream->first;
	if (kind == DAGPATCH_MODEL_THREADED &&
	    pthread_create(&stream->thread, NULL, stream_thread, stream) != 0) {
		free(stream);
		return -EAGAIN;
	}
	pthread_mutex_lock(&model_queues_lock);
	stream->next_alive = alive;
	alive = stream;
	pthread_mutex_unlock(&model_queues_lock);
	model_live.streams++;
	*ret_stream = stream;
	return 0;
}

void model_stream_prioritise(struct dagpatch_model_stream *stream, int32_t priority)
{
	stream->priority = priority;
}

int model_stream_device(struct patch_device *device, struct driver_stream *stream, int *ret_ordinal)
{
	*ret_ordinal =
		stream ? (int)((struct dagpatch_model_stream *)stream)->device : device->ordinal;
	return 0;
}

static void drain(struct dagpatch_model_stream *stream)
{
	while (stream->first || stream->is_running)
		model_stream_help(stream);
}

int dagpatch_model_stream_synchronize(struct dagpatch_model_stream *given)
{
	struct dagpatch_model_stream *stream = model_stream_of(given);

	if (stream->capture)
		return -EBUSY;
	pthread_mutex_lock(&model_queues_lock);
	drain(stream);
	pthread_mutex_unlock(&model_queues_lock);
	return 0;
}

void dagpatch_model_stream_destroy(struct dagpatch_model_stream *stream)
{
	if (!stream)
		return;
	pthread_mutex_lock(&model_queues_lock);
	drain(stream);
	for (struct dagpatch_model_stream **at = &alive; *at; at = &(*at)->next_alive)
		if (*at == stream) {
			*at = stream->next_alive;
			break;
		}
	stream->is_ending = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&model_queues_lock);
	if (stream->kind == DAGPATCH_MODEL_THREADED)
		pthread_join(stream->thread, NULL);
	free(stream->tail);
	free(stream);
	model_live.streams--;
}

void model_stream_await(struct dagpatch_model_stream *stream, const _Atomic uint64_t *count,
			uint64_t target)
{
	pthread_mutex_lock(&model_queues_lock);
	while (*count < target)
		model_stream_help(stream);
	pthread_mutex_unlock(&model_queues_lock);
}

void model_stream_append(struct dagpatch_model_stream *stream, struct operation *operation)
{
	*stream->end = operation;
	stream->end = &operation->next;
	pthread_cond_broadcast(&changed);
}

void model_stream_join_capture(struct dagpatch_model_stream *stream, struct capture *capture)
{
	pthread_mutex_lock(&model_queues_lock);
	stream->capture = capture;
	pthread_mutex_unlock(&model_queues_lock);
}

void model_streams_leave_capture(const struct capture *capture)
{
	pthread_mutex_lock(&model_queues_lock);
	for (struct dagpatch_model_stream *at = alive; at; at = at->next_alive)
		if (at->capture == capture)
			at->capture = NULL;
	pthread_mutex_unlock(&model_queues_lock);
}

/* ---- submitting work ---- */

int dagpatch_model_exec_launch(struct dagpatch_model_exec *exec,
			       struct dagpatch_model_stream *given)
{
	struct dagpatch_model_stream *stream = model_stream_of(given);
	struct operation *operation;

	if (!exec)
		return -EINVAL;
	if (stream->capture)
		return -EBUSY;
	if (stream->device != exec->device)
		return -EXDEV;
	operation = calloc(1, sizeof(*operation));
	if (!operation)
		return -ENOMEM;
	operation->what = RUN_REPLAY;
	operation->replay = (struct model_replay){exec->plan, exec->values, exec->table};
	exec->plan->references++;
	exec->values->references++;
	pthread_mutex_lock(&model_queues_lock);
	operation->order = exec->order;
	exec->order->references++;
	operation->ticket = exec->order->launched++;
	operation->other = exec->order->last;
	exec->order->last = stream;
	model_stream_append(stream, operation);
	pthread_mutex_unlock(&model_queues_lock);
	return 0;
}

void model_exec_order_release(struct dagpatch_model_exec *exec, bool is_kept)
{
	pthread_mutex_lock(&model_queues_lock);
	exec->order->is_gone = !is_kept;
	order_release(exec->order);
	pthread_mutex_unlock(&model_queues_lock);
}

void model_streams_drain(void)
{
	pthread_mutex_lock(&model_queues_lock);
	for (struct dagpatch_model_stream *at = alive; at;) {
		if (at->first || at->is_running) {
			model_stream_help(at);
			at = alive; /* the stream may have been destroyed by now */
		} else {
			at = at->next_alive;
		}
	}
	pthread_mutex_unlock(&model_queues_lock);
}
