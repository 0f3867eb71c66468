/* Events of the model device: as a program records and awaits them, and as the core does it through
 * the driver's table, where an event is a mark. */
#include <errno.h>
#include <stdlib.h>

#include "patch/model/model_queue.h"

int dagpatch_model_event_create(struct dagpatch_model_event **ret_event)
{
	struct dagpatch_model_event *event = ret_event ? calloc(1, sizeof(*event)) : NULL;

	if (!ret_event)
		return -EINVAL;
	if (!event)
		return -ENOMEM;
	model_live.events++;
	*ret_event = event;
	return 0;
}

void dagpatch_model_event_destroy(struct dagpatch_model_event *event)
{
	if (!event)
		return;
	free(event->nodes);
	free(event);
	model_live.events--;
}

bool model_event_is_done(struct dagpatch_model_event *event)
{
	bool is_done;

	pthread_mutex_lock(&model_queues_lock);
	is_done = event->done == event->recorded;
	pthread_mutex_unlock(&model_queues_lock);
	return is_done;
}

void model_event_await(struct dagpatch_model_event *event)
{
	pthread_mutex_lock(&model_queues_lock);
	while (event->done < event->recorded)
		model_stream_help(event->stream);
	pthread_mutex_unlock(&model_queues_lock);
}

uint64_t dagpatch_model_event_count(struct dagpatch_model_event *event)
{
	return event ? event->done : 0;
}

static int submit_event_node(struct dagpatch_model_stream *stream,
			     struct dagpatch_model_event *event, enum patch_kind kind)
{
	struct patch_event image = {event};

	return model_submit(stream, &(struct patch_params){
					    .kind = kind, .size = sizeof(image), .image = &image});
}

/* Call with the lock. */
static int append_event(struct dagpatch_model_stream *stream, struct dagpatch_model_event *event,
			enum operation_kind what)
{
	struct operation *operation = calloc(1, sizeof(*operation));

	if (!operation)
		return -ENOMEM;
	operation->what = what;
	operation->event = event;
	operation->other = event->stream;
	if (what == RECORD_EVENT) {
		event->recorded++;
		event->stream = stream;
	}
	operation->ticket = event->recorded;
	model_stream_append(stream, operation);
	return 0;
}

int dagpatch_model_event_record(struct dagpatch_model_stream *given,
				struct dagpatch_model_event *event, int external)
{
	struct dagpatch_model_stream *stream = model_stream_of(given);
	int err;

	if (!event)
		return -EINVAL;
	if (stream->capture)
		return external ? submit_event_node(stream, event, PATCH_EVENT_RECORD)
				: model_capture_record(stream, event);
	pthread_mutex_lock(&model_queues_lock);
	err = append_event(stream, event, RECORD_EVENT);
	pthread_mutex_unlock(&model_queues_lock);
	return err;
}

int dagpatch_model_event_wait(struct dagpatch_model_stream *given,
			      struct dagpatch_model_event *event, int external)
{
	struct dagpatch_model_stream *stream = model_stream_of(given);
	int err;

	if (!event)
		return -EINVAL;
	if (stream->capture && external)
		return submit_event_node(stream, event, PATCH_EVENT_WAIT);
	if (event->capture && (!stream->capture || stream->capture == event->capture))
		return model_capture_wait(stream, event);
	if (stream->capture)
		return -EINVAL;
	pthread_mutex_lock(&model_queues_lock);
	err = append_event(stream, event, AWAIT_EVENT);
	pthread_mutex_unlock(&model_queues_lock);
	return err;
}

/* ---- the driver's marks ---- */

int model_mark_record(struct patch_device *device, struct driver_mark **mark,
		      struct driver_stream *stream)
{
	struct dagpatch_model_event *event = (struct dagpatch_model_event *)*mark;
	int err = model_begin(device, "mark_record");

	if (err == 0 && !event)
		err = model_end("mark_record", dagpatch_model_event_create(&event));
	*mark = (struct driver_mark *)event;
	if (err < 0)
		return err;
	return model_end("mark_record", dagpatch_model_event_record(
						(struct dagpatch_model_stream *)stream, event, 0));
}

int model_mark_order(struct patch_device *device, struct driver_mark *mark,
		     struct driver_stream *stream)
{
	int err = model_begin(device, "mark_order");

	if (err < 0)
		return err;
	return model_end("mark_order",
			 dagpatch_model_event_wait((struct dagpatch_model_stream *)stream,
						   (struct dagpatch_model_event *)mark, 0));
}

bool model_mark_is_done(struct patch_device *device, struct driver_mark *mark)
{
	model_is_here(device);
	return model_event_is_done((struct dagpatch_model_event *)mark);
}

void model_mark_wait(struct patch_device *device, struct driver_mark *mark)
{
	model_is_here(device);
	model_event_await((struct dagpatch_model_event *)mark);
}

void model_mark_destroy(struct patch_device *device, struct driver_mark *mark)
{
	model_is_here(device);
	dagpatch_model_event_destroy((struct dagpatch_model_event *)mark);
}
