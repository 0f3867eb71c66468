/* The theoretical occupancy of the kernels of a summary (summary_rows.h). */
#include <errno.h>
#include <stdlib.h>

#include "analyze/summary_rows.h"
#include "trace/occupancy.h"

/* Adds the occupancy of a work kind to the row of its kernel. KNOWN_NS and MOST_NS are those of the
 * row: the time with known occupancy, and of its longest work kind. */
static void add_occupancy(struct summary_row *row, const struct occupancy *occupancy, int64_t ns,
			  int64_t *known_ns, int64_t *most_ns)
{
	*known_ns = tally_sum(*known_ns, ns);
	row->occupancy +=
		(occupancy_value(occupancy) - row->occupancy) * (double)ns / (double)*known_ns;
	if (ns > *most_ns) {
		*most_ns = ns;
		row->occupancy_limits = occupancy->limits;
	}
}

static int64_t saturate(__int128 ns)
{
	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

int summary_find_occupancy(const struct trace *trace, const struct summary_work_time *times,
			   const struct numbers *keys, struct summary_row *rows, uint32_t count)
{
	int64_t(*row_ns)[2] = calloc((size_t)count + 1, sizeof(*row_ns));

	if (!row_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->works_count; i++) {
		struct occupancy occupancy;
		uint32_t number, agent;

		if (times[i].ns <= 0 || trace->works[i].kind != TRACE_KERNEL)
			continue;
		agent = trace->activities[times[i].last - 1].agent;
		occupancy = occupancy_of(trace_text(trace, trace->agents[agent].name),
					 &trace->works[i]);
		number = numbers_find(keys, 0, trace->works[i].name);
		if (occupancy.waves_most && number < count)
			add_occupancy(&rows[number], &occupancy, saturate(times[i].ns),
				      &row_ns[number][0], &row_ns[number][1]);
	}
	free(row_ns);
	return 0;
}
