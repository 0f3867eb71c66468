/* The locations of streams in an OTF2 archive, with the activities of GPUs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "format/otf2/otf2_add.h"
#include "format/words.h"

#define NAME_CHARS 256

static void add_graph(struct otf2 *otf2, const struct trace_activity *row)
{
	const struct trace *trace = otf2->trace;
	uint32_t graph = words_activity_graph(trace, row);

	if (graph != TRACE_NONE)
		otf2_add_u64(otf2, OTF2_ATTRIBUTE_GRAPH, trace->graphs[graph].id);
	if (row->launch != TRACE_NONE)
		otf2_add_launch(otf2, &trace->launches[row->launch]);
	if (row->node != TRACE_NONE)
		otf2_add_u32(otf2, OTF2_ATTRIBUTE_NODE, trace->nodes[row->node].index);
	if (row->confidence != TRACE_CONFIDENCE_NONE && row->confidence != TRACE_CONFIDENCE_EXACT)
		otf2_add_string(otf2, OTF2_ATTRIBUTE_CONFIDENCE,
				otf2_word(otf2, OTF2_WORD_CONFIDENCE + row->confidence,
					  words_confidence(row->confidence)));
}

static void add_activity(struct otf2 *otf2, const struct trace_activity *row)
{
	const struct trace *trace = otf2->trace;
	const struct trace_work *work = trace_work_of(trace, row);
	uint32_t scope = trace_scope_of(trace, row);

	otf2_add_string(otf2, OTF2_ATTRIBUTE_CATEGORY,
			otf2_word(otf2, OTF2_WORD_ACTIVITY + work->kind, words_kind(work->kind)));
	if (row->cid)
		otf2_add_u64(otf2, OTF2_ATTRIBUTE_CID, row->cid);
	add_graph(otf2, row);
	if (scope != TRACE_NONE)
		otf2_add_string(otf2, OTF2_ATTRIBUTE_SCOPE, otf2_path(otf2, scope));
	if (work->bytes)
		otf2_add_u64(otf2, OTF2_ATTRIBUTE_BYTES, work->bytes);
	if (row->untimed != RECORD_UNTIMED_NO)
		otf2_add_string(otf2, OTF2_ATTRIBUTE_UNTIMED,
				otf2_word(otf2, OTF2_WORD_UNTIMED + row->untimed,
					  words_untimed(row->untimed)));
}

static void put_activity(struct otf2 *otf2, OTF2_EvtWriter *events, uint32_t row,
			 struct rows_time time)
{
	const struct trace_activity *activity = &otf2->trace->activities[row];
	uint32_t region = otf2_work_region(otf2, activity);

	add_activity(otf2, activity);
	/* Writing an event empties the list of attributes. */
	otf2_check(otf2, OTF2_EvtWriter_Enter(events, otf2->attributes,
					      otf2_time(otf2, time.begin_ns), region));
	otf2_check(otf2, OTF2_EvtWriter_Leave(events, NULL, otf2_time(otf2, time.end_ns), region));
}

/* Writes the tracks of a stream: activities that overlap are on further locations. */
static void put_stream(struct otf2 *otf2, uint32_t gpu, uint32_t slot)
{
	const struct trace *trace = otf2->trace;
	uint32_t process = timeline_slot_process(&otf2->timeline, slot);
	struct timeline_stream stream = timeline_stream_open(&otf2->timeline, gpu, slot);
	char stem[NAME_CHARS] = "no stream", name[NAME_CHARS];

	if (slot < trace->streams_count)
		snprintf(stem, sizeof(stem), "stream %" PRIu32, trace->streams[slot].ordinal);
	while (otf2_ok(otf2) && timeline_stream_begin(&stream)) {
		OTF2_EvtWriter *events = otf2_begin_location(otf2);

		while (events && timeline_stream_next(&stream))
			put_activity(otf2, events, stream.row,
				     timeline_activity_time(trace->activities, stream.row));
		if (stream.number == 1)
			snprintf(name, sizeof(name), "%s", stem);
		else
			snprintf(name, sizeof(name), "%s, overlapping %u", stem, stream.number - 1);
		if (events)
			otf2_end_location(otf2, events, name, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
					  otf2_accelerator(otf2, process, gpu));
	}
	if (stream.error)
		otf2->err = stream.error;
}

/* The time of an activity without a time: when it was submitted. A rows_time_of. */
static struct rows_time submit_time(const void *table, uint32_t row)
{
	const struct trace_activity *activity = (const struct trace_activity *)table + row;

	return (struct rows_time){activity->submit_ns, activity->submit_ns};
}

/* Writes the list of a process's untimed activities that were submitted to a GPU. */
static void put_untimed_list(struct otf2 *otf2, struct rows *rows, uint32_t process, uint32_t gpu)
{
	struct rows_list *list =
		&rows->lists[(size_t)process * (otf2->timeline.gpus.count + 1) + gpu];
	OTF2_EvtWriter *events;
	struct rows_walk walk;

	if (rows_list_count(list) == 0)
		return;
	otf2->err = rows_list_sort(rows, list);
	events = otf2_begin_location(otf2);
	if (!events)
		return;
	for (walk = rows_walk_begin(rows, list); walk.row != ROWS_NONE;) {
		uint32_t row = rows_walk_take(&walk);

		put_activity(otf2, events, row, submit_time(rows->table, row));
	}
	otf2_end_location(otf2, events, "untimed, at submission",
			  OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
			  otf2_accelerator(otf2, process, gpu));
}

/* Activities without a time have none that could be on their stream's location. */
static void put_untimed(struct otf2 *otf2)
{
	const struct trace *trace = otf2->trace;
	uint32_t places = otf2->timeline.gpus.count + 1;
	struct rows rows = {
		.table = trace->activities,
		.row_bytes = sizeof(*trace->activities),
		.time_of = submit_time,
	};

	if (rows_init(&rows, trace->activities_count, (size_t)trace->processes_count * places) <
	    0) {
		otf2->err = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];
		size_t place =
			(size_t)row->process * places + gpus_find(&otf2->timeline.gpus, row->agent);

		if (row->untimed != RECORD_UNTIMED_NO)
			rows_list_deal(&rows, &rows.lists[place], i, submit_time(rows.table, i));
	}
	for (uint32_t i = 0; i < trace->processes_count; i++)
		for (uint32_t gpu = 0; gpu < places && otf2_ok(otf2); gpu++)
			put_untimed_list(otf2, &rows, i, gpu);
	rows_release(&rows);
}

void otf2_put_streams(struct otf2 *otf2)
{
	struct timeline *timeline = &otf2->timeline;
	const struct trace *trace = otf2->trace;
	bool has_untimed = false;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];
		uint32_t gpu = gpus_find(&timeline->gpus, row->agent);

		if (row->untimed == RECORD_UNTIMED_NO)
			timeline_deal_activity(timeline, i, timeline_place_of(timeline, row, gpu));
		else
			has_untimed = true;
	}
	for (uint32_t slot = 0; slot < timeline->slots; slot++)
		for (uint32_t gpu = 0; gpu <= timeline->gpus.count && otf2_ok(otf2); gpu++)
			put_stream(otf2, gpu, slot);
	if (has_untimed && otf2_ok(otf2))
		put_untimed(otf2);
}
