/* Counts all of a trace (summary.h). Threads share the activities. */
#include <string.h>

#include "analyze/summary_rows.h"

#define ROWS_PER_PART (1u << 17)

static void count_activity(struct summary_counted *counted, const struct trace_activity *row,
			   const struct trace_work *work)
{
	struct summary_totals *totals = &counted->totals;

	switch (work->kind) {
	case TRACE_KERNEL:
		totals->kernels++;
		totals->graph_kernels += row->launch != TRACE_NONE;
		break;
	case TRACE_COPY:
		totals->copies++;
		totals->copied_bytes += work->bytes;
		break;
	case TRACE_MEMSET:
		totals->memsets++;
		break;
	}
	totals->orphans += row->call == TRACE_NONE;
	if (row->untimed != RECORD_UNTIMED_NO) {
		totals->untimed++;
		totals->impossible += row->untimed == RECORD_UNTIMED_IMPOSSIBLE;
		return;
	}
	if (work->kind == TRACE_KERNEL)
		counted->kernel_ns += tally_span(row->start_ns, row->end_ns);
	if (row->start_ns < totals->begin_ns)
		totals->begin_ns = row->start_ns;
	if (row->end_ns > totals->end_ns)
		totals->end_ns = row->end_ns;
}

void summary_counts_add(struct summary_counts *counts, unsigned worker, uint32_t first,
			uint32_t end)
{
	const struct trace *trace = counts->trace;

	for (uint32_t i = first; i < end; i++)
		count_activity(&counts->of_worker[worker], &trace->activities[i],
			       trace_work_of(trace, &trace->activities[i]));
}

static void add_counted(struct summary_counted *sum, const struct summary_counted *counted)
{
	struct summary_totals *totals = &sum->totals;
	const struct summary_totals *more = &counted->totals;

	sum->kernel_ns += counted->kernel_ns;
	totals->kernels += more->kernels;
	totals->graph_kernels += more->graph_kernels;
	totals->copies += more->copies;
	totals->copied_bytes += more->copied_bytes;
	totals->memsets += more->memsets;
	totals->orphans += more->orphans;
	totals->untimed += more->untimed;
	totals->impossible += more->impossible;
	totals->begin_ns = more->begin_ns < totals->begin_ns ? more->begin_ns : totals->begin_ns;
	totals->end_ns = more->end_ns > totals->end_ns ? more->end_ns : totals->end_ns;
}

static int64_t saturate(__int128 ns)
{
	if (ns > INT64_MAX)
		return INT64_MAX;
	return ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

void summary_counts_init(struct summary_counts *counts, const struct trace *trace)
{
	memset(counts, 0, sizeof(*counts));
	counts->trace = trace;
	for (unsigned i = 0; i < WORKERS_MOST; i++) {
		counts->of_worker[i].totals.begin_ns = INT64_MAX;
		counts->of_worker[i].totals.end_ns = INT64_MIN;
	}
}

struct summary_totals summary_counts_sum(const struct summary_counts *counts)
{
	const struct trace *trace = counts->trace;
	struct summary_counted sum = {.totals = {
					      .api_calls = trace->calls_count + trace->idle_calls,
					      .graph_launches = trace->launches_count,
					      .processes = trace->processes_count,
					      .threads = trace->threads_count,
					      .streams = trace->streams_count,
					      .graphs = trace->graphs_count,
					      .begin_ns = INT64_MAX,
					      .end_ns = INT64_MIN,
				      }};

	for (uint32_t i = 0; i < trace->agents_count; i++)
		sum.totals.gpus += trace->agents[i].is_gpu;
	for (unsigned i = 0; i < WORKERS_MOST; i++)
		add_counted(&sum, &counts->of_worker[i]);
	sum.totals.kernel_ns = saturate(sum.kernel_ns);
	if (sum.totals.untimed == trace->activities_count)
		sum.totals.begin_ns = sum.totals.end_ns = 0;
	return sum.totals;
}

static int count_part(void *summary_counts, unsigned worker, uint32_t number)
{
	struct summary_counts *counts = summary_counts;
	uint64_t first = (uint64_t)number * ROWS_PER_PART, end = first + ROWS_PER_PART;

	if (end > counts->trace->activities_count)
		end = counts->trace->activities_count;
	summary_counts_add(counts, worker, (uint32_t)first, (uint32_t)end);
	return 0;
}

struct summary_totals summary_count(const struct trace *trace)
{
	struct summary_counts counts;

	summary_counts_init(&counts, trace);
	workers_run(WORKERS_ALL, trace->activities_count / ROWS_PER_PART + 1, count_part, &counts);
	return summary_counts_sum(&counts);
}
