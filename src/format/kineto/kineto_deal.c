/* Chooses pids, tids, stream numbers and correlation ids, and distributes the rows to lists. */
#include <errno.h>
#include <stdlib.h>

#include "format/kineto/kineto_writer.h"
#include "trace/sort.h"

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
	uint32_t count = kineto->slots;
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

/* Keeps the greatest cid of each process in correlation_bases, until number_correlations replaces
 * it by the base. */
static void see_cid(struct kineto *kineto, uint32_t process, uint64_t cid)
{
	if (cid > kineto->correlation_bases[process])
		kineto->correlation_bases[process] = cid;
}

/* Turns the greatest cids into bases. The processes' cids overlap, so each process's ids follow
 * those of the process before it. */
static void number_correlations(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;
	uint64_t base = 0;

	for (uint32_t i = 0; i < trace->waits_count; i++)
		see_cid(kineto, trace->waits[i].process, trace->waits[i].cid);
	for (uint32_t i = 0; i < trace->event_records_count; i++)
		see_cid(kineto, trace->event_records[i].process, trace->event_records[i].cid);
	for (uint32_t i = 0; i < trace->processes_count; i++) {
		uint64_t greatest = kineto->correlation_bases[i];

		kineto->correlation_bases[i] = base;
		base += greatest;
	}
	kineto->correlation_end = base + 1;
}

static void deal_activities(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;

	for (uint32_t row = 0; row < trace->activities_count; row++) {
		const struct trace_activity *activity = &trace->activities[row];
		uint32_t gpu = gpus_find(&kineto->gpus, activity->agent);
		uint32_t slot = kineto_slot(kineto, activity->stream, activity->process);

		see_cid(kineto, activity->process, activity->cid);
		if (gpu == kineto->gpus.host)
			kineto->gpu_total = gpu + 1;
		if (!kineto_is_timed(activity))
			continue;
		rows_list_deal(&kineto->activities,
			       &kineto->activities.lists[(size_t)gpu * kineto->slots + slot], row,
			       kineto_activity_time(trace->activities, row));
		if (activity->call != TRACE_NONE)
			kineto_mark(kineto, activity->call, KINETO_MARK_WORK);
	}
}

static void deal_calls(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;

	for (uint32_t row = 0; row < trace->calls_count; row++) {
		const struct trace_call *call = &trace->calls[row];
		uint32_t list = kineto_thread_list(kineto, call->thread, call->process);

		see_cid(kineto, call->process, call->cid);
		rows_list_deal(&kineto->calls, &kineto->calls.lists[list], row,
			       kineto_call_time(trace->calls, row));
	}
}

static void deal_scopes(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;

	for (uint32_t row = 0; row < trace->scopes_count; row++) {
		const struct trace_scope *scope = &trace->scopes[row];
		size_t list = kineto_thread_list(kineto, scope->thread, scope->process);

		if (scope->untimed)
			continue;
		if (scope->kind == RECORD_SCOPE_RANGE)
			list += trace->threads_count + trace->processes_count;
		rows_list_deal(&kineto->scopes, &kineto->scopes.lists[list], row,
			       kineto_scope_time(trace->scopes, row));
	}
}

static int make_lists(struct kineto *kineto)
{
	const struct trace *trace = kineto->trace;
	size_t threads = (size_t)trace->threads_count + trace->processes_count;
	size_t streams = ((size_t)kineto->gpus.count + 1) * kineto->slots;

	kineto->activities = (struct rows){.table = trace->activities,
					   .row_bytes = sizeof(*trace->activities),
					   .time_of = kineto_activity_time};
	kineto->calls = (struct rows){.table = trace->calls,
				      .row_bytes = sizeof(*trace->calls),
				      .time_of = kineto_call_time};
	kineto->scopes = (struct rows){.table = trace->scopes,
				       .row_bytes = sizeof(*trace->scopes),
				       .time_of = kineto_scope_time};
	kineto->sets = calloc((size_t)trace->attribute_sets_count + 1, sizeof(*kineto->sets));
	kineto->strings = calloc((size_t)trace->strings_count + 1, sizeof(*kineto->strings));
	kineto->call_marks = calloc(trace->calls_count / 32 + 1, sizeof(*kineto->call_marks));
	kineto->correlation_bases =
		calloc((size_t)trace->processes_count + 1, sizeof(*kineto->correlation_bases));
	if (!kineto->sets || !kineto->strings || !kineto->call_marks ||
	    !kineto->correlation_bases ||
	    rows_init(&kineto->activities, trace->activities_count, streams) < 0 ||
	    rows_init(&kineto->calls, trace->calls_count, threads) < 0)
		return -ENOMEM;
	return rows_init(&kineto->scopes, trace->scopes_count, 2 * threads);
}

int kineto_deal(struct kineto *kineto)
{
	int err = gpus_init(&kineto->gpus, kineto->trace);

	if (err)
		return err;
	kineto->gpu_total = kineto->gpus.count;
	kineto->slots = kineto->trace->streams_count + kineto->trace->processes_count;
	err = number_slots(kineto);
	if (!err)
		err = make_lists(kineto);
	if (err)
		return err;
	/* a wait may have no known GPU, and then needs the place of no GPU */
	if (kineto->trace->waits_count > 0 && kineto->gpus.count != 1)
		kineto->gpu_total = kineto->gpus.count + 1;
	deal_activities(kineto);
	deal_calls(kineto);
	deal_scopes(kineto);
	number_correlations(kineto);
	return 0;
}

void kineto_undeal(struct kineto *kineto)
{
	gpus_release(&kineto->gpus);
	rows_release(&kineto->activities);
	rows_release(&kineto->calls);
	rows_release(&kineto->scopes);
	free(kineto->slot_numbers);
	free(kineto->sets);
	free(kineto->strings);
	free(kineto->waits_of_calls);
	free(kineto->call_marks);
	free(kineto->correlation_bases);
}
