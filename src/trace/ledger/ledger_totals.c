/* Counts what the lines of several subjects use: totals of rows and gates, barrier packets by call,
 * and the last submission to each stream. */
#include <errno.h>
#include <stdlib.h>

#include "base/workers.h"
#include "trace/ledger/ledger_state.h"
#include "trace/row_table.h"

#define ROWS_PER_PART 65536

/* Threads share the activities. */
struct row_counting {
	const struct process_load *load;
	struct totals of_worker[WORKERS_MOST];
};

static void add_totals(struct totals *sum, const struct totals *more)
{
	sum->without_call += more->without_call;
	sum->dispatches += more->dispatches;
	sum->dispatches_joined += more->dispatches_joined;
	sum->dispatches_lost_call += more->dispatches_lost_call;
	sum->dispatches_untimed += more->dispatches_untimed;
	sum->copies += more->copies;
	sum->copies_joined += more->copies_joined;
	sum->copies_lost_call += more->copies_lost_call;
	sum->copies_untimed += more->copies_untimed;
}

static int count_part(void *row_counting, unsigned worker, uint32_t number)
{
	struct row_counting *counting = row_counting;
	const struct process_load *load = counting->load;
	struct totals totals = {0};
	uint64_t first = load->first.activities + (uint64_t)number * ROWS_PER_PART;
	uint64_t count = load->trace->activities_count;

	for (uint64_t i = first; i < count && i < first + ROWS_PER_PART; i++) {
		const struct trace_activity *row = &load->trace->activities[i];
		const struct trace_work *work = trace_work_of(load->trace, row);
		bool is_dispatch = work->kind != TRACE_COPY || work->blit;
		bool has_call = row->call != TRACE_NONE;
		bool lost = !has_call && row->cid;

		totals.without_call += !row->cid;
		if (is_dispatch) {
			totals.dispatches++;
			totals.dispatches_joined += has_call;
			totals.dispatches_lost_call += lost;
			totals.dispatches_untimed += row->untimed != RECORD_UNTIMED_NO;
		} else {
			totals.copies++;
			totals.copies_joined += has_call;
			totals.copies_lost_call += lost;
			totals.copies_untimed += row->untimed != RECORD_UNTIMED_NO;
		}
	}
	add_totals(&counting->of_worker[worker], &totals);
	return 0;
}

static void count_rows(struct ledger *ledger)
{
	const struct process_load *load = ledger->load;
	struct row_counting counting = {.load = load};
	uint32_t count = load->trace->activities_count - load->first.activities;

	workers_run(WORKERS_ALL, count / ROWS_PER_PART + 1, count_part, &counting);
	for (unsigned i = 0; i < WORKERS_MOST; i++)
		add_totals(&ledger->totals, &counting.of_worker[i]);
}

static uint64_t by_tag(const struct raw *row)
{
	return ((const struct record_header *)row->record)->tag;
}

static uint64_t by_amount(const struct raw *row)
{
	const struct record_queue_count *count = row->record;

	return count->write_index + count->dispatches + count->barriers + count->others +
	       count->destroyed;
}

/* Counts only grow, so the greatest of each queue is its last. Times do not tell: two threads may
 * write counts at the same ns. */
static int count_gates(struct ledger *ledger)
{
	struct raw_list *list = &ledger->load->raw.lists[RECORD_QUEUE_COUNT];
	struct totals *totals = &ledger->totals;

	if (raw_sort(list, by_amount) < 0 || raw_sort(list, by_tag) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_queue_count *record = list->rows[i].record;

		if (i + 1 < list->count && by_tag(&list->rows[i + 1]) == record->header.tag)
			continue;
		totals->gate_count++;
		totals->gate_dispatches += record->dispatches;
		totals->gate_barriers += record->barriers;
		totals->gate_others += record->others;
		totals->write_indices += record->write_index;
	}
	return 0;
}

static int count_barriers(struct ledger *ledger)
{
	const struct process_load *load = ledger->load;
	const struct trace *trace = load->trace;

	ledger->barriers_of_call =
		calloc((size_t)(trace->calls_count - load->first.calls) + 1, sizeof(uint32_t));
	if (!ledger->barriers_of_call)
		return -ENOMEM;
	for (uint32_t i = load->first.barriers; i < trace->barriers_count; i++) {
		if (trace->barriers[i].call != TRACE_NONE)
			ledger->barriers_of_call[trace->barriers[i].call - load->first.calls]++;
	}
	return 0;
}

static int find_tails(struct ledger *ledger)
{
	const struct process_load *load = ledger->load;
	const struct trace *trace = load->trace;
	uint32_t count = trace->streams_count - load->first.streams;

	ledger->stream_tails = table_zeroed(count, sizeof(*ledger->stream_tails));
	if (!ledger->stream_tails)
		return -ENOMEM;
	for (uint32_t i = load->first.calls; i < trace->calls_count; i++) {
		const struct trace_call *call = &trace->calls[i];
		int64_t *tail;

		if (!call->activity_count || call->stream == TRACE_NONE)
			continue;
		tail = &ledger->stream_tails[call->stream - load->first.streams];
		if (*tail < call->begin_ns)
			*tail = call->begin_ns;
	}
	return 0;
}

uint32_t ledger_call_parts(const struct process_load *load)
{
	return (load->trace->calls_count - load->first.calls) / ROWS_PER_PART + 1;
}

struct ledger_range ledger_calls_of(const struct process_load *load, uint32_t number)
{
	uint64_t first = load->first.calls + (uint64_t)number * ROWS_PER_PART;
	uint64_t end = first + ROWS_PER_PART;

	if (end > load->trace->calls_count)
		end = load->trace->calls_count;
	return (struct ledger_range){(uint32_t)first, (uint32_t)end};
}

bool ledger_is_unsubmitted(const struct ledger *ledger, uint32_t index)
{
	const struct process_load *load = ledger->load;
	const struct trace_call *call = &load->trace->calls[index];
	uint64_t rows = (uint64_t)call->activity_count +
			ledger->barriers_of_call[index - load->first.calls];

	if (!ledger->ended_early || rows >= call->activities_expected)
		return false;
	return call->stream == TRACE_NONE ||
	       ledger->stream_tails[call->stream - load->first.streams] <= call->end_ns;
}

int ledger_count(struct ledger *ledger)
{
	int err = count_gates(ledger);

	if (err == 0)
		err = count_barriers(ledger);
	if (err == 0 && ledger->ended_early)
		err = find_tails(ledger);
	if (err == 0)
		count_rows(ledger);
	return err;
}
