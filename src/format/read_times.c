/* Start and end times of processes, from the rows of another tool's file. */
#include "format/read_times.h"

static void widen(struct trace_process *row, int64_t begin_ns, int64_t end_ns)
{
	if (row->start_ns == 0 || begin_ns < row->start_ns)
		row->start_ns = begin_ns;
	if (end_ns > row->end_ns)
		row->end_ns = end_ns;
}

void read_process_times(struct trace *trace)
{
	for (uint32_t i = 0; i < trace->activities_count; i++)
		widen(&trace->processes[trace->activities[i].process],
		      trace->activities[i].start_ns, trace->activities[i].end_ns);
	for (uint32_t i = 0; i < trace->calls_count; i++)
		widen(&trace->processes[trace->calls[i].process], trace->calls[i].begin_ns,
		      trace->calls[i].end_ns);
	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		if (!trace->scopes[i].untimed)
			widen(&trace->processes[trace->scopes[i].process],
			      trace->scopes[i].begin_ns, trace->scopes[i].end_ns);
	}
}
