/* The stage of completions: each record of a completion gives its submission's row its times. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "trace/clock_fit.h"
#include "trace/process_load.h"

#define PREFETCH_AHEAD 16

struct completing {
	struct process_load *load;
	uint64_t *is_done; /* a bit per row: only the first completion of a submission counts */
	struct trace_ticks *ticks; /* by row; NULL if they are not loaded */
	uint32_t clock_hint;
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

/* The row that a completion belongs to. NULL if ROW is TRACE_NONE, or if the row has a completion
 * already. */
static struct trace_activity *take_row(struct completing *completing, uint32_t row)
{
	struct process_load *load = completing->load;
	uint32_t at = row - load->first.activities;

	if (row == TRACE_NONE) {
		load->tally.unmatched_done++;
		return NULL;
	}
	if (completing->is_done[at / 64] & 1ull << at % 64) {
		load->tally.unmatched_done++;
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
			      const struct record_dispatch_done *done, uint32_t at)
{
	struct process_load *load = completing->load;
	struct trace_activity *row = take_row(completing, at);
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

static void complete_copy(struct completing *completing, const struct record_copy_done *done,
			  uint32_t at)
{
	struct trace_activity *row = take_row(completing, at);

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

static uint32_t find_row(const struct submissions *submissions, uint64_t id)
{
	uint32_t rank = idset_find(&submissions->ids, id);

	return rank == UINT32_MAX ? TRACE_NONE : submissions->rows[rank];
}

/* Completions whose rows are being prefetched. */
struct pending {
	struct {
		const struct record_header *done;
		uint32_t row;
	} entries[PREFETCH_AHEAD];
	uint32_t count;
};

static void complete_pending(struct completing *completing, struct pending *pending)
{
	for (uint32_t i = 0; i < pending->count; i++) {
		const void *done = pending->entries[i].done;

		if (pending->entries[i].done->type == RECORD_DISPATCH_DONE)
			complete_dispatch(completing, done, pending->entries[i].row);
		else
			complete_copy(completing, done, pending->entries[i].row);
	}
	pending->count = 0;
}

static void add_pending(struct completing *completing, struct pending *pending,
			const struct record_header *done, uint32_t row)
{
	if (row != TRACE_NONE)
		__builtin_prefetch(&completing->load->trace->activities[row], 1);
	pending->entries[pending->count].done = done;
	pending->entries[pending->count++].row = row;
	if (pending->count == PREFETCH_AHEAD)
		complete_pending(completing, pending);
}

static int read_completions(struct completing *completing)
{
	struct process_load *load = completing->load;
	struct pending pending = {.count = 0};
	const struct record_header *header;
	struct origin_walk walk;

	origin_walk_init(&walk, load->raw.origin,
			 ORIGIN_TYPE(RECORD_DISPATCH_DONE) | ORIGIN_TYPE(RECORD_COPY_DONE));
	while ((header = origin_walk_next(&walk))) {
		const void *at = header;
		const struct record_dispatch_done *dispatch = at;
		const struct record_copy_done *copy = at;

		if (header->type == RECORD_DISPATCH_DONE)
			add_pending(completing, &pending, header,
				    find_row(&load->packets, packet_key(dispatch->header.tag,
									dispatch->packet_index)));
		else if (header->type == RECORD_COPY_DONE)
			add_pending(completing, &pending, header,
				    find_row(&load->copies, copy->copy_id));
		/* The walk's next call may release the records of this chunk or block. */
		if (walk.at == walk.end)
			complete_pending(completing, &pending);
	}
	return load->raw.origin->error;
}

/* The cause for a submission without a completion. */
static enum record_untimed why_unfinished(const struct process_load *load)
{
	if (load->raw.counts.dropped[RECORD_CLASS_DONE][RECORD_DROP_RING])
		return RECORD_UNTIMED_RING;
	return load->trace->processes[load->process].state == TRACE_TRUNCATED
		       ? RECORD_UNTIMED_TRUNCATED
		       : RECORD_UNTIMED_RECORD_LOST;
}

static void mark_unfinished(const struct completing *completing)
{
	const struct process_load *load = completing->load;
	struct trace *trace = load->trace;
	enum record_untimed why = why_unfinished(load);
	uint32_t count = trace->activities_count - load->first.activities;

	for (uint32_t i = 0; i < count; i++) {
		struct trace_activity *row = &trace->activities[load->first.activities + i];

		if (i % 64 == 0 && completing->is_done[i / 64] == UINT64_MAX) {
			i += 63;
			continue;
		}
		if (completing->is_done[i / 64] & 1ull << i % 64)
			continue;
		/* CUPTI's activities come finished. */
		if (row->start_ns || row->end_ns)
			continue;
		if (row->untimed == RECORD_UNTIMED_NO)
			row->untimed = why;
	}
}

int completions_load(struct process_load *load)
{
	struct trace *trace = load->trace;
	uint32_t count = trace->activities_count - load->first.activities;
	uint32_t ticks_count = load->first.activities;
	struct completing completing = {
		.load = load,
		.is_done = calloc((size_t)count / 64 + 1, sizeof(uint64_t)),
	};
	int result;

	if (!completing.is_done)
		return -ENOMEM;
	if (!load->is_brief) {
		if (!table_extend((void **)&trace->ticks, &ticks_count, count,
				  sizeof(*trace->ticks))) {
			free(completing.is_done);
			return -ENOMEM;
		}
		completing.ticks = trace->ticks;
	}
	result = read_completions(&completing);
	if (result == 0)
		mark_unfinished(&completing);
	free(completing.is_done);
	return result;
}
