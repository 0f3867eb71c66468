/* Streams and events of the model device: in-order queues, and their capture.
 *
 * One lock protects all queues; work runs without it. A thread that waits for work of a lazy
 * stream runs that stream. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "patch/model/model_parts.h"

enum operation_kind { RUN_IMAGE, RUN_REPLAY, AWAIT_EVENT, RECORD_EVENT };

struct operation {
	struct operation *next;
	enum operation_kind what;
	struct patch_image image;
	struct model_replay replay;
	struct model_exec_order *order;
	/* number of replays, or of records of the event, that must be done before */
	uint64_t ticket;
	struct dagpatch_model_event *event;
	/* stream of that earlier work; may be destroyed, see is_alive */
	struct dagpatch_model_stream *other;
};

struct capture {
	struct dagpatch_model_graph *graph;
	struct dagpatch_model_stream *origin;
};

struct dagpatch_model_stream {
	struct dagpatch_model_stream *next_alive;
	uint32_t device;
	int kind;
	bool is_running, is_ending;
	struct operation *first, **end;
	pthread_t thread;
	struct capture *capture;
	struct model_node **tail; /* of the capture: the nodes that the next node waits for */
	uint32_t tail_count;
	int32_t priority;
};

struct dagpatch_model_event {
	_Atomic uint64_t recorded; /* number of records that were submitted */
	_Atomic uint64_t done;
	struct dagpatch_model_stream *stream;
	struct capture *capture;
	struct model_node **nodes;
	uint32_t node_count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
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
	pthread_mutex_lock(&lock);
	if (!stream->end) {
		stream->device = device;
		stream->kind = DAGPATCH_MODEL_LAZY;
		stream->end = &stream->first;
		stream->next_alive = alive;
		alive = stream;
	}
	pthread_mutex_unlock(&lock);
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

/* Call with the lock. Makes progress on STREAM: runs one operation of it if it is a lazy stream
 * that no thread runs, otherwise waits for another thread. */
static void help(struct dagpatch_model_stream *stream)
{
	if (stream && is_alive(stream) && stream->kind == DAGPATCH_MODEL_LAZY &&
	    !stream->is_running && stream->first)
		run_one(stream);
	else
		pthread_cond_wait(&changed, &lock);
}

/* An event node of a graph. Call without the lock. */
static void run_event(struct dagpatch_model_event *event, bool is_record)
{
	pthread_mutex_lock(&lock);
	if (is_record) {
		event->recorded++;
		event->done++;
		pthread_cond_broadcast(&changed);
	} else {
		uint64_t target = event->recorded;

		while (event->done < target)
			help(event->stream);
	}
	pthread_mutex_unlock(&lock);
}

/* Call with the lock; it is released while the work runs. */
static void run_operation(struct operation *operation)
{
	struct model_exec_order *order = operation->order;

	switch (operation->what) {
	case AWAIT_EVENT:
		while (operation->event->done < operation->ticket)
			help(operation->other);
		break;
	case RECORD_EVENT:
		operation->event->done++;
		break;
	case RUN_REPLAY:
		while (order->done < operation->ticket)
			help(operation->other);
		if (order->is_gone)
			model_note_stale();
		pthread_mutex_unlock(&lock);
		model_run_replay(&operation->replay, run_event);
		pthread_mutex_lock(&lock);
		order->done++;
		break;
	case RUN_IMAGE:
		pthread_mutex_unlock(&lock);
		model_run_image(operation->image.kind, operation->image.bytes, run_event);
		pthread_mutex_lock(&lock);
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

	pthread_mutex_lock(&lock);
	while (stream->first || !stream->is_ending) {
		if (stream->first)
			run_one(stream);
		else
			pthread_cond_wait(&changed, &lock);
	}
	pthread_mutex_unlock(&lock);
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
	pthread_mutex_lock(&lock);
	stream->next_alive = alive;
	alive = stream;
	pthread_mutex_unlock(&lock);
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
		help(stream);
}

int dagpatch_model_stream_synchronize(struct dagpatch_model_stream *given)
{
	struct dagpatch_model_stream *stream = model_stream_of(given);

	if (stream->capture)
		return -EBUSY;
	pthread_mutex_lock(&lock);
	drain(stream);
	pthread_mutex_unlock(&lock);
	return 0;
}

void dagpatch_model_stream_destroy(struct dagpatch_model_stream *stream)
{
	if (!stream)
		return;
	pthread_mutex_lock(&lock);
	drain(stream);
	for (struct dagpatch_model_stream **at = &alive; *at; at = &(*at)->next_alive)
		if (*at == stream) {
			*at = stream->next_alive;
			break;
		}
	stream->is_ending = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	if (stream->kind == DAGPATCH_MODEL_THREADED)
		pthread_join(stream->thread, NULL);
	free(stream->tail);
	free(stream);
	model_live.streams--;
}

void model_stream_await(struct dagpatch_model_stream *stream, const _Atomic uint64_t *count,
			uint64_t target)
{
	pthread_mutex_lock(&lock);
	while (*count < target)
		help(stream);
	pthread_mutex_unlock(&lock);
}

/* Call with the lock. */
static void append(struct dagpatch_model_stream *stream, struct operation *operation)
{
	*stream->end = operation;
	stream->end = &operation->next;
	pthread_cond_broadcast(&changed);
}

/* ---- capture ---- */

static int tail_set(struct dagpatch_model_stream *stream, struct model_node *const *nodes,
		    uint32_t count, bool is_added)
{
	uint32_t kept = is_added ? stream->tail_count : 0;
	struct model_node **tail =
		realloc(stream->tail, (kept + count + 1) * sizeof(struct model_node *));

	if (!tail)
		return -ENOMEM;
	if (count > 0)
		memcpy(tail + kept, nodes, count * sizeof(struct model_node *));
	stream->tail = tail;
	stream->tail_count = kept + count;
	return 0;
}

/* The thread that ends a capture reads `capture` of all streams, also of streams that other
 * threads use. */
static void join_capture(struct dagpatch_model_stream *stream, struct capture *capture)
{
	pthread_mutex_lock(&lock);
	stream->capture = capture;
	pthread_mutex_unlock(&lock);
}

int dagpatch_model_capture_begin(struct dagpatch_model_stream *stream)
{
	struct capture *capture;
	int err;

	if (!stream)
		return -EINVAL;
	if (stream->capture)
		return -EBUSY;
	capture = calloc(1, sizeof(*capture));
	if (!capture)
		return -ENOMEM;
	err = model_graph_create(&capture->graph);
	if (err < 0) {
		free(capture);
		return err;
	}
	capture->origin = stream;
	join_capture(stream, capture);
	stream->tail_count = 0;
	return 0;
}

int dagpatch_model_capture_end(struct dagpatch_model_stream *stream,
			       struct dagpatch_model_graph **ret_graph)
{
	struct capture *capture = stream ? stream->capture : NULL;

	if (!ret_graph || !capture || capture->origin != stream)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	for (struct dagpatch_model_stream *at = alive; at; at = at->next_alive)
		if (at->capture == capture)
			at->capture = NULL;
	pthread_mutex_unlock(&lock);
	*ret_graph = capture->graph;
	free(capture);
	return 0;
}

struct dagpatch_model_graph *model_stream_capture(struct dagpatch_model_stream *given,
						  struct model_node *const **ret_nodes,
						  uint32_t *ret_count)
{
	const struct dagpatch_model_stream *stream = model_stream_of(given);

	if (!stream->capture)
		return NULL;
	*ret_nodes = stream->tail;
	*ret_count = stream->tail_count;
	return stream->capture->graph;
}

int model_stream_continue(struct dagpatch_model_stream *stream, struct model_node *const *nodes,
			  uint32_t count)
{
	return tail_set(stream, nodes, count, false);
}

static int capture_node(struct dagpatch_model_stream *stream, const struct patch_params *params)
{
	struct model_node *node;
	int err = model_node_add(stream->capture->graph, params, stream->tail, stream->tail_count,
				 &node);

	if (err < 0)
		return err;
	if (params->kind == PATCH_KERNEL)
		node->attributes.priority = stream->priority;
	return tail_set(stream, &node, 1, false);
}

int model_submit(struct dagpatch_model_stream *given, const struct patch_params *params)
{
	struct dagpatch_model_stream *stream = model_stream_of(given);
	struct operation *operation;
	int err;

	if (stream->capture)
		return capture_node(stream, params);
	operation = calloc(1, sizeof(*operation));
	if (!operation)
		return -ENOMEM;
	operation->what = RUN_IMAGE;
	err = model_image(params, &operation->image);
	if (err < 0) {
		operation_destroy(operation);
		return err;
	}
	pthread_mutex_lock(&lock);
	append(stream, operation);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* ---- submitting work ---- */

int dagpatch_model_graph_launch(struct dagpatch_model_stream *stream,
				struct dagpatch_model_graph *graph)
{
	struct patch_child image = {(struct driver_graph *)graph};

	if (!stream || !graph || !stream->capture)
		return -EINVAL;
	return capture_node(stream, &(struct patch_params){.kind = PATCH_CHILD,
							   .size = sizeof(image),
							   .image = &image});
}

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
	pthread_mutex_lock(&lock);
	operation->order = exec->order;
	exec->order->references++;
	operation->ticket = exec->order->launched++;
	operation->other = exec->order->last;
	exec->order->last = stream;
	append(stream, operation);
	pthread_mutex_unlock(&lock);
	return 0;
}

void model_exec_order_release(struct dagpatch_model_exec *exec, bool is_kept)
{
	pthread_mutex_lock(&lock);
	exec->order->is_gone = !is_kept;
	order_release(exec->order);
	pthread_mutex_unlock(&lock);
}

void model_streams_drain(void)
{
	pthread_mutex_lock(&lock);
	for (struct dagpatch_model_stream *at = alive; at;) {
		if (at->first || at->is_running) {
			help(at);
			at = alive; /* the stream may have been destroyed by now */
		} else {
			at = at->next_alive;
		}
	}
	pthread_mutex_unlock(&lock);
}

/* ---- events ---- */

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

	pthread_mutex_lock(&lock);
	is_done = event->done == event->recorded;
	pthread_mutex_unlock(&lock);
	return is_done;
}

void model_event_await(struct dagpatch_model_event *event)
{
	pthread_mutex_lock(&lock);
	while (event->done < event->recorded)
		help(event->stream);
	pthread_mutex_unlock(&lock);
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

static int record_in_capture(struct dagpatch_model_stream *stream,
			     struct dagpatch_model_event *event)
{
	struct model_node **nodes =
		realloc(event->nodes, (stream->tail_count + 1) * sizeof(struct model_node *));

	if (!nodes)
		return -ENOMEM;
	if (stream->tail_count > 0)
		memcpy(nodes, stream->tail, stream->tail_count * sizeof(struct model_node *));
	event->nodes = nodes;
	event->node_count = stream->tail_count;
	event->capture = stream->capture;
	return 0;
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
	append(stream, operation);
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
				: record_in_capture(stream, event);
	pthread_mutex_lock(&lock);
	err = append_event(stream, event, RECORD_EVENT);
	pthread_mutex_unlock(&lock);
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
	if (event->capture && (!stream->capture || stream->capture == event->capture)) {
		bool joins = !stream->capture;

		join_capture(stream, event->capture);
		return tail_set(stream, event->nodes, event->node_count, !joins);
	}
	if (stream->capture)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	err = append_event(stream, event, AWAIT_EVENT);
	pthread_mutex_unlock(&lock);
	return err;
}
