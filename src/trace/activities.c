/* GPU activities: submissions brought into the order of calls, and their completions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/clock.h"
#include "trace/process.h"
#include "trace/sort.h"
#include "trace/table.h"

/* Consumed arrivals are given back in steps of this size, while the rows take their place. */
#define STEP_BYTES (2u << 20)

struct placing {
	struct process_load *load;
	struct trace_activity *rows; /* of this process */
	uint32_t orphan_first;	     /* place of the first one without a call */
	uint32_t orphan_count;
	uintptr_t given_back;
};

/* How many each call has, then where each call's begin. */
static void find_places(struct placing *placing)
{
	struct process_load *load = placing->load;
	struct trace *trace = load->trace;
	uint32_t next = load->first.activities;

	for (uint32_t i = 0; i < load->arrival_count; i++) {
		uint32_t call = load->arrivals[i].call;

		if (call != TRACE_NONE)
			trace->calls[call].activity_count++;
	}
	for (uint32_t i = load->first.calls; i < trace->calls_count; i++) {
		struct trace_call *call = &trace->calls[i];

		call->activity_first = call->activity_count ? next : 0;
		next += call->activity_count;
		call->activity_count = 0;
	}
	placing->orphan_first = next;
}

static uint32_t agent_of(const struct trace *trace, const struct arrival *arrival)
{
	const struct trace_op *op = &trace->ops[arrival->op];

	if (!arrival->is_copy)
		return arrival->queue == TRACE_NONE ? TRACE_NONE
						    : trace->queues[arrival->queue].agent;
	return op->dst_agent != TRACE_NONE && trace->agents[op->dst_agent].is_gpu ? op->dst_agent
										  : op->src_agent;
}

/* Until every row has its place, two of its fields hold what its submission is found by. */
#define FIELD_RANK    launch
#define FIELD_IS_COPY node

static struct trace_activity row_of(const struct process_load *load, const struct arrival *arrival)
{
	return (struct trace_activity){
		.submit_ns = (int64_t)arrival->ns,
		.cid = arrival->cid,
		.id = arrival->id,
		.op = arrival->op,
		.call = arrival->call,
		.ordinal = arrival->ordinal,
		.process = load->process,
		.agent = agent_of(load->trace, arrival),
		.queue = arrival->queue,
		.stream = TRACE_NONE,
		.thread = arrival->thread,
		.scope = arrival->scope,
		.FIELD_RANK = arrival->rank,
		.FIELD_IS_COPY = arrival->is_copy,
		.packet_header = arrival->packet_header,
		.untimed = arrival->untimed,
	};
}

static void give_back(struct placing *placing, const struct arrival *upto)
{
	uintptr_t end = (uintptr_t)upto & ~(uintptr_t)(STEP_BYTES - 1);

	if (end <= placing->given_back)
		return;
	madvise((void *)placing->given_back, end - placing->given_back, MADV_DONTNEED);
	placing->given_back = end;
}

static void place_all(struct placing *placing)
{
	struct process_load *load = placing->load;
	struct trace *trace = load->trace;

	placing->given_back =
		((uintptr_t)load->arrivals + STEP_BYTES - 1) & ~(uintptr_t)(STEP_BYTES - 1);
	for (uint32_t i = 0; i < load->arrival_count; i++) {
		const struct arrival *arrival = &load->arrivals[i];
		uint32_t place;

		if (arrival->call == TRACE_NONE) {
			place = placing->orphan_first + placing->orphan_count++;
		} else {
			struct trace_call *call = &trace->calls[arrival->call];

			place = call->activity_first + call->activity_count++;
		}
		trace->activities[place] = row_of(load, arrival);
		give_back(placing, arrival);
	}
}

/* By (cid, ordinal, source, id): within a call, and among those without one. */
static int compare_rows(const void *left, const void *right)
{
	const struct trace_activity *a = left, *b = right;

	if (a->cid != b->cid)
		return a->cid < b->cid ? -1 : 1;
	if (a->ordinal != b->ordinal)
		return a->ordinal < b->ordinal ? -1 : 1;
	if (a->FIELD_IS_COPY != b->FIELD_IS_COPY)
		return a->FIELD_IS_COPY < b->FIELD_IS_COPY ? -1 : 1;
	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static void sort_range(struct trace_activity *rows, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		if (compare_rows(&rows[i - 1], &rows[i]) > 0) {
			qsort(rows, count, sizeof(*rows), compare_rows);
			return;
		}
	}
}

static void sort_ranges(struct placing *placing)
{
	struct process_load *load = placing->load;
	struct trace *trace = load->trace;

	for (uint32_t i = load->first.calls; i < trace->calls_count; i++) {
		const struct trace_call *call = &trace->calls[i];

		if (call->activity_count > 1)
			sort_range(&trace->activities[call->activity_first], call->activity_count);
	}
	if (placing->orphan_count)
		sort_range(&trace->activities[placing->orphan_first], placing->orphan_count);
}

/* From here on a submission's id leads to its row. */
static void map_ids(struct process_load *load)
{
	struct trace *trace = load->trace;

	for (uint32_t i = load->first.activities; i < trace->activities_count; i++) {
		struct trace_activity *row = &trace->activities[i];
		struct submissions *of = row->FIELD_IS_COPY ? &load->copies : &load->packets;

		of->rows[row->FIELD_RANK] = i;
		row->launch = TRACE_NONE;
		row->node = TRACE_NONE;
	}
}

static int place_activities(struct process_load *load)
{
	struct placing placing = {.load = load};

	if (!trace_reserve(load->trace, activities, load->arrival_count))
		return -ENOMEM;
	find_places(&placing);
	place_all(&placing);
	free(load->arrivals);
	load->arrivals = NULL;
	sort_ranges(&placing);
	map_ids(load);
	return 0;
}

/* ---- completions ---- */

struct completing {
	struct process_load *load;
	uint64_t *is_done; /* a bit a row: of several completions of one submission one counts */
	struct trace_ticks *ticks; /* by row; NULL if they are not wanted */
	uint32_t packet_hint, copy_hint, clock_hint;
};

static const struct clock_fit *clock_of(const struct process_load *load,
					const struct trace_activity *row)
{
	if (row->agent == TRACE_NONE || row->agent - load->first.agents >= load->clock_count)
		return NULL;
	return &load->clocks[row->agent - load->first.agents];
}

static enum record_untimed known_untimed(uint64_t untimed)
{
	return untimed < RECORD_UNTIMED_COUNT ? (enum record_untimed)untimed
					      : RECORD_UNTIMED_RECORD_LOST;
}

/* The row that a completion belongs to, NULL if there is none or it has one. */
static struct trace_activity *take_row(struct completing *completing,
				       const struct submissions *submissions, uint32_t rank)
{
	struct process_load *load = completing->load;
	uint32_t at;

	if (rank == UINT32_MAX) {
		load->unmatched_done++;
		return NULL;
	}
	at = submissions->rows[rank] - load->first.activities;
	if (completing->is_done[at / 64] & 1ull << at % 64) {
		load->unmatched_done++;
		return NULL;
	}
	completing->is_done[at / 64] |= 1ull << at % 64;
	return &load->trace->activities[load->first.activities + at];
}

static void keep_ticks(struct completing *completing, const struct trace_activity *row,
		       uint64_t start, uint64_t end)
{
	if (completing->ticks)
		completing->ticks[row - completing->load->trace->activities] =
			(struct trace_ticks){start, end};
}

static void complete_dispatch(struct completing *completing,
			      const struct record_dispatch_done *done)
{
	struct process_load *load = completing->load;
	uint64_t key = packet_key(done->header.tag, done->packet_index);
	uint32_t rank = idset_find(&load->packets.ids, key, &completing->packet_hint);
	struct trace_activity *row = take_row(completing, &load->packets, rank);
	const struct clock_fit *fit;

	if (!row || row->untimed != RECORD_UNTIMED_NO)
		return;
	row->untimed = known_untimed(done->untimed);
	if (row->untimed != RECORD_UNTIMED_NO)
		return;
	keep_ticks(completing, row, done->start_tick, done->end_tick);
	fit = clock_of(load, row);
	if (done->start_tick == 0 || done->end_tick == 0) {
		row->untimed = RECORD_UNTIMED_ZERO_TICK;
	} else if (!fit || !clock_fit_is_usable(fit)) {
		row->untimed = RECORD_UNTIMED_NO_CLOCK;
	} else {
		row->start_ns = clock_fit_convert(fit, done->start_tick, &completing->clock_hint);
		row->end_ns = clock_fit_convert(fit, done->end_tick, &completing->clock_hint);
	}
}

static void complete_copy(struct completing *completing, const struct record_copy_done *done)
{
	struct process_load *load = completing->load;
	uint32_t rank = idset_find(&load->copies.ids, done->copy_id, &completing->copy_hint);
	struct trace_activity *row = take_row(completing, &load->copies, rank);

	if (!row)
		return;
	row->untimed = known_untimed(done->header.tag);
	if (row->untimed == RECORD_UNTIMED_NO && (done->start == 0 || done->end == 0))
		row->untimed = RECORD_UNTIMED_ZERO_TICK;
	if (row->untimed != RECORD_UNTIMED_NO)
		return;
	row->start_ns = (int64_t)done->start;
	row->end_ns = (int64_t)done->end;
}

static void read_completions(struct completing *completing)
{
	struct spool_cursor cursor;
	struct spool_record record;

	spool_cursor_init_file(&cursor, completing->load->reader);
	while (spool_cursor_next(&cursor, &record)) {
		const void *at = record.header;

		if (record.type == RECORD_DISPATCH_DONE)
			complete_dispatch(completing, at);
		else if (record.type == RECORD_COPY_DONE)
			complete_copy(completing, at);
	}
}

static void mark_unfinished(const struct completing *completing)
{
	const struct process_load *load = completing->load;
	struct trace *trace = load->trace;
	bool is_cut = trace->processes[load->process].state == TRACE_TRUNCATED;
	uint32_t count = trace->activities_count - load->first.activities;

	for (uint32_t i = 0; i < count; i++) {
		struct trace_activity *row = &trace->activities[load->first.activities + i];

		if (completing->is_done[i / 64] & 1ull << i % 64)
			continue;
		if (row->untimed == RECORD_UNTIMED_NO)
			row->untimed =
				is_cut ? RECORD_UNTIMED_TRUNCATED : RECORD_UNTIMED_RECORD_LOST;
	}
}

static int complete_activities(struct process_load *load)
{
	struct trace *trace = load->trace;
	uint32_t count = trace->activities_count - load->first.activities;
	struct completing completing = {
		.load = load,
		.is_done = calloc((size_t)count / 64 + 1, sizeof(uint64_t)),
	};

	if (!completing.is_done)
		return -ENOMEM;
	if (!load->is_brief) {
		completing.ticks = realloc(trace->ticks, ((size_t)trace->activities_count + 1) *
								 sizeof(*trace->ticks));
		if (!completing.ticks) {
			free(completing.is_done);
			return -ENOMEM;
		}
		trace->ticks = completing.ticks;
		memset(trace->ticks + load->first.activities, 0, count * sizeof(*trace->ticks));
	}
	read_completions(&completing);
	mark_unfinished(&completing);
	free(completing.is_done);
	return 0;
}

int activities_load(struct process_load *load)
{
	int result = place_activities(load);

	return result == 0 ? complete_activities(load) : result;
}
