/* Counts all of a trace (summary.h). Threads share the activities. */
#include "analyze/summary.h"
#include "base/workers.h"

#define ROWS_PER_PART (1u << 17)

/* What one thread has counted. */
struct counted {
	struct summary_totals totals;
	__int128 kernel_ns; /* exact, so that the order of adding does not count */
};

struct counting {
	const struct trace *trace;
	struct counted of_worker[WORKERS_MOST];
};

static void count_activity(struct counted *counted, const struct trace_activity *row,
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

static int count_part(void *counting_of_trace, unsigned worker, uint32_t number)
{
	struct counting *counting = counting_of_trace;
	const struct trace *trace = counting->trace;
	uint64_t end = (number + 1ull) * ROWS_PER_PART;

	if (end > trace->activities_count)
		end = trace->activities_count;
	for (uint64_t i = (uint64_t)number * ROWS_PER_PART; i < end; i++)
		count_activity(&counting->of_worker[worker], &trace->activities[i],
			       trace_work_of(trace, &trace->activities[i]));
	return 0;
}

static void add_counted(struct counted *sum, const struct counted *counted)
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

struct summary_totals summary_count(const struct trace *trace)
{
	struct counted sum = {.totals = {
				      .api_calls = trace->calls_count,
				      .graph_launches = trace->launches_count,
				      .processes = trace->processes_count,
				      .threads = trace->threads_count,
				      .streams = trace->streams_count,
				      .graphs = trace->graphs_count,
				      .begin_ns = INT64_MAX,
				      .end_ns = INT64_MIN,
			      }};
	struct counting counting = {.trace = trace};

	for (uint32_t i = 0; i < trace->agents_count; i++)
		sum.totals.gpus += trace->agents[i].is_gpu;
	for (unsigned i = 0; i < WORKERS_MOST; i++) {
		counting.of_worker[i].totals.begin_ns = INT64_MAX;
		counting.of_worker[i].totals.end_ns = INT64_MIN;
	}
	workers_run(WORKERS_ALL, trace->activities_count / ROWS_PER_PART + 1, count_part,
		    &counting);
	for (unsigned i = 0; i < WORKERS_MOST; i++)
		add_counted(&sum, &counting.of_worker[i]);
	sum.totals.kernel_ns = saturate(sum.kernel_ns);
	if (sum.totals.untimed == trace->activities_count)
		sum.totals.begin_ns = sum.totals.end_ns = 0;
	return sum.totals;
}
