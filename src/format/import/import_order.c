/* Sorts the tables of the model (see import.h). */
#include <errno.h>
#include <stdlib.h>

#include "format/import/import.h"
#include "format/import/row_order.h"
#include "trace/row_table.h"

/* Defines the order_key TYPE_NAME of a row of struct trace_TYPE. */
#define KEY(type, name, expression)                                                                \
	static uint64_t type##_##name(const void *row_bytes)                                       \
	{                                                                                          \
		const struct trace_##type *row = row_bytes;                                        \
                                                                                                   \
		return (expression);                                                               \
	}

KEY(scope, process, row->process)
KEY(scope, id, row->id)
KEY(scope, begin, order_ns(row->begin_ns))
KEY(scope, end, ~order_ns(row->end_ns)) /* the longest first */
KEY(thread, process, row->process)
KEY(thread, tid, row->tid)
KEY(queue, process, row->process)
KEY(queue, id, row->id)
KEY(stream, process, row->process)
KEY(stream, ordinal, row->ordinal)
KEY(api, process, row->process)
KEY(agent, process, row->process)
KEY(agent, index, row->index)
KEY(call, process, row->process)
KEY(call, cid, row->cid)
KEY(call, begin, order_ns(row->begin_ns))
KEY(activity, process, row->process)
KEY(activity, cid, row->cid)
KEY(activity, start, order_ns(row->start_ns))
KEY(activity, is_orphan, row->call == TRACE_NONE)
KEY(graph, process, row->process)
KEY(graph, id, row->id)
KEY(node, graph, row->graph)
KEY(node, handle, row->handle)
KEY(exec, process, row->process)
KEY(exec, id, row->id)
KEY(launch, process, row->process)
KEY(launch, exec, row->exec)
KEY(launch, call, row->call)
KEY(launch, replay, row->replay)

int import_order_scopes(struct import *import)
{
	struct trace *trace = import->trace;
	const struct order_table *by_time =
		ORDER_TABLE(trace, scopes, scope_process, scope_begin, scope_end);
	const struct order_table *by_id =
		ORDER_TABLE(trace, scopes, scope_process, scope_id, scope_begin, scope_end);
	uint32_t *place;
	int err;

	/* with equal ids, those without an id in the file are sorted by time */
	for (uint32_t i = 0; i < trace->scopes_count && import->scope_numbers; i++) {
		if (import_is_numbered(import, trace->scopes[i].id))
			trace->scopes[i].id = import->scope_numbers;
	}
	err = order_rows(import->scope_numbers ? by_id : by_time, &place);
	if (err < 0 || !place)
		return err;
	ORDER_MOVE(trace, scopes, parent, place);
	ORDER_MOVE(trace, calls, scope, place);
	ORDER_MOVE(trace, activities, scope, place);
	free(place);
	return 0;
}

void import_number_scopes(struct import *import)
{
	struct trace *trace = import->trace;
	uint64_t next = 0;

	for (uint32_t i = 0; i < trace->scopes_count; i++) {
		struct trace_scope *row = &trace->scopes[i];

		if (i && row->process != row[-1].process)
			next = 0;
		if (import_is_numbered(import, row->id))
			row->id = import->scope_numbers | ++next;
	}
}

static int order_threads(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, threads, thread_process, thread_tid), &place);

	if (err < 0 || !place)
		return err;
	ORDER_MOVE(trace, calls, thread, place);
	ORDER_MOVE(trace, scopes, thread, place);
	ORDER_MOVE(trace, overheads, thread, place);
	free(place);
	return 0;
}

static int order_apis(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, apis, api_process), &place);

	if (err < 0 || !place)
		return err;
	ORDER_MOVE(trace, calls, api, place);
	free(place);
	return 0;
}

/* Brings SETS into the new order of a table of COUNT rows and extends them to its length. The set
 * of row i moves to row PLACE[i]; PLACE is NULL if all stay. */
static int move_sets(struct import_sets *sets, uint32_t count, const uint32_t *place)
{
	uint32_t *rows = NULL;

	if (sets->count) {
		rows = calloc((size_t)count + 1, sizeof(*rows));
		if (!rows)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < sets->count; i++)
		rows[place ? place[i] : i] = sets->rows[i];
	free(sets->rows);
	*sets = (struct import_sets){.rows = rows, .count = rows ? count : 0};
	return 0;
}

static int order_calls(struct import *import)
{
	struct trace *trace = import->trace;
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, calls, call_process, call_cid, call_begin), &place);

	if (err < 0)
		return err;
	if (place)
		ORDER_MOVE(trace, calls, parent, place);
	err = move_sets(&import->call_sets, trace->calls_count, place);
	free(place);
	return err;
}

int import_order_host(struct import *import)
{
	int err = order_threads(import->trace);

	if (err == 0)
		err = order_apis(import->trace);
	return err == 0 ? order_calls(import) : err;
}

static bool is_before(const struct trace_call *call, const struct trace_activity *activity)
{
	if (call->process != activity->process)
		return call->process < activity->process;
	return call->cid < activity->cid;
}

/* Sets the call of each activity. Calls and activities are both in order of (process, cid), so one
 * merge finds all. */
static void meet(struct trace *trace)
{
	uint32_t call = 0;

	for (uint32_t i = 0; i < trace->activities_count; i++) {
		struct trace_activity *row = &trace->activities[i];
		const struct trace_call *at;

		while (call < trace->calls_count && is_before(&trace->calls[call], row))
			call++;
		at = call < trace->calls_count ? &trace->calls[call] : NULL;
		if (row->cid && at && at->process == row->process && at->cid == row->cid)
			row->call = call;
	}
}

static int move_activities(struct import *import, const struct order_table *table)
{
	uint32_t *place;
	int err = order_rows(table, &place);

	if (err < 0)
		return err;
	err = move_sets(&import->activity_sets, table->count, place);
	free(place);
	return err;
}

int import_order_activities(struct import *import)
{
	struct trace *trace = import->trace;
	int err = move_activities(import, ORDER_TABLE(trace, activities, activity_process,
						      activity_cid, activity_start));

	if (err < 0)
		return err;
	meet(trace);
	return move_activities(
		import, ORDER_TABLE(trace, activities, activity_process, activity_is_orphan));
}

static int order_streams(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, streams, stream_process, stream_ordinal), &place);

	if (err < 0 || !place)
		return err;
	ORDER_MOVE(trace, calls, stream, place);
	ORDER_MOVE(trace, activities, stream, place);
	ORDER_MOVE(trace, launches, stream, place);
	ORDER_MOVE(trace, event_records, stream, place);
	ORDER_MOVE(trace, waits, stream, place);
	ORDER_MOVE(trace, memory_operations, stream, place);
	free(place);
	return 0;
}

static int order_queues(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, queues, queue_process, queue_id), &place);

	if (err < 0 || !place)
		return err;
	ORDER_MOVE(trace, activities, queue, place);
	free(place);
	return 0;
}

static int order_agents(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, agents, agent_process, agent_index), &place);

	if (err < 0 || !place)
		return err;
	ORDER_MOVE(trace, streams, agent, place);
	ORDER_MOVE(trace, activities, agent, place);
	ORDER_MOVE(trace, works, src_agent, place);
	ORDER_MOVE(trace, works, dst_agent, place);
	ORDER_MOVE(trace, queues, agent, place);
	ORDER_MOVE(trace, memory_operations, agent, place);
	free(place);
	return 0;
}

static int order_graphs(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, graphs, graph_process, graph_id), &place);

	if (err < 0 || !place)
		return err;
	ORDER_MOVE(trace, nodes, graph, place);
	ORDER_MOVE(trace, execs, graph, place);
	free(place);
	return 0;
}

static int order_nodes(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, nodes, node_graph, node_handle), &place);

	if (err < 0)
		return err;
	if (place)
		ORDER_MOVE(trace, activities, node, place);
	free(place);
	for (uint32_t i = 0; i < trace->nodes_count; i++) {
		struct trace_node *node = &trace->nodes[i];
		struct trace_graph *graph = &trace->graphs[node->graph];

		if (graph->node_count == 0)
			graph->node_first = i;
		node->index = graph->node_count++;
	}
	return 0;
}

static int order_execs(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, execs, exec_process, exec_id), &place);

	if (err < 0 || !place)
		return err;
	ORDER_MOVE(trace, launches, exec, place);
	free(place);
	return 0;
}

/* Numbers the launches of each exec that have no replay number, in the order of their calls.
 * Launches must be sorted by call, because they were added in the order of the activities. */
static void number_replays(struct trace *trace)
{
	uint32_t exec = TRACE_NONE;
	uint64_t next = 0;

	for (uint32_t i = 0; i < trace->launches_count; i++) {
		struct trace_launch *row = &trace->launches[i];

		if (row->exec != exec)
			next = 0;
		exec = row->exec;
		if (row->replay == IMPORT_NO_REPLAY)
			row->replay = next;
		next = row->replay + 1;
	}
}

/* Counts the launches of each exec. Sets each launch's call, stream and number of activities, and
 * `exact` if the node of every activity is exact. */
static void count_launches(struct trace *trace)
{
	for (uint32_t i = 0; i < trace->launches_count; i++)
		trace->execs[trace->launches[i].exec].launch_count++;
	for (uint32_t i = 0; i < trace->calls_count; i++) {
		if (trace->calls[i].launch != TRACE_NONE)
			trace->launches[trace->calls[i].launch].call = i;
	}
	for (uint32_t i = 0; i < trace->activities_count; i++) {
		const struct trace_activity *row = &trace->activities[i];
		struct trace_launch *launch;

		if (row->launch == TRACE_NONE)
			continue;
		launch = &trace->launches[row->launch];
		if (launch->activity_count++ == 0) {
			launch->stream = row->stream;
			launch->exact = true;
		}
		launch->exact &= row->confidence == TRACE_CONFIDENCE_EXACT;
	}
}

static int order_launches(struct trace *trace, order_key *last)
{
	uint32_t *place;
	int err =
		order_rows(ORDER_TABLE(trace, launches, launch_process, launch_exec, last), &place);

	if (err < 0 || !place)
		return err;
	ORDER_MOVE(trace, activities, launch, place);
	ORDER_MOVE(trace, calls, launch, place);
	free(place);
	return 0;
}

static int order_all_launches(struct trace *trace)
{
	int err;

	count_launches(trace);
	err = order_launches(trace, launch_call);
	if (err < 0)
		return err;
	number_replays(trace);
	return order_launches(trace, launch_replay);
}

int import_order_gpu(struct import *import)
{
	static int (*const orders[])(struct trace * trace) = {
		order_streams, order_queues, order_agents,	 order_graphs,
		order_nodes,   order_execs,  order_all_launches,
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]) && err == 0; i++)
		err = orders[i](import->trace);
	return err;
}
