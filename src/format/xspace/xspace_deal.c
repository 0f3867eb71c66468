/* Distributes the rows of a trace to the lines of an XSpace, in one pass before the one that
 * writes. Also chooses the time origin and the correlation ids. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/xspace/xspace_writer.h"
#include "trace/row_table.h"

/* For greater distances a difference in picoseconds would not fit into 64 bits. */
#define TIME_LIMIT_NS (INT64_MAX / 2000)

static struct rows_time time_from(int64_t begin_ns, int64_t end_ns)
{
	return (struct rows_time){begin_ns, end_ns < begin_ns ? begin_ns : end_ns};
}

struct rows_time xspace_activity_time(const void *table, uint32_t row)
{
	const struct trace_activity *activity = (const struct trace_activity *)table + row;

	return time_from(activity->start_ns, activity->end_ns);
}

struct rows_time xspace_call_time(const void *table, uint32_t row)
{
	const struct trace_call *call = (const struct trace_call *)table + row;

	return time_from(call->begin_ns, call->end_ns);
}

struct rows_time xspace_scope_time(const void *table, uint32_t row)
{
	const struct trace_scope *scope = (const struct trace_scope *)table + row;

	return time_from(scope->begin_ns, scope->end_ns);
}

static bool is_near(int64_t ns, int64_t other_ns)
{
	int64_t distance_ns;

	return !__builtin_sub_overflow(ns, other_ns, &distance_ns) &&
	       distance_ns >= -TIME_LIMIT_NS && distance_ns <= TIME_LIMIT_NS;
}

/* True if an XSpace can hold the time. The distance from the first process's start counts, because
 * times may count from 1970. */
static bool is_in_range(const struct xspace_writer *writer, struct rows_time time)
{
	return is_near(time.begin_ns, writer->start_ns) && is_near(time.end_ns, writer->start_ns);
}

static bool is_in_window(const struct xspace_window *window, int64_t ns)
{
	return ns >= window->from_ns && ns < window->to_ns;
}

/* Moves the time origin back so that it is not after BEGIN_NS. */
static void see_time(struct xspace_writer *writer, int64_t begin_ns)
{
	if (begin_ns < writer->origin_ns)
		writer->origin_ns = begin_ns;
}

static void see_cid(struct xspace_ids *ids, uint64_t cid)
{
	if (cid == 0)
		return;
	if (cid < ids->cid_min)
		ids->cid_min = cid;
	if (cid > ids->cid_max)
		ids->cid_max = cid;
}

/* True if the activity belongs to this file: it is in the same file as its call. */
static bool is_activity_in_window(const struct xspace_writer *writer,
				  const struct trace_activity *activity)
{
	int64_t ns = activity->submit_ns;

	if (writer->window.count == 1)
		return true;
	if (activity->call != TRACE_NONE)
		ns = writer->trace->calls[activity->call].begin_ns;
	return is_in_window(&writer->window, ns);
}

static void deal_activity(struct xspace_writer *writer, uint32_t row)
{
	const struct trace_activity *activity = &writer->trace->activities[row];
	struct rows_time time = time_from(activity->start_ns, activity->end_ns);
	struct xspace_left_out *left_out = &writer->left_out;
	uint32_t gpu = gpus_find(&writer->gpus, activity->agent);
	struct rows_list *list;
	size_t slot;

	see_cid(&writer->ids[activity->process], activity->cid);
	if (activity->call != TRACE_NONE && writer->gpu_of_call[activity->call] == TRACE_NONE)
		writer->gpu_of_call[activity->call] = gpu;
	if (!is_activity_in_window(writer, activity))
		return;
	if (activity->untimed != RECORD_UNTIMED_NO) {
		left_out->untimed[activity->untimed < RECORD_UNTIMED_COUNT ? activity->untimed
									   : 0]++;
		return;
	}
	if (!is_in_range(writer, time)) {
		left_out->activities_out_of_range++;
		return;
	}
	see_time(writer, time.begin_ns);
	left_out->backwards += activity->end_ns < activity->start_ns;
	slot = activity->stream == TRACE_NONE
		       ? xspace_streamless(writer, activity->process)
		       : xspace_list_of_stream(activity->stream, activity->process);
	list = &writer->activities.lists[gpu * writer->streams_count + slot];
	list->words |= (uint8_t)(1 << xspace_word_of(trace_work_of(writer->trace, activity)));
	rows_list_deal(&writer->activities, list, row, time);
}

static void deal_call(struct xspace_writer *writer, uint32_t row)
{
	const struct trace_call *call = &writer->trace->calls[row];
	struct rows_time time = time_from(call->begin_ns, call->end_ns);
	uint32_t thread = call->thread < writer->trace->threads_count
				  ? call->thread
				  : writer->trace->threads_count;

	see_cid(&writer->ids[call->process], call->cid);
	if (!is_in_window(&writer->window, call->begin_ns))
		return;
	if (!is_in_range(writer, time)) {
		writer->left_out.calls_out_of_range++;
		return;
	}
	see_time(writer, time.begin_ns);
	writer->left_out.backwards += call->end_ns < call->begin_ns;
	rows_list_deal(&writer->calls, &writer->calls.lists[thread], row, time);
}

static void deal_scope(struct xspace_writer *writer, uint32_t row)
{
	const struct trace_scope *scope = &writer->trace->scopes[row];
	struct rows_time time = time_from(scope->begin_ns, scope->end_ns);
	size_t threads = writer->trace->threads_count;
	size_t list = scope->thread < threads ? scope->thread : threads;

	if (scope->untimed || !is_in_window(&writer->window, scope->begin_ns))
		return;
	if (!is_in_range(writer, time)) {
		writer->left_out.calls_out_of_range++;
		return;
	}
	see_time(writer, time.begin_ns);
	writer->left_out.backwards += scope->end_ns < scope->begin_ns;
	if (scope->kind == RECORD_SCOPE_RANGE)
		list += threads + 1;
	rows_list_deal(&writer->scopes, &writer->scopes.lists[list], row, time);
}

static int make_room(struct xspace_writer *writer)
{
	const struct trace *trace = writer->trace;
	size_t threads = (size_t)trace->threads_count + 1;
	size_t processes = trace->processes_count;
	int err;

	writer->ids = calloc(processes + 1, sizeof(*writer->ids));
	writer->streams_end = calloc(processes + 1, sizeof(*writer->streams_end));
	writer->gpu_of_call = table_alloc(trace->calls_count, sizeof(*writer->gpu_of_call));
	if (!writer->ids || !writer->streams_end || !writer->gpu_of_call)
		return -ENOMEM;
	memset(writer->gpu_of_call, 0xff,
	       (size_t)trace->calls_count * sizeof(*writer->gpu_of_call));
	for (uint32_t i = 0; i < trace->streams_count; i++)
		writer->streams_end[trace->streams[i].process] = i + 1;
	for (size_t i = 0; i < processes; i++) {
		writer->ids[i].cid_min = UINT64_MAX;
		if (i > 0 && writer->streams_end[i] == 0)
			writer->streams_end[i] = writer->streams_end[i - 1];
	}
	writer->streams_count = (size_t)trace->streams_count + processes;
	err = rows_init(&writer->activities, trace->activities_count,
			writer->streams_count * (writer->gpus.count + 1));
	if (!err)
		err = rows_init(&writer->calls, trace->calls_count, threads);
	if (!err)
		err = rows_init(&writer->scopes, trace->scopes_count, 2 * threads);
	return err;
}

/* Chooses the correlation bases. Processes use the same cids; ids stay unchanged if no two
 * processes share one. */
static void number_calls(struct xspace_writer *writer)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < writer->trace->processes_count; i++) {
		struct xspace_ids *ids = &writer->ids[i];

		if (ids->cid_min > ids->cid_max)
			continue;
		ids->correlation_base = ids->cid_min > last ? 0 : last;
		last = ids->cid_max + ids->correlation_base;
	}
}

static void deal(struct xspace_writer *writer)
{
	const struct trace *trace = writer->trace;

	writer->start_ns = trace->processes_count ? trace->processes[0].start_ns : 0;
	/* another tool's times count from its profile's start, or from 1970 */
	if (xspace_is_foreign(trace) && is_near(writer->start_ns, 0))
		writer->start_ns = 0;
	writer->origin_ns = writer->start_ns;
	for (uint32_t i = 0; i < trace->processes_count; i++)
		see_time(writer, trace->processes[i].start_ns);
	for (uint32_t i = 0; i < trace->activities_count; i++)
		deal_activity(writer, i);
	for (uint32_t i = 0; i < trace->calls_count; i++)
		deal_call(writer, i);
	for (uint32_t i = 0; i < trace->scopes_count; i++)
		deal_scope(writer, i);
	number_calls(writer);
}

int xspace_deal(struct xspace_writer *writer, const struct trace *trace)
{
	int err;

	writer->trace = trace;
	writer->activities = (struct rows){
		.table = trace->activities,
		.row_bytes = sizeof(*trace->activities),
		.time_of = xspace_activity_time,
	};
	writer->calls = (struct rows){
		.table = trace->calls,
		.row_bytes = sizeof(*trace->calls),
		.time_of = xspace_call_time,
	};
	writer->scopes = (struct rows){
		.table = trace->scopes,
		.row_bytes = sizeof(*trace->scopes),
		.time_of = xspace_scope_time,
	};
	err = gpus_init(&writer->gpus, trace);
	if (!err)
		err = make_room(writer);
	if (!err)
		err = xspace_chains_init(&writer->chains, trace);
	if (err) {
		xspace_deal_release(writer);
		return err;
	}
	deal(writer);
	return 0;
}

void xspace_deal_release(struct xspace_writer *writer)
{
	gpus_release(&writer->gpus);
	xspace_chains_release(&writer->chains);
	rows_release(&writer->activities);
	rows_release(&writer->calls);
	rows_release(&writer->scopes);
	free(writer->ids);
	free(writer->streams_end);
	free(writer->gpu_of_call);
}

void xspace_put_foreign(const struct xspace_writer *writer, const struct xspace_foreign_row *row,
			struct xspace_stats *stats)
{
	const struct trace *trace = writer->trace;
	const struct trace_attribute_set *set = &trace->attribute_sets[row->set];

	proto_reset(&stats->bytes);
	if (row->correlation_id)
		xspace_put_u64(stats, XSPACE_STAT_CORRELATION_ID, row->correlation_id);
	if (row->scope != TRACE_NONE && !xspace_scope_is_numbered(trace->scopes[row->scope].id))
		xspace_put_i64(stats, XSPACE_STAT_SCOPE_RANGE_ID,
			       (int64_t)xspace_scope_id(writer, row->scope));
	for (uint32_t i = 0; i < set->count; i++)
		xspace_put_attribute(stats, trace, &trace->scope_attributes[set->first + i]);
}
