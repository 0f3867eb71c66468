/* Sorts all rows into the model's order and joins calls, activities and graphs. */
#include <stdlib.h>

#include "format/xspace/xspace_reader_load.h"

#define KEY(name, expression)                                                                      \
	static uint64_t scope_##name(const void *row_bytes)                                        \
	{                                                                                          \
		const struct trace_scope *row = row_bytes;                                         \
                                                                                                   \
		return (expression);                                                               \
	}

KEY(process, row->process)
KEY(id, xspace_scope_is_numbered(row->id) ? XSPACE_SCOPE_NUMBERED : row->id)
KEY(begin, order_ns(row->begin_ns))
KEY(end, ~order_ns(row->end_ns))

/* Renumbers the scopes that the reader has numbered, by their times, so that the numbers do not
 * depend on the order in the file. */
static void renumber_scopes(struct trace *trace)
{
	uint64_t next = 0;

	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		if (i && trace->scopes[i].process != trace->scopes[i - 1].process)
			next = 0;
		if (xspace_scope_is_numbered(trace->scopes[i].id))
			trace->scopes[i].id = XSPACE_SCOPE_NUMBERED | ++next;
	}
}

static int arrange_scopes(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(
		ORDER_TABLE(trace, scopes, scope_process, scope_id, scope_begin, scope_end),
		&place);

	if (err < 0)
		return err;
	renumber_scopes(trace);
	for (uint32_t i = 0; i < trace->scopes_count; i++)
		order_move(&trace->scopes[i].parent, place);
	for (uint32_t i = 0; i < trace->calls_count; i++)
		order_move(&trace->calls[i].scope, place);
	for (uint32_t i = 0; i < trace->activities_count; i++)
		order_move(&trace->activities[i].scope, place);
	free(place);
	return 0;
}

/* Joins activities with their calls. The activities of a call are contiguous by now. What the file
 * does not state about an activity is taken from its call. */
static void join_rows(const struct xread_load *load)
{
	struct trace *trace = load->trace;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		struct trace_activity *row = &trace->activities[i];
		struct trace_call *call;

		if (row->call == TRACE_NONE)
			continue;
		call = &trace->calls[row->call];
		if (call->activity_count == 0) {
			call->activity_first = i;
			call->stream = row->stream;
		}
		row->ordinal = call->activity_count++;
		row->thread = call->thread;
		if (row->scope == TRACE_NONE && !load->is_ours)
			row->scope = call->scope;
		if (call->launch == TRACE_NONE)
			call->launch = row->launch;
		if (row->launch == TRACE_NONE && load->is_ours)
			row->launch = call->launch;
		if (row->launch != TRACE_NONE && row->confidence == TRACE_CONFIDENCE_NONE)
			row->confidence = TRACE_CONFIDENCE_UNKNOWN;
		if (call->activities_expected < call->activity_count)
			call->activities_expected = call->activity_count;
	}
}

int xread_join(struct xread_load *load)
{
	struct trace *trace = load->trace;
	int result = order_threads(trace);

	if (result == 0)
		result = order_streams(trace);
	if (result == 0)
		result = arrange_scopes(trace);
	if (result == 0)
		result = order_apis(trace);
	if (result == 0)
		result = order_calls(trace, &load->call_sets);
	if (result == 0)
		result = order_activities(trace, &load->activity_sets);
	if (result == 0)
		join_rows(load);
	return result;
}

int xread_join_graphs(struct xread_load *load)
{
	struct trace *trace = load->trace;
	int err = order_graphs(trace);

	/* dagtap's files state the nodes' indices; for other files the rank of the node's id is
	 * its index */
	for (uint32_t i = 0; i < trace->nodes_count && load->is_ours; i++) {
		trace->nodes[i].index = (uint32_t)trace->nodes[i].handle - 1;
		trace->nodes[i].handle = 0;
	}
	return err;
}
