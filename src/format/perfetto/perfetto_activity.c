/* Tracks and arguments of an activity, for both forms of the Perfetto writer. */
#include "format/perfetto/perfetto_activity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/table.h"
#include "format/words.h"

static int count_digits(uint32_t value)
{
	return snprintf(NULL, 0, "%" PRIu32, value);
}

void perfetto_tracks_init(struct perfetto_tracks *tracks, const struct trace *trace)
{
	uint32_t stream = 0;
	uint32_t queue = 0;

	for (uint32_t i = 0; i < trace->streams_count; i++) {
		if (trace->streams[i].ordinal > stream)
			stream = trace->streams[i].ordinal;
	}
	for (uint32_t i = 0; i < trace->queues_count; i++) {
		if (trace->queues[i].id > queue)
			queue = trace->queues[i].id;
	}
	*tracks = (struct perfetto_tracks){
		.trace = trace,
		.stream_digits = count_digits(stream),
		.queue_digits = count_digits(queue),
	};
}

void perfetto_tracks_release(struct perfetto_tracks *tracks)
{
	hash_map_release(&tracks->map);
	free(tracks->keys);
}

static struct perfetto_track_key key_of(const struct trace *trace,
					const struct trace_activity *activity)
{
	struct perfetto_track_key key = {
		.process = activity->process,
		.queue = activity->queue,
		.stream = activity->stream,
	};

	if (activity->untimed != RECORD_UNTIMED_NO)
		key.queue = PERFETTO_QUEUE_UNTIMED;
	else if (key.queue == TRACE_NONE && key.stream != TRACE_NONE &&
		 (words_counts_blocks(trace, activity) ||
		  trace_work_of(trace, activity)->kind == TRACE_KERNEL))
		key.queue = PERFETTO_QUEUE_NOT_TOLD;
	return key;
}

static bool is_same(struct perfetto_track_key a, struct perfetto_track_key b)
{
	return a.process == b.process && a.queue == b.queue && a.stream == b.stream;
}

int64_t perfetto_tracks_find(struct perfetto_tracks *tracks, const struct trace_activity *activity)
{
	struct perfetto_track_key key = key_of(tracks->trace, activity);
	struct perfetto_track_key *added;
	struct hash_probe probe;

	if (hash_map_reserve(&tracks->map) < 0)
		return -ENOMEM;
	probe = hash_map_probe(&tracks->map,
			       hash_mix(hash_mix(key.process, key.queue), key.stream));
	while (hash_map_next(&tracks->map, &probe))
		if (is_same(tracks->keys[probe.row], key))
			return probe.row;
	added = table_add((void **)&tracks->keys, &tracks->count, sizeof(*added));
	if (!added)
		return -ENOMEM;
	*added = key;
	hash_map_put(&tracks->map, &probe, tracks->count - 1);
	return tracks->count - 1;
}

void perfetto_tracks_name(const struct perfetto_tracks *tracks,
			  const struct trace_activity *activity, char *name, size_t size)
{
	const struct trace *trace = tracks->trace;
	const struct perfetto_track_key key = key_of(tracks->trace, activity);
	char stream[32] = "";
	char queue[48] = "copy engine";
	char pid[32] = "";

	if (key.stream != TRACE_NONE)
		snprintf(stream, sizeof(stream), "stream %0*" PRIu32 "%s", tracks->stream_digits,
			 trace->streams[key.stream].ordinal,
			 key.queue == PERFETTO_QUEUE_NOT_TOLD ? "" : ", ");
	if (key.queue == PERFETTO_QUEUE_NOT_TOLD)
		queue[0] = '\0';
	else if (key.queue == PERFETTO_QUEUE_UNTIMED)
		snprintf(queue, sizeof(queue), "untimed, at submission");
	else if (key.queue != TRACE_NONE)
		snprintf(queue, sizeof(queue), "queue %0*" PRIu32, tracks->queue_digits,
			 trace->queues[key.queue].id);
	if (trace->processes_count > 1)
		snprintf(pid, sizeof(pid), " (pid %" PRIu32 ")", trace->processes[key.process].pid);
	snprintf(name, size, "%s%s%s", stream, queue, pid);
}

const char *perfetto_arg_name(enum perfetto_arg_name name)
{
	static const char *const names[] = {
#define X(name, text) [PERFETTO_ARG_##name] = (text),
		PERFETTO_ARGS(X)
#undef X
	};

	return names[name];
}

static void add_number(struct perfetto_args *args, enum perfetto_arg_name name, uint64_t number)
{
	args->rows[args->count++] = (struct perfetto_arg){.name = name, .number = number};
}

static void add_text(struct perfetto_args *args, enum perfetto_arg_name name, const char *text)
{
	if (text[0] != '\0')
		args->rows[args->count++] = (struct perfetto_arg){.name = name, .text = text};
}

static void add_place(struct perfetto_args *args, const struct trace *trace,
		      const struct trace_activity *activity)
{
	if (activity->agent != TRACE_NONE && trace->agents[activity->agent].is_gpu)
		add_number(args, PERFETTO_ARG_DEVICE, trace->agents[activity->agent].gpu_ordinal);
	if (activity->queue != TRACE_NONE)
		add_number(args, PERFETTO_ARG_QUEUE, trace->queues[activity->queue].id);
	if (activity->stream != TRACE_NONE)
		add_number(args, PERFETTO_ARG_STREAM, trace->streams[activity->stream].ordinal);
}

static void add_origin(struct perfetto_args *args, const struct trace *trace,
		       const struct trace_activity *activity)
{
	uint32_t scope = trace_scope_of(trace, activity);

	if (activity->call != TRACE_NONE) {
		const struct trace_call *call = &trace->calls[activity->call];

		add_number(args, PERFETTO_ARG_CID, call->cid);
		add_text(args, PERFETTO_ARG_API, trace_text(trace, trace->apis[call->api].name));
	}
	if (scope != TRACE_NONE)
		add_text(args, PERFETTO_ARG_SCOPE, words_path_get(&args->path, trace, scope));
	if (scope != activity->scope && activity->scope != TRACE_NONE)
		add_text(args, PERFETTO_ARG_LAUNCH_SCOPE,
			 words_path_get(&args->launch_path, trace, activity->scope));
}

static void add_graph(struct perfetto_args *args, const struct trace *trace,
		      const struct trace_activity *activity)
{
	uint32_t graph = words_activity_graph(trace, activity);

	if (graph != TRACE_NONE)
		add_number(args, PERFETTO_ARG_GRAPH, trace->graphs[graph].id);
	if (activity->launch != TRACE_NONE) {
		const struct trace_launch *launch = &trace->launches[activity->launch];

		add_number(args, PERFETTO_ARG_EXEC, trace->execs[launch->exec].id);
		add_number(args, PERFETTO_ARG_REPLAY, launch->replay);
	}
	if (activity->node != TRACE_NONE)
		add_number(args, PERFETTO_ARG_NODE, trace->nodes[activity->node].index);
	add_text(args, PERFETTO_ARG_CONFIDENCE, words_confidence(activity->confidence));
}

void perfetto_args_fill(struct perfetto_args *args, const struct trace *trace,
			const struct trace_activity *activity)
{
	const struct trace_work *work = trace_work_of(trace, activity);

	args->count = 0;
	add_place(args, trace, activity);
	add_origin(args, trace, activity);
	add_graph(args, trace, activity);
	if (work->bytes)
		add_number(args, PERFETTO_ARG_BYTES, work->bytes);
	if (work->registers)
		add_number(args, PERFETTO_ARG_REGISTERS, work->registers);
	if (work->blit)
		add_text(args, PERFETTO_ARG_BLIT_KERNEL, trace_text(trace, work->name));
	add_text(args, PERFETTO_ARG_UNTIMED, words_untimed(activity->untimed));
}
