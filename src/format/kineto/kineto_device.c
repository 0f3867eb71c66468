/* Writes the activities of the GPUs, each on a tid of its stream on which it overlaps no other
 * one. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "format/kineto/kineto_writer.h"
#include "format/words.h"

/* An upper bound for the parts of a row that are no pieces: keys, literals and numbers. */
#define ROW_BYTES 640

/* In millionths of GB/s. Greater values make no sense and do not fit into 64 bits. */
#define BANDWIDTH_LIMIT 1e18

struct work_entry {
	struct piece head; /* text of the row up to the pid */
	struct piece tail; /* arguments, each with a comma before it */
	uint64_t bytes;	   /* bytes that the copy or memset moves; 0 = none or unknown */
};

struct device {
	struct kineto *kineto;
	const struct trace *trace;
	uint32_t gpu;
	struct work_entry *works;
	struct piece *queues, *nodes;
	/* The last graph launch and its arguments; a launch's activities mostly follow each
	 * other. */
	uint32_t launch;
	struct pieces launch_text;
	struct piece launch_args;
	/* For the current tid: the text from the pid up to the time, and from after the duration
	 * up to the first argument that differs from row to row. */
	struct piece place, place_args;
};

/* ---- pieces ---- */

static void put_dim(struct pieces *text, const char *key, const uint32_t dim[3])
{
	kineto_text_put(text, ",\"%s\":[%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", key, dim[0], dim[1],
			dim[2]);
}

/* The model counts grids in work-items; Kineto counts blocks, and a partial block counts. */
static void put_kernel_args(struct pieces *text, const struct trace_work *work)
{
	uint32_t blocks[3];

	for (int i = 0; i < 3; i++) {
		uint32_t size = work->workgroup[i] ? work->workgroup[i] : 1;

		blocks[i] = (uint32_t)(work->grid[i] / size + (work->grid[i] % size != 0));
	}
	if (work->registers)
		kineto_text_put(text, ",\"registers per thread\":%" PRIu32, work->registers);
	kineto_text_put(text, ",\"shared memory\":%" PRIu32, work->group_bytes);
	if (work->grid[0] == 0 && work->workgroup[0] == 0)
		return;
	put_dim(text, "grid", blocks);
	put_dim(text, "block", work->workgroup);
}

static void put_peer(struct device *device, const char *key, uint32_t agent)
{
	uint32_t gpu = gpus_find(&device->kineto->timeline.gpus, agent);

	if (gpu != device->kineto->timeline.gpus.host)
		kineto_text_put(&device->kineto->text, ",\"%s\":%" PRIu32, key, gpu);
}

static void put_copy_args(struct device *device, const struct trace_work *work)
{
	struct pieces *text = &device->kineto->text;

	if (work->direction != TRACE_COPY_UNKNOWN)
		kineto_text_put(text, ",\"kind\":\"%s\"", kineto_copy_kind(work->direction));
	if (work->direction != TRACE_P2P)
		return;
	put_peer(device, "fromDevice", work->src_agent);
	put_peer(device, "toDevice", work->dst_agent);
}

static void put_work_name(struct pieces *text, const struct trace *trace,
			  const struct trace_work *work)
{
	const char *name = trace_text(trace, work->name);

	if (work->kind == TRACE_COPY)
		kineto_text_quote(text, kineto_copy_name(work->direction));
	else if (work->kind == TRACE_MEMSET)
		kineto_text_quote(text, "Memset (Device)");
	else
		kineto_text_quote(text, name[0] ? name : "(unknown kernel)");
}

static void make_work(struct device *device, uint32_t number)
{
	static const char *const categories[] = {[TRACE_KERNEL] = "kernel",
						 [TRACE_COPY] = "gpu_memcpy",
						 [TRACE_MEMSET] = "gpu_memset"};
	const struct trace_work *work = &device->trace->works[number];
	struct work_entry *entry = &device->works[number];
	struct pieces *text = &device->kineto->text;
	size_t begin = text->used;

	kineto_text_put(text, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", categories[work->kind]);
	put_work_name(text, device->trace, work);
	entry->head = pieces_since(text, begin);
	begin = text->used;
	if (work->kind == TRACE_KERNEL)
		put_kernel_args(text, work);
	else if (work->kind == TRACE_COPY)
		put_copy_args(device, work);
	if (work->blit) {
		kineto_text_put(text, ",\"blit kernel\":");
		kineto_text_quote(text, trace_text(device->trace, work->name));
	}
	if (work->kind != TRACE_KERNEL && work->bytes) {
		kineto_text_put(text, ",\"bytes\":%" PRIu64, work->bytes);
		entry->bytes = work->bytes;
	}
	entry->tail = pieces_since(text, begin);
}

static struct piece find_queue(struct device *device, uint32_t queue)
{
	struct pieces *text = &device->kineto->text;
	size_t begin = text->used;

	if (queue == TRACE_NONE)
		return (struct piece){0};
	if (device->queues[queue].bytes == 0) {
		kineto_text_put(text, ",\"hsa_queue\":%" PRIu32, device->trace->queues[queue].id);
		device->queues[queue] = pieces_since(text, begin);
	}
	return device->queues[queue];
}

/* The node's arguments, formatted once. The id is CUPTI's own if there is one; else graph id and
 * node index together, so that nodes of child graphs differ. "node" is the index that dagtap's
 * other formats show. */
static struct piece find_node(struct device *device, const struct trace_activity *activity)
{
	struct pieces *text = &device->kineto->text;
	const struct trace *trace = device->trace;
	size_t begin = text->used;
	const struct trace_node *node;
	uint64_t id;

	if (activity->node == TRACE_NONE)
		return (struct piece){0};
	if (device->nodes[activity->node].bytes)
		return device->nodes[activity->node];
	node = &trace->nodes[activity->node];
	id = trace->graphs[node->graph].id << 32 | ((uint64_t)node->index + 1);
	if (activity->agent != TRACE_NONE &&
	    trace->agents[activity->agent].index >= RECORD_CUDA_AGENT_FIRST && activity->id)
		id = activity->id;
	kineto_text_number(text, ",\"graph node id\":", id);
	kineto_text_number(text, ",\"node\":", node->index);
	if (node->scope != TRACE_NONE)
		kineto_text_number(text,
				   ",\"graph node External id\":", kineto_external_id(node->scope));
	device->nodes[activity->node] = pieces_since(text, begin);
	return device->nodes[activity->node];
}

static struct piece find_launch(struct device *device, uint32_t number)
{
	const struct trace *trace = device->trace;
	const struct trace_launch *launch;

	if (number == TRACE_NONE)
		return (struct piece){0};
	if (number != device->launch) {
		launch = &trace->launches[number];
		device->launch_text.used = 0;
		kineto_text_number(&device->launch_text,
				   ",\"graph id\":", trace->execs[launch->exec].id);
		kineto_text_number(&device->launch_text, ",\"replay\":", launch->replay);
		device->launch_args = pieces_since(&device->launch_text, 0);
		device->launch = number;
	}
	return device->launch_args;
}

/* ---- rows ---- */

/* The correlation id of an activity, or of its stand-in for HTA; 0 = none. */
static uint64_t correlation_of(const struct kineto *kineto, uint32_t row)
{
	const struct trace_activity *activity = &kineto->trace->activities[row];

	if (activity->call != TRACE_NONE &&
	    kineto_has_stand_ins(kineto, &kineto->trace->calls[activity->call]))
		return kineto_stand_in(kineto, row);
	return activity->cid
		       ? timeline_correlation(&kineto->timeline, activity->process, activity->cid)
		       : 0;
}

static char *put_bandwidth(char *at, uint64_t bytes, uint64_t ns)
{
	double millionths = ns ? (double)bytes / (double)ns * 1e6 + 0.5 : BANDWIDTH_LIMIT;
	uint64_t whole;

	if (millionths >= BANDWIDTH_LIMIT)
		return at;
	whole = (uint64_t)millionths;
	at = KINETO_PUT(at, ",\"memory bandwidth (GB/s)\":");
	at = kineto_put_u64(at, whole / 1000000);
	*at++ = '.';
	return kineto_put_digits(at, whole % 1000000, 6);
}

static char *put_arrow(struct kineto *kineto, char *at, uint64_t correlation, const char *place,
		       size_t bytes)
{
	at = KINETO_PUT(at,
			"{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":");
	at = kineto_put_near(&kineto->correlations, at, correlation);
	at = pieces_copy_bytes(at, place, bytes);
	return KINETO_PUT(at, "},\n");
}

static char *put_rarities(char *at, const struct device *device,
			  const struct trace_activity *activity)
{
	if (activity->confidence != TRACE_CONFIDENCE_NONE &&
	    activity->confidence != TRACE_CONFIDENCE_EXACT) {
		const char *word = words_confidence(activity->confidence);

		at = KINETO_PUT(at, ",\"graph node confidence\":\"");
		at = (char *)memcpy(at, word, strlen(word)) + strlen(word);
		*at++ = '"';
	}
	if (device->kineto->is_hta && activity->launch != TRACE_NONE && activity->cid) {
		at = KINETO_PUT(at, ",\"graph launch correlation\":");
		at = kineto_put_u64(at, timeline_correlation(&device->kineto->timeline,
							     activity->process, activity->cid));
	}
	return at;
}

static char *put_ids(struct kineto *kineto, char *at, uint64_t correlation, uint32_t scope)
{
	if (correlation) {
		at = KINETO_PUT(at, ",\"correlation\":");
		at = kineto_put_near(&kineto->correlations, at, correlation);
	}
	if (scope != TRACE_NONE) {
		at = KINETO_PUT(at, ",\"External id\":");
		at = kineto_put_near(&kineto->external_ids, at, kineto_external_id(scope));
	}
	return at;
}

/* The parts of a row that were formatted before, for what other rows share with it. */
struct shared_pieces {
	struct piece set, queue, launch, node;
};

static struct shared_pieces find_shared(struct device *device, uint32_t row)
{
	const struct trace_activity *activity = &device->trace->activities[row];

	return (struct shared_pieces){
		.set = kineto_find_set(device->kineto, device->trace->activity_attributes, row),
		.queue = find_queue(device, activity->queue),
		.launch = find_launch(device, activity->launch),
		.node = find_node(device, activity),
	};
}

static void put_activity(struct device *device, uint32_t row)
{
	struct kineto *kineto = device->kineto;
	const struct pieces *text = &kineto->text;
	const struct trace_activity *activity = &device->trace->activities[row];
	const struct work_entry *work = &device->works[activity->work];
	struct rows_time time = timeline_activity_time(device->trace->activities, row);
	struct shared_pieces shared;
	uint64_t correlation = correlation_of(kineto, row);
	char *at, *place;
	size_t place_bytes;

	if (work->head.bytes == 0)
		make_work(device, activity->work);
	shared = find_shared(device, row);
	at = kineto_out_begin(&kineto->out, (size_t)work->head.bytes + work->tail.bytes +
						    shared.set.bytes + shared.queue.bytes +
						    shared.launch.bytes + shared.node.bytes +
						    ROW_BYTES);
	if (!at)
		return;
	at = pieces_copy(at, text, work->head);
	place = at;
	at = pieces_copy(at, text, device->place);
	at = kineto_put_time(&kineto->out, at, time.begin_ns);
	place_bytes = (size_t)(at - place);
	at = KINETO_PUT(at, ",\"dur\":");
	at = kineto_put_us(at, timeline_span_ns(time));
	at = pieces_copy(at, text, device->place_args);
	at = put_ids(kineto, at, correlation, activity->scope);
	at = pieces_copy(at, text, work->tail);
	if (work->bytes)
		at = put_bandwidth(at, work->bytes, timeline_span_ns(time));
	at = pieces_copy(at, text, shared.queue);
	at = pieces_copy(at, &device->launch_text, shared.launch);
	at = pieces_copy(at, text, shared.node);
	at = put_rarities(at, device, activity);
	at = pieces_copy(at, text, shared.set);
	at = KINETO_PUT(at, "}},\n");
	if (activity->call != TRACE_NONE)
		at = put_arrow(kineto, at, correlation, place, place_bytes);
	kineto_out_end(&kineto->out, at);
}

static void begin_track(struct device *device, uint32_t slot, unsigned track)
{
	struct kineto *kineto = device->kineto;
	struct pieces *text = &kineto->text;
	uint64_t tid = kineto_name_stream(kineto, device->gpu, slot, KINETO_TRACK_WORK, track);
	size_t begin = text->used;

	kineto_text_put(text, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu64 ",\"ts\":", device->gpu, tid);
	device->place = pieces_since(text, begin);
	begin = text->used;
	kineto_text_put(text, ",\"args\":{\"device\":%" PRIu32 ",\"stream\":%" PRIu32, device->gpu,
			kineto->slot_numbers[slot]);
	if (slot < device->trace->streams_count && device->trace->streams[slot].context)
		kineto_text_put(text, ",\"context\":%" PRIu32,
				device->trace->streams[slot].context);
	device->place_args = pieces_since(text, begin);
}

static void put_device(struct device *device)
{
	struct kineto *kineto = device->kineto;

	for (uint32_t slot = 0; slot < kineto->timeline.slots; slot++) {
		struct timeline_stream stream =
			timeline_stream_open(&kineto->timeline, device->gpu, slot);

		while (!kineto->out.error && timeline_stream_begin(&stream)) {
			begin_track(device, slot, stream.number);
			while (timeline_stream_next(&stream))
				put_activity(device, stream.row);
		}
		kineto_fail(kineto, stream.error);
	}
}

void kineto_put_devices(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;
	struct device device = {
		.kineto = kineto,
		.trace = trace,
		.launch = TRACE_NONE,
		.works = calloc((size_t)trace->works_count + 1, sizeof(*device.works)),
		.queues = calloc((size_t)trace->queues_count + 1, sizeof(*device.queues)),
		.nodes = calloc((size_t)trace->nodes_count + 1, sizeof(*device.nodes)),
	};

	if (!device.works || !device.queues || !device.nodes)
		kineto_fail(kineto, -ENOMEM);
	for (; device.gpu < kineto->gpu_total && !kineto->out.error; device.gpu++)
		put_device(&device);
	kineto_fail(kineto, device.launch_text.error);
	free(device.works);
	free(device.queues);
	free(device.nodes);
	pieces_release(&device.launch_text);
}

/* ---- activities without times ---- */

/* Writes an untimed activity as an instant at its submission. No time is invented, and readers do
 * not count rows without a duration as GPU work. */
static void put_untimed(struct kineto *kineto, uint32_t row, uint32_t gpu)
{
	struct pieces *text = &kineto->row;
	const struct trace_activity *activity = &kineto->trace->activities[row];
	uint64_t correlation = correlation_of(kineto, row);

	kineto_text_put(text, "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"untimed\",\"name\":");
	put_work_name(text, kineto->trace, trace_work_of(kineto->trace, activity));
	kineto_text_put(text, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu64 ",\"ts\":", gpu,
			KINETO_TRACK_UNTIMED * kineto->track_step);
	kineto_text_time(text, &kineto->out, activity->submit_ns);
	kineto_text_put(text, ",\"args\":{\"untimed\":\"%s\",\"device\":%" PRIu32,
			words_untimed(activity->untimed), gpu);
	if (activity->stream != TRACE_NONE)
		kineto_text_put(text, ",\"stream\":%" PRIu32,
				kineto->slot_numbers[activity->stream]);
	if (correlation)
		kineto_text_put(text, ",\"correlation\":%" PRIu64, correlation);
	kineto_text_put(text, "}},\n");
	kineto_put_row(&kineto->out, text);
}

void kineto_put_untimed(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;
	uint8_t *is_named;

	if (!kineto->has_untimed)
		return;
	is_named = calloc((size_t)kineto->gpu_total + 1, 1);
	if (!is_named)
		kineto_fail(kineto, -ENOMEM);
	for (uint32_t row = 0; row < trace->activities_count && !kineto->out.error; row++) {
		const struct trace_activity *activity = &trace->activities[row];
		uint32_t gpu = gpus_find(&kineto->timeline.gpus, activity->agent);

		if (kineto_is_timed(activity))
			continue;
		if (!is_named[gpu])
			kineto_name_stream(kineto, gpu, TRACE_NONE, KINETO_TRACK_UNTIMED, 1);
		is_named[gpu] = 1;
		put_untimed(kineto, row, gpu);
	}
	free(is_named);
}
