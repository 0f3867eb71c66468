/* Comparing the times of processes (process_clocks.h). */
#include "trace/process_clocks.h"

uint64_t process_clocks_uncertainty(const struct trace *trace, uint32_t a, uint32_t b, int64_t ns)
{
	const struct trace_process *one = &trace->processes[a], *other = &trace->processes[b];
	const struct trace_clock *clock, *other_clock;

	if (!trace->clocks_count)
		return one->host == other->host ? 0 : INT64_MAX;
	clock = &trace->clocks[one->clock];
	other_clock = &trace->clocks[other->clock];
	if (clock->machine == other_clock->machine)
		return 0;
	return rank_clock_sum(rank_clock_uncertainty_mapped(&clock->fit, ns),
			      rank_clock_uncertainty_mapped(&other_clock->fit, ns));
}
