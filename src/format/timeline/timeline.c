/* The lists and the correlation ids of a timeline. */
#include "format/timeline/timeline.h"

#include <errno.h>
#include <stdlib.h>

static int make_lists(struct timeline *timeline)
{
	const struct trace *trace = timeline->trace;
	size_t gpus = (size_t)timeline->gpus.count + 1;
	int err;

	err = rows_init(&timeline->activities, trace->activities_count, gpus * timeline->slots);
	if (!err)
		err = rows_init(&timeline->calls, trace->calls_count, timeline->threads);
	if (!err)
		err = rows_init(&timeline->scopes, trace->scopes_count,
				2 * (size_t)timeline->threads);
	return err;
}

int timeline_init(struct timeline *timeline, const struct trace *trace)
{
	uint32_t processes = trace->processes_count;
	int err;

	*timeline = (struct timeline){
		.trace = trace,
		.slots = trace->streams_count + processes,
		.threads = trace->threads_count + processes,
		.activities = {.table = trace->activities,
			       .row_bytes = sizeof(*trace->activities),
			       .time_of = timeline_activity_time},
		.calls = {.table = trace->calls,
			  .row_bytes = sizeof(*trace->calls),
			  .time_of = timeline_call_time},
		.scopes = {.table = trace->scopes,
			   .row_bytes = sizeof(*trace->scopes),
			   .time_of = timeline_scope_time},
		.ids = calloc((size_t)processes + 1, sizeof(*timeline->ids)),
	};
	err = timeline->ids ? gpus_init(&timeline->gpus, trace) : -ENOMEM;
	if (!err)
		err = make_lists(timeline);
	if (err) {
		timeline_release(timeline);
		return err;
	}
	for (uint32_t i = 0; i < processes; i++)
		timeline->ids[i].cid_min = UINT64_MAX;
	return 0;
}

void timeline_release(struct timeline *timeline)
{
	gpus_release(&timeline->gpus);
	rows_release(&timeline->activities);
	rows_release(&timeline->calls);
	rows_release(&timeline->scopes);
	free(timeline->ids);
	timeline->ids = NULL;
}

void timeline_deal_calls(struct timeline *timeline)
{
	for (uint32_t row = 0; row < timeline->trace->calls_count; row++) {
		const struct trace_call *call = &timeline->trace->calls[row];

		timeline_see_cid(timeline, call->process, call->cid);
		timeline_deal_call(timeline, row,
				   timeline_thread(timeline, call->thread, call->process));
	}
}

void timeline_deal_scopes(struct timeline *timeline, bool marks)
{
	for (uint32_t row = 0; row < timeline->trace->scopes_count; row++) {
		const struct trace_scope *scope = &timeline->trace->scopes[row];

		if (!scope->untimed && (marks || scope->kind != RECORD_SCOPE_MARK))
			timeline_deal_scope(
				timeline, row,
				timeline_thread(timeline, scope->thread, scope->process));
	}
}

uint64_t timeline_number_correlations(struct timeline *timeline, bool keeps_distinct)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < timeline->trace->processes_count; i++) {
		struct timeline_ids *ids = &timeline->ids[i];

		ids->base = keeps_distinct && ids->cid_min > last ? 0 : last;
		if (ids->cid_max > 0)
			last = ids->base + ids->cid_max;
	}
	return last;
}
