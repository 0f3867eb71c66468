/* The stage of completions: each record of a completion gives its submission's row its times. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/workers.h"
#include "trace/clock_fit.h"
#include "trace/process_load.h"

struct completing {
	struct process_load *load;
	uint64_t *is_done;    /* a bit per row: only the first completion of a submission counts */
	uint64_t *is_changed; /* a bit per row: a completion has changed the row */
	struct trace_ticks *ticks; /* by row; NULL if they are not loaded */
	struct completing_worker *workers;
	unsigned worker_count;
};

/* What each thread has of its own. */
struct completing_worker {
	const struct completing *of;
	uint32_t clock_hint;
	uint64_t unmatched; /* completions without a submission */
	uint64_t repeated;  /* completions of a submission that has one already */
	bool has_untimed;
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

static bool set_bit(uint64_t *bits, uint32_t at)
{
	uint64_t bit = 1ull << at % 64;

	return __atomic_fetch_or(&bits[at / 64], bit, __ATOMIC_RELAXED) & bit;
}

/* The row that a completion belongs to. NULL if ROW is TRACE_NONE, or if the row has a completion
 * already. */
static struct trace_activity *take_row(struct completing_worker *worker, uint32_t row)
{
	const struct process_load *load = worker->of->load;

	if (row == TRACE_NONE) {
		worker->unmatched++;
		return NULL;
	}
	if (set_bit(worker->of->is_done, row - load->first.activities)) {
		worker->repeated++;
		return NULL;
	}
	return &load->trace->activities[row];
}

static void keep_ticks(const struct completing *completing, const struct trace_activity *row,
		       uint64_t start, uint64_t end)
{
	if (completing->ticks)
		completing->ticks[row - completing->load->trace->activities] =
			(struct trace_ticks){start, end};
}

static void complete_dispatch(struct completing_worker *worker,
			      const struct record_dispatch_done *done, uint32_t at)
{
	const struct process_load *load = worker->of->load;
	struct trace_activity *row = take_row(worker, at);
	const struct clock_fit *fit;

	if (!row || row->untimed != RECORD_UNTIMED_NO)
		return;
	set_bit(worker->of->is_changed, at - load->first.activities);
	row->untimed = known_untimed(done->untimed);
	if (row->untimed != RECORD_UNTIMED_NO) {
		worker->has_untimed = true;
		return;
	}
	keep_ticks(worker->of, row, done->start_tick, done->end_tick);
	fit = clock_of(load, row);
	if (done->start_tick == 0 || done->end_tick == 0) {
		row->untimed = RECORD_UNTIMED_ZERO_TICK;
	} else if (!fit || !clock_fit_is_usable(fit)) {
		row->untimed = RECORD_UNTIMED_NO_CLOCK;
	} else {
		row->start_ns = clock_fit_convert(fit, done->start_tick, &worker->clock_hint);
		row->end_ns = clock_fit_convert(fit, done->end_tick, &worker->clock_hint);
	}
}

static void complete_copy(struct completing_worker *worker, const struct record_copy_done *done,
			  uint32_t at)
{
	struct trace_activity *row = take_row(worker, at);

	if (!row)
		return;
	set_bit(worker->of->is_changed, at - worker->of->load->first.activities);
	row->untimed = known_untimed(done->header.tag);
	if (row->untimed == RECORD_UNTIMED_NO && (done->start == 0 || done->end == 0))
		row->untimed = RECORD_UNTIMED_ZERO_TICK;
	if (row->untimed != RECORD_UNTIMED_NO) {
		worker->has_untimed = true;
		return;
	}
	row->start_ns = (int64_t)done->start;
	row->end_ns = (int64_t)done->end;
}

static uint32_t find_row(const struct submissions *submissions, uint64_t id)
{
	uint32_t rank = idset_find(&submissions->ids, id);

	return rank == UINT32_MAX ? TRACE_NONE : submissions->rows[rank];
}

static int read_part(void *completing_of_load, unsigned number, uint32_t part,
		     struct origin_walk *walk)
{
	const struct completing *completing = completing_of_load;
	const struct process_load *load = completing->load;
	struct completing_worker *worker = &completing->workers[number];
	const struct record_header *header;

	while ((header = origin_walk_next(walk))) {
		const void *at = header;
		const struct record_dispatch_done *dispatch = at;
		const struct record_copy_done *copy = at;

		if (header->type == RECORD_DISPATCH_DONE)
			complete_dispatch(
				worker, dispatch,
				find_row(&load->packets,
					 packet_key(dispatch->header.tag, dispatch->packet_index)));
		else if (header->type == RECORD_COPY_DONE)
			complete_copy(worker, copy, find_row(&load->copies, copy->copy_id));
	}
	return 0;
}

static int read_all(struct completing *completing, unsigned threads)
{
	completing->worker_count = workers_count(threads);
	for (unsigned i = 0; i < completing->worker_count; i++)
		completing->workers[i] = (struct completing_worker){.of = completing};
	return origin_share(completing->load->raw.origin,
			    ORIGIN_TYPE(RECORD_DISPATCH_DONE) | ORIGIN_TYPE(RECORD_COPY_DONE),
			    threads, read_part, completing);
}

static uint64_t count_repeated(const struct completing *completing)
{
	uint64_t repeated = 0;

	for (unsigned i = 0; i < completing->worker_count; i++)
		repeated += completing->workers[i].repeated;
	return repeated;
}

/* Makes all rows as they were. Rows that completions change have no times and no cause. */
static void undo(struct completing *completing, uint32_t count)
{
	struct process_load *load = completing->load;

	for (uint32_t i = 0; i < count; i++) {
		struct trace_activity *row = &load->trace->activities[load->first.activities + i];

		if (!(completing->is_changed[i / 64] >> i % 64 & 1))
			continue;
		row->untimed = RECORD_UNTIMED_NO;
		row->start_ns = row->end_ns = 0;
		keep_ticks(completing, row, 0, 0);
	}
	memset(completing->is_done, 0, ((size_t)count / 64 + 1) * sizeof(uint64_t));
	memset(completing->is_changed, 0, ((size_t)count / 64 + 1) * sizeof(uint64_t));
}

/* Of several completions of a submission the first in the file counts. No file that dagtap writes
 * has any, so the threads only notice them; then one thread reads all again, in order. */
static int read_completions(struct completing *completing, uint32_t count)
{
	struct process_load *load = completing->load;
	int err = read_all(completing, WORKERS_ALL);

	if (err == 0 && count_repeated(completing) && completing->worker_count > 1) {
		undo(completing, count);
		err = read_all(completing, 1);
	}
	for (unsigned i = 0; i < completing->worker_count; i++) {
		load->tally.unmatched_done += completing->workers[i].unmatched;
		load->tally.has_untimed |= completing->workers[i].has_untimed;
	}
	load->tally.unmatched_done += count_repeated(completing);
	return err;
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
	struct process_load *load = completing->load;
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
		load->tally.has_untimed = true;
	}
}

static int complete(struct completing *completing, uint32_t count)
{
	struct process_load *load = completing->load;
	struct trace *trace = load->trace;
	uint32_t ticks_count = load->first.activities;
	int err;

	completing->is_done = table_zeroed(count / 64, sizeof(uint64_t));
	completing->is_changed = table_zeroed(count / 64, sizeof(uint64_t));
	completing->workers = table_alloc(workers_count(WORKERS_ALL), sizeof(*completing->workers));
	if (!completing->is_done || !completing->is_changed || !completing->workers)
		return -ENOMEM;
	if (!load->is_brief) {
		if (!table_extend((void **)&trace->ticks, &ticks_count, count,
				  sizeof(*trace->ticks)))
			return -ENOMEM;
		completing->ticks = trace->ticks;
	}
	err = read_completions(completing, count);
	if (err == 0)
		mark_unfinished(completing);
	return err;
}

int completions_load(struct process_load *load)
{
	struct completing completing = {.load = load};
	int err = complete(&completing, load->trace->activities_count - load->first.activities);

	free(completing.is_done);
	free(completing.is_changed);
	free(completing.workers);
	return err;
}
