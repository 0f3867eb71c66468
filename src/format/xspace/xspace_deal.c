/* Distributes the rows of a trace to the lines of an XSpace, in one pass before the one that
 * writes. Also chooses the time origin.
 *
 * One thread deals activities, another one calls and scopes: their lists are different ones. A
 * third one finds the chains of scopes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/workers.h"
#include "format/xspace/xspace_writer.h"
#include "trace/row_table.h"

/* For greater distances a difference in picoseconds would not fit into 64 bits. */
#define TIME_LIMIT_NS (INT64_MAX / 2000)

static bool is_near(int64_t ns, int64_t other_ns)
{
	int64_t distance_ns;

	return !__builtin_sub_overflow(ns, other_ns, &distance_ns) &&
	       distance_ns >= -TIME_LIMIT_NS && distance_ns <= TIME_LIMIT_NS;
}

/* Fewer rows are dealt before a thread has started. */
#define ROWS_FOR_THREADS 100000

enum deal_part { DEAL_ACTIVITIES, DEAL_HOST, DEAL_CHAINS, DEAL_PARTS };

/* The part of a thread that deals rows. */
struct dealer {
	struct xspace_writer *writer;
	struct timeline_ids *ids; /* by process */
	int64_t origin_ns;	  /* the least begin */
	uint64_t backwards;	  /* as in struct xspace_left_out */
};

/* True if an XSpace can hold the times of a row; else counts the row in OUT_OF_RANGE. The distance
 * from the first process's start counts, because times may count from 1970. */
static inline bool takes_row(struct dealer *dealer, int64_t begin_ns, int64_t end_ns,
			     uint64_t *out_of_range)
{
	struct rows_time time = timeline_time(begin_ns, end_ns);
	int64_t start_ns = dealer->writer->start_ns;

	if (!is_near(time.begin_ns, start_ns) || !is_near(time.end_ns, start_ns)) {
		++*out_of_range;
		return false;
	}
	if (begin_ns < dealer->origin_ns)
		dealer->origin_ns = begin_ns;
	dealer->backwards += end_ns < begin_ns;
	return true;
}

static bool is_in_window(const struct xspace_window *window, int64_t ns)
{
	return ns >= window->from_ns && ns < window->to_ns;
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

static void deal_activity(struct dealer *dealer, uint32_t row)
{
	struct xspace_writer *writer = dealer->writer;
	struct timeline *timeline = &writer->timeline;
	const struct trace_activity *activity = &writer->trace->activities[row];
	struct xspace_left_out *left_out = &writer->left_out;
	uint32_t gpu = gpus_find(&timeline->gpus, activity->agent);
	struct rows_list *list;

	timeline_ids_see(&dealer->ids[activity->process], activity->cid);
	if (activity->call != TRACE_NONE && writer->gpu_of_call[activity->call] == TRACE_NONE)
		writer->gpu_of_call[activity->call] = gpu;
	if (!is_activity_in_window(writer, activity))
		return;
	if (activity->untimed != RECORD_UNTIMED_NO) {
		left_out->untimed[activity->untimed < RECORD_UNTIMED_COUNT ? activity->untimed
									   : 0]++;
		return;
	}
	if (!takes_row(dealer, activity->start_ns, activity->end_ns,
		       &left_out->activities_out_of_range))
		return;
	list = timeline_deal_activity(timeline, row, timeline_place_of(timeline, activity, gpu));
	list->words |= (uint8_t)(1 << xspace_word_of(trace_work_of(writer->trace, activity)));
}

/* All rows without a thread are on one line, whatever their process: on list number 0 of those. */
static uint32_t thread_list(const struct xspace_writer *writer, uint32_t thread)
{
	return timeline_thread(&writer->timeline, thread, 0);
}

static void deal_call(struct dealer *dealer, uint32_t row)
{
	struct xspace_writer *writer = dealer->writer;
	const struct trace_call *call = &writer->trace->calls[row];

	timeline_ids_see(&dealer->ids[call->process], call->cid);
	if (is_in_window(&writer->window, call->begin_ns) &&
	    takes_row(dealer, call->begin_ns, call->end_ns, &writer->left_out.calls_out_of_range))
		timeline_deal_call(&writer->timeline, row, thread_list(writer, call->thread));
}

static void deal_scope(struct dealer *dealer, uint32_t row)
{
	struct xspace_writer *writer = dealer->writer;
	const struct trace_scope *scope = &writer->trace->scopes[row];

	if (!scope->untimed && is_in_window(&writer->window, scope->begin_ns) &&
	    takes_row(dealer, scope->begin_ns, scope->end_ns, &writer->left_out.calls_out_of_range))
		timeline_deal_scope(&writer->timeline, row, thread_list(writer, scope->thread));
}

static int deal_part(void *dealers, unsigned worker, uint32_t part)
{
	struct dealer *dealer = (struct dealer *)dealers + part;
	const struct trace *trace = dealer->writer->trace;

	if (part == DEAL_CHAINS)
		return xspace_chains_init(&dealer->writer->chains, trace);
	if (part == DEAL_ACTIVITIES) {
		for (uint32_t i = 0; i < trace->activities_count; i++)
			deal_activity(dealer, i);
		return 0;
	}
	for (uint32_t i = 0; i < trace->calls_count; i++)
		deal_call(dealer, i);
	for (uint32_t i = 0; i < trace->scopes_count; i++)
		deal_scope(dealer, i);
	return 0;
}

static void choose_start(struct xspace_writer *writer)
{
	const struct trace *trace = writer->trace;

	writer->start_ns = trace->processes_count ? trace->processes[0].start_ns : 0;
	/* another tool's times count from its profile's start, or from 1970 */
	if (xspace_is_foreign(trace) && is_near(writer->start_ns, 0))
		writer->start_ns = 0;
	writer->origin_ns = writer->start_ns;
	for (uint32_t i = 0; i < trace->processes_count; i++) {
		if (trace->processes[i].start_ns < writer->origin_ns)
			writer->origin_ns = trace->processes[i].start_ns;
	}
}

/* Adds what DEALER has learned to what its writer knows. */
static void take_dealt(const struct dealer *dealer)
{
	struct xspace_writer *writer = dealer->writer;

	if (dealer->origin_ns < writer->origin_ns)
		writer->origin_ns = dealer->origin_ns;
	writer->left_out.backwards += dealer->backwards;
	for (uint32_t i = 0; i < writer->trace->processes_count; i++) {
		timeline_see_cid(&writer->timeline, i, dealer->ids[i].cid_max);
		if (dealer->ids[i].cid_max)
			timeline_see_cid(&writer->timeline, i, dealer->ids[i].cid_min);
	}
}

/* In cache lines of its own, because both threads write an id with nearly each row. */
static struct timeline_ids *make_ids(uint32_t processes)
{
	size_t lines = processes * sizeof(struct timeline_ids) / WORKERS_APART + 1;
	struct timeline_ids *ids = aligned_alloc(WORKERS_APART, lines * WORKERS_APART);

	for (uint32_t i = 0; ids && i < processes; i++)
		ids[i] = (struct timeline_ids){.cid_min = UINT64_MAX};
	return ids;
}

static int deal(struct xspace_writer *writer)
{
	struct timeline_ids *ids = make_ids(writer->trace->processes_count);
	unsigned threads = writer->trace->calls_count < ROWS_FOR_THREADS ? 1 : WORKERS_ALL;
	struct dealer dealers[DEAL_PARTS];
	int err;

	if (!ids)
		return -ENOMEM;
	choose_start(writer);
	dealers[DEAL_ACTIVITIES] =
		(struct dealer){writer, writer->timeline.ids, writer->origin_ns, 0};
	dealers[DEAL_HOST] = (struct dealer){writer, ids, writer->origin_ns, 0};
	dealers[DEAL_CHAINS] = (struct dealer){.writer = writer};
	err = workers_run(threads, DEAL_PARTS, deal_part, dealers);
	take_dealt(&dealers[DEAL_ACTIVITIES]);
	take_dealt(&dealers[DEAL_HOST]);
	free(ids);
	timeline_number_correlations(&writer->timeline, true);
	return err;
}

int xspace_deal(struct xspace_writer *writer, const struct trace *trace)
{
	int err = timeline_init(&writer->timeline, trace);

	writer->trace = trace;
	writer->gpu_of_call = table_alloc(trace->calls_count, sizeof(*writer->gpu_of_call));
	if (!err && !writer->gpu_of_call)
		err = -ENOMEM;
	if (!err)
		err = xspace_batches_init(&writer->batches);
	if (err) {
		xspace_deal_release(writer);
		return err;
	}
	memset(writer->gpu_of_call, 0xff,
	       (size_t)trace->calls_count * sizeof(*writer->gpu_of_call));
	err = deal(writer);
	if (err)
		xspace_deal_release(writer);
	return err;
}

void xspace_deal_release(struct xspace_writer *writer)
{
	timeline_release(&writer->timeline);
	xspace_chains_release(&writer->chains);
	free(writer->gpu_of_call);
	xspace_batches_release(&writer->batches);
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
