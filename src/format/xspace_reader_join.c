/* The rows in the model's order, and who belongs to whom. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/xspace_reader_load.h"
#include "trace/sort.h"
#include "trace/table.h"

typedef uint64_t sort_key(const void *row);

/* A table to be sorted by up to four keys, the first one first. */
struct sorting {
	void **rows;
	uint32_t count;
	size_t row_bytes;
	sort_key *keys[5];
};

static uint64_t ns_key(int64_t ns)
{
	return (uint64_t)ns ^ UINT64_C(1) << 63;
}

static void place_rows(const struct sorting *sorting, const struct sort_row *order, char *sorted,
		       uint32_t *place)
{
	const char *rows = *sorting->rows;

	for (uint32_t i = 0; i < sorting->count; i++) {
		memcpy(sorted + i * sorting->row_bytes, rows + order[i].index * sorting->row_bytes,
		       sorting->row_bytes);
		place[order[i].index] = i;
	}
}

static int find_order(const struct sorting *sorting, struct sort_row *order)
{
	const char *rows = *sorting->rows;
	int key_count = 0, result = 0;

	while (sorting->keys[key_count])
		key_count++;
	for (uint32_t i = 0; i < sorting->count; i++)
		order[i].index = i;
	while (key_count > 0 && result == 0) {
		sort_key *key = sorting->keys[--key_count];

		for (uint32_t i = 0; i < sorting->count; i++)
			order[i].key = key(rows + order[i].index * sorting->row_bytes);
		result = sort_rows(order, sorting->count);
	}
	return result;
}

/* Stable. ret_place: by the place that a row had, the one that it has now; to be freed. */
static int arrange(const struct sorting *sorting, uint32_t **ret_place)
{
	size_t room = (size_t)sorting->count + 1;
	struct sort_row *order = calloc(room, sizeof(*order));
	char *sorted = table_alloc(room, sorting->row_bytes);
	uint32_t *place = calloc(room, sizeof(*place));
	int result = order && sorted && place ? find_order(sorting, order) : -ENOMEM;

	if (result == 0 && sorting->count) {
		place_rows(sorting, order, sorted, place);
		free(*sorting->rows);
		*sorting->rows = sorted;
		sorted = NULL;
	}
	free(order);
	free(sorted);
	if (result < 0) {
		free(place);
		return result;
	}
	*ret_place = place;
	return 0;
}

#define SORTING(trace, name, ...)                                                                  \
	(&(struct sorting){(void **)&(trace)->name,                                                \
			   (trace)->name##_count,                                                  \
			   sizeof(*(trace)->name),                                                 \
			   {__VA_ARGS__}})

/* The new place of what was at *INDEX. */
static void move(uint32_t *index, const uint32_t *place)
{
	if (*index != TRACE_NONE)
		*index = place[*index];
}

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
KEY(scope, process, row->process)
KEY(scope, id, xspace_scope_is_numbered(row->id) ? XSPACE_SCOPE_NUMBERED : row->id)
KEY(scope, begin, ns_key(row->begin_ns))
KEY(scope, end, ~ns_key(row->end_ns))
KEY(api, process, row->process)
KEY(call, process, row->process)
KEY(call, cid, row->cid)
KEY(call, begin, ns_key(row->begin_ns))
KEY(activity, process, row->process)
KEY(activity, cid, row->cid)
KEY(activity, start, ns_key(row->start_ns))
KEY(activity, is_orphan, row->call == TRACE_NONE)
KEY(graph, process, row->process)
KEY(graph, id, row->id)
KEY(node, graph, row->graph)
KEY(node, handle, row->handle)
KEY(exec, process, row->process)
KEY(exec, id, row->id)
KEY(launch, process, row->process)
KEY(launch, exec, row->exec)
KEY(launch, replay, row->replay)

static int arrange_threads(struct trace *trace)
{
	uint32_t *place;
	int result = arrange(SORTING(trace, threads, thread_process, thread_tid), &place);

	if (result < 0)
		return result;
	for (uint32_t i = 0; i < trace->calls_count; i++)
		move(&trace->calls[i].thread, place);
	for (uint32_t i = 0; i < trace->scopes_count; i++)
		move(&trace->scopes[i].thread, place);
	free(place);
	return 0;
}

static int arrange_streams(struct trace *trace)
{
	uint32_t *place;
	int result = arrange(SORTING(trace, streams, stream_process, stream_ordinal), &place);

	if (result < 0)
		return result;
	for (uint32_t i = 0; i < trace->activities_count; i++)
		move(&trace->activities[i].stream, place);
	free(place);
	return 0;
}

/* By their time, so that they do not depend on the order in the file. */
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
	int result = arrange(
		SORTING(trace, scopes, scope_process, scope_id, scope_begin, scope_end), &place);

	if (result < 0)
		return result;
	renumber_scopes(trace);
	for (uint32_t i = 0; i < trace->scopes_count; i++)
		move(&trace->scopes[i].parent, place);
	for (uint32_t i = 0; i < trace->calls_count; i++)
		move(&trace->calls[i].scope, place);
	for (uint32_t i = 0; i < trace->activities_count; i++)
		move(&trace->activities[i].scope, place);
	free(place);
	return 0;
}

static int arrange_apis(struct trace *trace)
{
	uint32_t *place;
	int result = arrange(SORTING(trace, apis, api_process), &place);

	if (result < 0)
		return result;
	for (uint32_t i = 0; i < trace->calls_count; i++)
		trace->calls[i].api = (uint16_t)place[trace->calls[i].api];
	free(place);
	return 0;
}

/* Sets as long as their table, in its new order; PLACE is used up. */
static int arrange_sets(struct xread_sets *sets, uint32_t count, uint32_t *place,
			uint32_t **ret_rows)
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
	*sets = (struct xread_sets){.rows = rows, .count = rows ? count : 0};
	*ret_rows = rows;
	return 0;
}

static int arrange_calls(struct xread_load *load)
{
	struct trace *trace = load->trace;
	uint32_t *place, *rows;
	int result = arrange(SORTING(trace, calls, call_process, call_cid, call_begin), &place);

	if (result < 0)
		return result;
	for (uint32_t i = 0; i < trace->calls_count; i++)
		move(&trace->calls[i].parent, place);
	result = arrange_sets(&load->call_sets, trace->calls_count, place, &rows);
	free(place);
	return result;
}

static int arrange_activities(struct xread_load *load, const struct sorting *sorting)
{
	uint32_t *place, *rows;
	int result = arrange(sorting, &place);

	if (result < 0)
		return result;
	result = arrange_sets(&load->activity_sets, load->trace->activities_count, place, &rows);
	free(place);
	return result;
}

static bool is_before(const struct trace_call *call, const struct trace_activity *activity)
{
	if (call->process != activity->process)
		return call->process < activity->process;
	return call->cid < activity->cid;
}

/* Both by (process, correlation id). Of several calls with one id the first has the activities. */
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

/* The activities of a call stand together now. What the file does not say of an activity, its call
 * does. */
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
	int result = arrange_threads(trace);

	if (result == 0)
		result = arrange_streams(trace);
	if (result == 0)
		result = arrange_scopes(trace);
	if (result == 0)
		result = arrange_apis(trace);
	if (result == 0)
		result = arrange_calls(load);
	if (result == 0)
		result = arrange_activities(load, SORTING(trace, activities, activity_process,
							  activity_cid, activity_start));
	if (result < 0)
		return result;
	meet(trace);
	result = arrange_activities(
		load, SORTING(trace, activities, activity_process, activity_is_orphan));
	if (result == 0)
		join_rows(load);
	return result;
}

static int arrange_graphs(struct trace *trace)
{
	uint32_t *place;
	int result = arrange(SORTING(trace, graphs, graph_process, graph_id), &place);

	if (result < 0)
		return result;
	for (uint32_t i = 0; i < trace->nodes_count; i++)
		move(&trace->nodes[i].graph, place);
	for (uint32_t i = 0; i < trace->execs_count; i++)
		move(&trace->execs[i].graph, place);
	free(place);
	return 0;
}

/* Our files number the nodes of a graph; others name them, and their rank does. */
static int arrange_nodes(struct xread_load *load)
{
	struct trace *trace = load->trace;
	uint32_t *place;
	int result = arrange(SORTING(trace, nodes, node_graph, node_handle), &place);

	if (result < 0)
		return result;
	for (uint32_t i = 0; i < trace->activities_count; i++)
		move(&trace->activities[i].node, place);
	for (uint32_t i = 0; i < trace->nodes_count; i++) {
		struct trace_node *node = &trace->nodes[i];
		struct trace_graph *graph = &trace->graphs[node->graph];

		if (graph->node_count == 0)
			graph->node_first = i;
		node->index = graph->node_count++;
		if (load->is_ours) {
			node->index = (uint32_t)node->handle - 1;
			node->handle = 0;
		}
	}
	free(place);
	return 0;
}

static int arrange_execs(struct trace *trace)
{
	uint32_t *place;
	int result = arrange(SORTING(trace, execs, exec_process, exec_id), &place);

	if (result < 0)
		return result;
	for (uint32_t i = 0; i < trace->launches_count; i++) {
		move(&trace->launches[i].exec, place);
		trace->execs[trace->launches[i].exec].launch_count++;
	}
	free(place);
	return 0;
}

/* By the order of their calls, where nobody said it. Launches were made in the order of the events,
 * which is not that of the calls. */
static void number_replays(struct trace *trace)
{
	uint32_t exec = TRACE_NONE;
	uint64_t next = 0;

	for (uint32_t i = 0; i < trace->launches_count; i++) {
		struct trace_launch *row = &trace->launches[i];

		if (row->exec != exec)
			next = 0;
		exec = row->exec;
		if (row->replay == XREAD_NO_REPLAY)
			row->replay = next;
		next = row->replay + 1;
	}
}

static uint64_t launch_call(const void *row)
{
	return ((const struct trace_launch *)row)->call;
}

static void place_launches(struct trace *trace, const uint32_t *place)
{
	for (uint32_t i = 0; i < trace->activities_count; i++)
		move(&trace->activities[i].launch, place);
	for (uint32_t i = 0; i < trace->calls_count; i++)
		move(&trace->calls[i].launch, place);
}

/* What a launch brought; exact if the node of each is. */
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

static int arrange_launches(struct trace *trace, sort_key *last)
{
	uint32_t *place;
	int result = arrange(SORTING(trace, launches, launch_process, launch_exec, last), &place);

	if (result < 0)
		return result;
	place_launches(trace, place);
	free(place);
	return 0;
}

int xread_join_graphs(struct xread_load *load)
{
	struct trace *trace = load->trace;
	int result = arrange_graphs(trace);

	if (result == 0)
		result = arrange_nodes(load);
	if (result == 0)
		result = arrange_execs(trace);
	if (result < 0)
		return result;
	count_launches(trace);
	result = arrange_launches(trace, launch_call);
	if (result < 0)
		return result;
	number_replays(trace);
	return arrange_launches(trace, launch_replay);
}
