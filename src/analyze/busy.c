/* Busy time of GPUs (busy.h). */
#include "analyze/busy.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/tally.h"

int busy_init(struct busy *busy, const struct starts *starts, const struct path_window *window)
{
	size_t agents = starts->trace->agents_count;

	*busy = (struct busy){
		.starts = starts,
		.gpus = calloc(agents + 1, sizeof(*busy->gpus)),
	};
	if (!busy->gpus)
		return -ENOMEM;
	starts_find(starts, window->begin_ns, window->end_ns, &busy->next, &busy->stop);
	return 0;
}

void busy_release(struct busy *busy)
{
	free(busy->gpus);
}

static void take(struct busy_gpu *gpu, const struct trace_activity *row)
{
	if (gpu->is_begun && row->start_ns <= gpu->end_ns) {
		if (row->end_ns > gpu->end_ns)
			gpu->end_ns = row->end_ns;
		return;
	}
	gpu->before_ns = tally_sum(gpu->before_ns, tally_span(gpu->begin_ns, gpu->end_ns));
	gpu->begin_ns = row->start_ns;
	gpu->end_ns = row->end_ns;
	gpu->is_begun = true;
}

/* Takes all activities that start before NS. Returns the busy time of AGENT until NS. */
static int64_t busy_until(struct busy *busy, uint32_t agent, int64_t ns)
{
	const struct trace_activity *rows = busy->starts->trace->activities;
	struct busy_gpu *gpu = &busy->gpus[agent];

	for (; busy->next < busy->stop; busy->next++) {
		const struct trace_activity *row = &rows[busy->starts->order[busy->next]];

		if (row->start_ns >= ns)
			break;
		if (row->agent != TRACE_NONE)
			take(&busy->gpus[row->agent], row);
	}
	return tally_sum(gpu->before_ns,
			 tally_span(gpu->begin_ns, ns < gpu->end_ns ? ns : gpu->end_ns));
}

int64_t busy_within(struct busy *busy, uint32_t agent, int64_t begin_ns, int64_t end_ns)
{
	int64_t before_ns;

	if (agent == TRACE_NONE)
		return 0;
	before_ns = busy_until(busy, agent, begin_ns);
	return tally_span(before_ns, busy_until(busy, agent, end_ns));
}
