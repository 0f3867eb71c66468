/* Chooses pids, tids, stream numbers and correlation ids, and distributes the rows to lists. */
#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"
#include "format/kineto/kineto_writer.h"

/* The distance that Kineto has between a stream's tid and that of its synchronisations. */
#define TRACK_STEP 1000000

uint64_t kineto_pid(const struct kineto *kineto, uint32_t process)
{
	uint32_t pid = kineto->trace->processes[process].pid;

	return pid < kineto->gpu_total ? (uint64_t)pid + KINETO_PID_FIRST : pid;
}

/* The stream number that a slot should get; UINT32_MAX: any free one. CUDA streams keep CUPTI's
 * numbers, which begin at 1 (users know the default stream as 7). Streams of another tool's file
 * keep theirs. HIP streams get ordinal + 1, because the null stream's ordinal is 0. */
static uint64_t number_wanted(const struct trace *trace, uint32_t slot)
{
	const struct trace_stream *stream;

	if (slot >= trace->streams_count)
		return UINT32_MAX;
	stream = &trace->streams[slot];
	if (trace->attribute_sets_count > 0)
		return stream->ordinal > 0 ? stream->ordinal : UINT32_MAX;
	if (stream->agent != TRACE_NONE &&
	    trace->agents[stream->agent].index >= RECORD_CUDA_AGENT_FIRST && stream->handle > 0 &&
	    stream->handle < UINT32_MAX)
		return stream->handle;
	return (uint64_t)stream->ordinal + 1;
}

/* Gives each slot its number. If a stream of another context or process already has the number,
 * the slot gets a free one beyond all others. */
static int number_slots(struct kineto *kineto)
{
	uint32_t count = kineto->timeline.slots;
	struct sort_row *order = malloc(((size_t)count + 1) * sizeof(*order));
	uint32_t last = 0;
	int err;

	kineto->slot_numbers = calloc((size_t)count + 1, sizeof(*kineto->slot_numbers));
	if (!order || !kineto->slot_numbers) {
		free(order);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		order[i] = (struct sort_row){number_wanted(kineto->trace, i), i};
	err = sort_rows(order, count);
	for (uint32_t i = 0; i < count && !err; i++)
		if (order[i].key < UINT32_MAX && order[i].key > last)
			last = kineto->slot_numbers[order[i].index] = (uint32_t)order[i].key;
	for (uint32_t i = 0; i < count && !err; i++)
		if (kineto->slot_numbers[order[i].index] == 0)
			kineto->slot_numbers[order[i].index] = ++last;
	free(order);
	for (kineto->track_step = TRACK_STEP; kineto->track_step <= last;)
		kineto->track_step *= 10;
	kineto->next_track = KINETO_TRACK_COUNT * kineto->track_step;
	kineto->next_thread = KINETO_PID_FIRST + kineto->trace->processes_count;
	return err;
}

static void deal_activities(struct kineto *kineto)
{
	struct timeline *timeline = &kineto->timeline;

	for (uint32_t row = 0; row < kineto->trace->activities_count; row++) {
		const struct trace_activity *activity = &kineto->trace->activities[row];
		uint32_t gpu = gpus_find(&timeline->gpus, activity->agent);

		timeline_see_cid(timeline, activity->process, activity->cid);
		if (gpu == timeline->gpus.host)
			kineto->gpu_total = timeline->gpus.count + 1;
		if (!kineto_is_timed(activity)) {
			kineto->has_untimed = true;
			continue;
		}
		timeline_deal_activity(timeline, row, timeline_place_of(timeline, activity, gpu));
		if (activity->call != TRACE_NONE)
			kineto_mark(kineto, activity->call, KINETO_MARK_WORK);
	}
}

/* The calls of waits and event records need not have rows. */
static void number_correlations(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;

	for (uint32_t i = 0; i < trace->waits_count; i++)
		timeline_see_cid(&kineto->timeline, trace->waits[i].process, trace->waits[i].cid);
	for (uint32_t i = 0; i < trace->event_records_count; i++)
		timeline_see_cid(&kineto->timeline, trace->event_records[i].process,
				 trace->event_records[i].cid);
	kineto->correlation_end = timeline_number_correlations(&kineto->timeline, false) + 1;
}

int kineto_deal(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;
	int err = timeline_init(&kineto->timeline, trace);

	if (!err)
		err = number_slots(kineto);
	if (err)
		return err;
	kineto->sets = calloc((size_t)trace->attribute_sets_count + 1, sizeof(*kineto->sets));
	kineto->strings = calloc((size_t)trace->strings_count + 1, sizeof(*kineto->strings));
	kineto->call_marks = calloc(trace->calls_count / 32 + 1, sizeof(*kineto->call_marks));
	if (!kineto->sets || !kineto->strings || !kineto->call_marks)
		return -ENOMEM;
	kineto->gpu_total = kineto->timeline.gpus.count;
	/* a wait may have no known GPU, and then needs the place of no GPU */
	if (trace->waits_count > 0 && kineto->gpu_total != 1)
		kineto->gpu_total++;
	deal_activities(kineto);
	timeline_deal_calls(&kineto->timeline);
	timeline_deal_scopes(&kineto->timeline, true);
	number_correlations(kineto);
	return 0;
}

void kineto_undeal(struct kineto *kineto)
{
	timeline_release(&kineto->timeline);
	free(kineto->slot_numbers);
	free(kineto->sets);
	free(kineto->strings);
	free(kineto->waits_of_calls);
	free(kineto->forward);
	free(kineto->call_marks);
}
