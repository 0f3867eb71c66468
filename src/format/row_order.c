/* Sorts the tables of a trace that was read from another tool's file. */
#include "format/row_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/row_table.h"
#include "trace/sort.h"

static bool is_in_place(const struct sort_row *order, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (order[i].index != i)
			return false;
	}
	return true;
}

static int place_rows(const struct order_table *table, const struct sort_row *order)
{
	const char *rows = *table->rows;
	char *sorted;

	if (is_in_place(order, table->count))
		return 0;
	sorted = table_alloc(table->count, table->row_bytes);
	if (!sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->count; i++)
		memcpy(sorted + i * table->row_bytes, rows + order[i].index * table->row_bytes,
		       table->row_bytes);
	free(*table->rows);
	*table->rows = sorted;
	return 0;
}

/* Sorts COUNT entries of ORDER by *KEY; each run of equal keys is then sorted by the next key.
 * Recursion is at most as deep as there are keys. */
static int sort_from(const struct order_table *table, order_key *const *key, struct sort_row *order,
		     uint32_t count)
{
	const char *rows = *table->rows;
	uint32_t end;
	int err;

	for (uint32_t i = 0; i < count; i++)
		order[i].key = (*key)(rows + order[i].index * table->row_bytes);
	err = sort_rows(order, count);
	if (!key[1])
		return err;
	for (uint32_t begin = 0; begin < count && err == 0; begin = end) {
		for (end = begin + 1; end < count && order[end].key == order[begin].key;)
			end++;
		if (end - begin > 1)
			err = sort_from(table, key + 1, order + begin, end - begin);
	}
	return err;
}

static int find_order(const struct order_table *table, struct sort_row *order)
{
	for (uint32_t i = 0; i < table->count; i++)
		order[i].index = i;
	return table->keys[0] ? sort_from(table, table->keys, order, table->count) : 0;
}

int order_rows(const struct order_table *table, uint32_t **ret_place)
{
	struct sort_row *order = table_alloc(table->count, sizeof(*order));
	uint32_t *place = table_alloc(table->count, sizeof(*place));
	int err = order && place ? find_order(table, order) : -ENOMEM;

	if (err == 0)
		err = place_rows(table, order);
	for (uint32_t i = 0; i < table->count && err == 0; i++)
		place[order[i].index] = i;
	free(order);
	if (err < 0) {
		free(place);
		return err;
	}
	*ret_place = place;
	return 0;
}

/* Defines the order_key TYPE_NAME of a row of struct trace_TYPE. */
#define KEY(type, name, expression)                                                                \
	static uint64_t type##_##name(const void *row_bytes)                                       \
	{                                                                                          \
		const struct trace_##type *row = row_bytes;                                        \
                                                                                                   \
		return (expression);                                                               \
	}

KEY(thread, process, row->process)
KEY(thread, tid, row->tid)
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

int order_threads(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, threads, thread_process, thread_tid), &place);

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < trace->calls_count; i++)
		order_move(&trace->calls[i].thread, place);
	for (uint32_t i = 0; i < trace->scopes_count; i++)
		order_move(&trace->scopes[i].thread, place);
	for (uint32_t i = 0; i < trace->overheads_count; i++)
		order_move(&trace->overheads[i].thread, place);
	free(place);
	return 0;
}

int order_streams(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, streams, stream_process, stream_ordinal), &place);

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < trace->calls_count; i++)
		order_move(&trace->calls[i].stream, place);
	for (uint32_t i = 0; i < trace->activities_count; i++)
		order_move(&trace->activities[i].stream, place);
	for (uint32_t i = 0; i < trace->launches_count; i++)
		order_move(&trace->launches[i].stream, place);
	for (uint32_t i = 0; i < trace->event_records_count; i++)
		order_move(&trace->event_records[i].stream, place);
	for (uint32_t i = 0; i < trace->waits_count; i++)
		order_move(&trace->waits[i].stream, place);
	free(place);
	return 0;
}

int order_apis(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, apis, api_process), &place);

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < trace->calls_count; i++)
		order_move(&trace->calls[i].api, place);
	free(place);
	return 0;
}

int order_agents(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, agents, agent_process, agent_index), &place);

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < trace->streams_count; i++)
		order_move(&trace->streams[i].agent, place);
	for (uint32_t i = 0; i < trace->activities_count; i++)
		order_move(&trace->activities[i].agent, place);
	for (uint32_t i = 0; i < trace->works_count; i++) {
		order_move(&trace->works[i].src_agent, place);
		order_move(&trace->works[i].dst_agent, place);
	}
	free(place);
	return 0;
}

int order_keep_set(struct order_sets *sets, uint32_t count, uint32_t set)
{
	if (set == 0)
		return 0;
	while (sets->count < count) {
		if (!table_add((void **)&sets->rows, &sets->count, sizeof(*sets->rows)))
			return -ENOMEM;
	}
	sets->rows[count - 1] = set;
	return 0;
}

/* Brings SETS into the new order of a table of COUNT rows and extends them to its length. The set
 * of row i moves to row PLACE[i]. */
static int move_sets(struct order_sets *sets, uint32_t count, uint32_t *place)
{
	uint32_t *rows = NULL;

	if (sets->count) {
		rows = calloc((size_t)count + 1, sizeof(*rows));
		if (!rows)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < sets->count; i++)
		rows[place[i]] = sets->rows[i];
	free(sets->rows);
	*sets = (struct order_sets){.rows = rows, .count = rows ? count : 0};
	return 0;
}

int order_calls(struct trace *trace, struct order_sets *sets)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, calls, call_process, call_cid, call_begin), &place);

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < trace->calls_count; i++)
		order_move(&trace->calls[i].parent, place);
	err = move_sets(sets, trace->calls_count, place);
	free(place);
	return err;
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

static int move_activities(struct trace *trace, const struct order_table *table,
			   struct order_sets *sets)
{
	uint32_t *place;
	int err = order_rows(table, &place);

	if (err < 0)
		return err;
	err = move_sets(sets, trace->activities_count, place);
	free(place);
	return err;
}

int order_activities(struct trace *trace, struct order_sets *sets)
{
	int err = move_activities(
		trace,
		ORDER_TABLE(trace, activities, activity_process, activity_cid, activity_start),
		sets);

	if (err < 0)
		return err;
	meet(trace);
	return move_activities(
		trace, ORDER_TABLE(trace, activities, activity_process, activity_is_orphan), sets);
}

static int order_graph_rows(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, graphs, graph_process, graph_id), &place);

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < trace->nodes_count; i++)
		order_move(&trace->nodes[i].graph, place);
	for (uint32_t i = 0; i < trace->execs_count; i++)
		order_move(&trace->execs[i].graph, place);
	free(place);
	return 0;
}

static int order_nodes(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, nodes, node_graph, node_handle), &place);

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < trace->activities_count; i++)
		order_move(&trace->activities[i].node, place);
	for (uint32_t i = 0; i < trace->nodes_count; i++) {
		struct trace_node *node = &trace->nodes[i];
		struct trace_graph *graph = &trace->graphs[node->graph];

		if (graph->node_count == 0)
			graph->node_first = i;
		node->index = graph->node_count++;
	}
	free(place);
	return 0;
}

static int order_execs(struct trace *trace)
{
	uint32_t *place;
	int err = order_rows(ORDER_TABLE(trace, execs, exec_process, exec_id), &place);

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < trace->launches_count; i++) {
		order_move(&trace->launches[i].exec, place);
		trace->execs[trace->launches[i].exec].launch_count++;
	}
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
		if (row->replay == ORDER_NO_REPLAY)
			row->replay = next;
		next = row->replay + 1;
	}
}

/* Sets each launch's call, stream and number of activities, and `exact` if the node of every
 * activity is exact. */
static void count_launches(struct trace *trace)
{
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

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < trace->activities_count; i++)
		order_move(&trace->activities[i].launch, place);
	for (uint32_t i = 0; i < trace->calls_count; i++)
		order_move(&trace->calls[i].launch, place);
	free(place);
	return 0;
}

int order_graphs(struct trace *trace)
{
	int err = order_graph_rows(trace);

	if (err == 0)
		err = order_nodes(trace);
	if (err == 0)
		err = order_execs(trace);
	if (err < 0)
		return err;
	count_launches(trace);
	err = order_launches(trace, launch_call);
	if (err < 0)
		return err;
	number_replays(trace);
	return order_launches(trace, launch_replay);
}
