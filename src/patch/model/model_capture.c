/* Capture of the model's streams into graphs: as a program captures, and as the core does it by the
 * driver's table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "patch/model/model_queue.h"

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
	model_stream_join_capture(stream, capture);
	stream->tail_count = 0;
	return 0;
}

int dagpatch_model_capture_end(struct dagpatch_model_stream *stream,
			       struct dagpatch_model_graph **ret_graph)
{
	struct capture *capture = stream ? stream->capture : NULL;

	if (!ret_graph || !capture || capture->origin != stream)
		return -EINVAL;
	model_streams_leave_capture(capture);
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

int model_capture_node(struct dagpatch_model_stream *stream, const struct patch_params *params)
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

int dagpatch_model_graph_launch(struct dagpatch_model_stream *stream,
				struct dagpatch_model_graph *graph)
{
	struct patch_child image = {(struct driver_graph *)graph};

	if (!stream || !graph || !stream->capture)
		return -EINVAL;
	return model_capture_node(stream, &(struct patch_params){.kind = PATCH_CHILD,
								 .size = sizeof(image),
								 .image = &image});
}

int model_capture_record(struct dagpatch_model_stream *stream, struct dagpatch_model_event *event)
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

int model_capture_wait(struct dagpatch_model_stream *stream,
		       const struct dagpatch_model_event *event)
{
	bool joins = !stream->capture;

	model_stream_join_capture(stream, event->capture);
	return tail_set(stream, event->nodes, event->node_count, !joins);
}

/* ---- capture by the core ---- */

int model_capture_begin(struct patch_device *device, struct driver_stream **ret_stream)
{
	struct dagpatch_model_stream *stream;
	int err = model_begin(device, "capture_begin");

	if (err < 0)
		return err;
	err = dagpatch_model_stream_create(DAGPATCH_MODEL_LAZY, &stream);
	if (err < 0)
		return model_end("capture_begin", err);
	err = dagpatch_model_capture_begin(stream);
	if (err < 0) {
		dagpatch_model_stream_destroy(stream);
		return model_end("capture_begin", err);
	}
	*ret_stream = (struct driver_stream *)stream;
	return 0;
}

int model_capture_end(struct patch_device *device, struct driver_stream *handle,
		      struct driver_graph **ret_graph)
{
	struct dagpatch_model_stream *stream = (struct dagpatch_model_stream *)handle;
	struct dagpatch_model_graph *graph = NULL;
	int injected = model_begin(device, "capture_end");
	int err = dagpatch_model_capture_end(stream, &graph);

	dagpatch_model_stream_destroy(stream);
	if (injected < 0) {
		dagpatch_model_graph_destroy(graph);
		graph = NULL;
	}
	*ret_graph = (struct driver_graph *)graph;
	return injected < 0 ? injected : model_end("capture_end", err);
}

int model_stream_is_captured(struct patch_device *device, struct driver_stream *stream)
{
	struct model_node *const *nodes;
	uint32_t count;
	int err = model_begin(device, "stream_is_captured");

	if (err < 0)
		return err;
	return model_stream_capture((struct dagpatch_model_stream *)stream, &nodes, &count) != NULL;
}

int model_capturing_get(struct patch_device *device, struct driver_stream *stream,
			struct patch_capturing *ret_capturing)
{
	struct model_node *const *nodes = NULL;
	uint32_t count = 0;
	int err = model_begin(device, "capturing_get");

	if (err < 0)
		return err;
	ret_capturing->graph = (struct driver_graph *)model_stream_capture(
		(struct dagpatch_model_stream *)stream, &nodes, &count);
	ret_capturing->after = calloc((size_t)count + 1, sizeof(struct driver_node *));
	if (!ret_capturing->after)
		return model_end("capturing_get", -ENOMEM);
	for (uint32_t i = 0; i < count; i++)
		ret_capturing->after[i] = (struct driver_node *)nodes[i];
	ret_capturing->after_count = count;
	return 0;
}

int model_capturing_continue(struct patch_device *device, struct driver_stream *stream,
			     struct driver_node *const *nodes, uint32_t count)
{
	int err = model_begin(device, "capturing_continue");

	if (err < 0)
		return err;
	return model_end("capturing_continue",
			 model_stream_continue((struct dagpatch_model_stream *)stream,
					       (struct model_node *const *)nodes, count));
}
