/* The queues of the model device, as streams, their capture and events share them.
 *
 * model_stream.c runs the queues, model_capture.c captures a stream into a graph, model_event.c has
 * the events. One lock protects all queues; work runs without it. */
#ifndef DAGPATCH_MODEL_QUEUE_H
#define DAGPATCH_MODEL_QUEUE_H

#include <pthread.h>

#include "patch/model/model_parts.h"

enum operation_kind { RUN_IMAGE, RUN_REPLAY, AWAIT_EVENT, RECORD_EVENT };

/* Work in a queue. */
struct operation {
	struct operation *next;
	enum operation_kind what;
	struct patch_image image;
	struct model_replay replay;
	struct model_exec_order *order;
	/* number of replays, or of records of the event, that must be done before */
	uint64_t ticket;
	struct dagpatch_model_event *event;
	/* stream of that earlier work; may be destroyed, see model_stream_help */
	struct dagpatch_model_stream *other;
};

/* A graph that is being captured, from one stream and those that joined it. */
struct capture {
	struct dagpatch_model_graph *graph;
	struct dagpatch_model_stream *origin;
};

/* A queue. */
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

/* An event, and in a capture the nodes that it stands for. */
struct dagpatch_model_event {
	_Atomic uint64_t recorded; /* number of records that were submitted */
	_Atomic uint64_t done;
	struct dagpatch_model_stream *stream;
	struct capture *capture;
	struct model_node **nodes;
	uint32_t node_count;
};

/* ---- queues (model_stream.c) ---- */

extern pthread_mutex_t model_queues_lock;

/* Makes progress on STREAM, which may be NULL or destroyed: runs one operation of it if it is a
 * lazy stream that no thread runs, otherwise waits for another thread. Call with the lock, which is
 * released meanwhile. */
void model_stream_help(struct dagpatch_model_stream *stream);

/* Appends OPERATION, which the queue then owns. Call with the lock. */
void model_stream_append(struct dagpatch_model_stream *stream, struct operation *operation);

/* The thread that ends a capture reads `capture` of all streams, also of streams that other threads
 * use; so these two, which write it, take the lock. model_stream_join_capture makes STREAM part of
 * CAPTURE; model_streams_leave_capture ends CAPTURE for all of its streams. */
void model_stream_join_capture(struct dagpatch_model_stream *stream, struct capture *capture);
void model_streams_leave_capture(const struct capture *capture);

/* ---- capture (model_capture.c): STREAM is being captured, unless said otherwise ---- */

/* Adds a node after the stream's last ones; PARAMS->image is copied. 0 or a negative errno. */
int model_capture_node(struct dagpatch_model_stream *stream, const struct patch_params *params);

/* EVENT stands for the stream's last nodes from now on. 0 or -ENOMEM. */
int model_capture_record(struct dagpatch_model_stream *stream, struct dagpatch_model_event *event);

/* The next node of STREAM also waits for the nodes that EVENT stands for. A stream that is not
 * captured joins the event's capture. 0 or -ENOMEM. */
int model_capture_wait(struct dagpatch_model_stream *stream,
		       const struct dagpatch_model_event *event);

#endif
