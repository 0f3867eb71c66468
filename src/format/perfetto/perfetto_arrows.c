/* Finds which activity waited for which: by graph edges and by stream waits. */
#include "format/perfetto/perfetto_arrows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/sort.h"
#include "base/table.h"

struct search {
	const struct trace *trace;
	/* in the order in which they are found; first_* index them later */
	struct perfetto_arrow *rows;
	uint32_t count;
	/* Edges by their target: before[before_first[node]] up to the next node's are the sources
	 * of NODE's edges. has_after: by node: it is the source of an edge. */
	uint32_t *before_first, *before;
	uint8_t *has_after;
	/* By node: its last activity, valid if `launch` is the current launch. */
	uint32_t *activity, *launch;
	/* By node: equals seen_mark if the node, which has no activity, was visited for the
	 * current activity. */
	uint32_t *seen;
	uint32_t seen_mark;
	/* nodes to visit; room for all nodes, because each is pushed at most once for an
	 * activity */
	uint32_t *stack;
	uint32_t depth;
	int error;
};

static void add(struct search *search, uint32_t from, uint32_t to)
{
	struct perfetto_arrow *arrow =
		table_add((void **)&search->rows, &search->count, sizeof(*arrow));

	if (arrow)
		*arrow = (struct perfetto_arrow){from, to};
	else
		search->error = -ENOMEM;
}

/* ---- edges of graphs ---- */

/* Turns FIRST from the number of rows of each key into the index of each key's first row, for a
 * counting sort. KEYS + 1 entries. */
static void sum_up(uint32_t *first, uint32_t keys)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i <= keys; i++) {
		uint32_t count = first[i];

		first[i] = sum;
		sum += count;
	}
}

static int index_edges(struct search *search)
{
	const struct trace *trace = search->trace;
	size_t nodes = (size_t)trace->nodes_count + 2;

	search->before_first = calloc(nodes, sizeof(*search->before_first));
	search->before = calloc((size_t)trace->edges_count + 1, sizeof(*search->before));
	search->has_after = calloc(nodes, sizeof(*search->has_after));
	search->activity = calloc(nodes, sizeof(*search->activity));
	search->launch = malloc(nodes * sizeof(*search->launch));
	search->seen = calloc(nodes, sizeof(*search->seen));
	search->stack = malloc(nodes * sizeof(*search->stack));
	if (!search->before_first || !search->before || !search->has_after || !search->activity ||
	    !search->launch || !search->seen || !search->stack)
		return -ENOMEM;
	for (size_t i = 0; i < nodes; i++)
		search->launch[i] = TRACE_NONE;
	for (uint32_t i = 0; i < trace->edges_count; i++) {
		search->before_first[trace->edges[i].to]++;
		search->has_after[trace->edges[i].from] = 1;
	}
	sum_up(search->before_first, trace->nodes_count);
	for (uint32_t i = 0; i < trace->edges_count; i++)
		search->before[search->before_first[trace->edges[i].to]++] = trace->edges[i].from;
	/* each index has advanced to where the next key begins: shift them back */
	for (uint32_t i = trace->nodes_count; i > 0; i--)
		search->before_first[i] = search->before_first[i - 1];
	search->before_first[0] = 0;
	return 0;
}

/* Adds an arrow from NODE's activity in the launch to TO. If NODE has none, schedules it for
 * look_through, once. */
static void look_at(struct search *search, uint32_t node, uint32_t launch, uint32_t to)
{
	if (search->launch[node] == launch) {
		add(search, search->activity[node], to);
		return;
	}
	if (search->seen[node] == search->seen_mark)
		return;
	search->seen[node] = search->seen_mark;
	search->stack[search->depth++] = node;
}

/* Visits the nodes that NODE comes after: the sources of its edges. If NODE is a first node of a
 * child graph, these are the nodes before the child graph's node. */
static void look_before(struct search *search, uint32_t node, uint32_t launch, uint32_t to)
{
	const struct trace *trace = search->trace;
	const uint32_t *first = search->before_first;
	const struct trace_graph *graph = &trace->graphs[trace->nodes[node].graph];

	while (first[node] == first[node + 1] && graph->parent != TRACE_NONE &&
	       graph->parent_node < trace->graphs[graph->parent].node_count) {
		uint32_t parent_node = graph->parent_node;

		graph = &trace->graphs[graph->parent];
		node = graph->node_first + parent_node;
		if (search->seen[node] == search->seen_mark)
			return;
		search->seen[node] = search->seen_mark;
	}
	for (uint32_t i = first[node]; i < first[node + 1]; i++)
		look_at(search, search->before[i], launch, to);
}

/* Looks through a node without an activity: visits the nodes that it comes after. For a child
 * graph's node these are the last nodes of the child graph. */
static void look_through(struct search *search, uint32_t node, uint32_t launch, uint32_t to)
{
	const struct trace *trace = search->trace;
	bool is_conditional = trace->nodes[node].type == RECORD_NODE_CONDITIONAL;
	uint32_t child = is_conditional ? TRACE_NONE : trace->nodes[node].child;
	const struct trace_graph *graph;

	if (child == TRACE_NONE || trace->graphs[child].node_count == 0) {
		look_before(search, node, launch, to);
		return;
	}
	graph = &trace->graphs[child];
	for (uint32_t i = graph->node_first; i < graph->node_first + graph->node_count; i++)
		if (!search->has_after[i])
			look_at(search, i, launch, to);
}

/* Adds arrows to TO from the activities that NODE comes after in the launch. */
static void find_before(struct search *search, uint32_t node, uint32_t launch, uint32_t to)
{
	search->seen_mark++;
	search->depth = 0;
	look_before(search, node, launch, to);
	while (search->depth > 0 && !search->error)
		look_through(search, search->stack[--search->depth], launch, to);
}

/* Sets `activity` and `launch` of the nodes of activities BEGIN to END, which are of one launch.
 * Not of bodies of conditional nodes: a node there may run more than once in a replay, and no edge
 * tells after which activity. */
static void note_nodes(struct search *search, uint32_t begin, uint32_t end)
{
	const struct trace *trace = search->trace;

	for (uint32_t row = begin; row < end; row++) {
		const struct trace_activity *activity = &trace->activities[row];

		if (activity->node == TRACE_NONE || trace_is_in_body(trace, activity))
			continue;
		search->activity[activity->node] = row;
		search->launch[activity->node] = activity->launch;
	}
}

/* Finds the arrows of one launch. A node may have several activities: the first one waits, and
 * later nodes wait for the last one (note_nodes keeps the last). */
static void find_in_launch(struct search *search, uint32_t begin, uint32_t end)
{
	const struct trace *trace = search->trace;

	note_nodes(search, begin, end);
	for (uint32_t row = begin; row < end && !search->error; row++) {
		uint32_t node = trace->activities[row].node;
		bool is_later_piece = row > begin && trace->activities[row - 1].node == node;

		if (node != TRACE_NONE && !is_later_piece &&
		    !trace_is_in_body(trace, &trace->activities[row]))
			find_before(search, node, trace->activities[row].launch, row);
	}
}

/* Finds the arrows of all launches. The activities of a launch are contiguous. */
static void find_edges(struct search *search)
{
	const struct trace *trace = search->trace;
	uint32_t end;

	if (trace->edges_count == 0)
		return;
	search->error = index_edges(search);
	for (uint32_t row = 0; row < trace->activities_count && !search->error; row = end) {
		uint32_t launch = trace->activities[row].launch;

		for (end = row + 1; end < trace->activities_count; end++)
			if (trace->activities[end].launch != launch)
				break;
		if (launch != TRACE_NONE)
			find_in_launch(search, row, end);
	}
}

/* ---- waits of streams ---- */

/* Activities with a correlation id, by stream and in the order of the ids. */
struct by_stream {
	uint32_t *first, *rows;
};

/* Sorts a stream's activities by cid. In the model's order those whose call has no row come after
 * the others. A stream belongs to one process, so its cids are comparable. */
static int sort_stream(const struct trace *trace, uint32_t *rows, uint32_t count)
{
	struct sort_row *order = malloc(((size_t)count + 1) * sizeof(*order));
	int err;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		order[i] = (struct sort_row){trace->activities[rows[i]].cid, rows[i]};
	err = sort_rows(order, count);
	for (uint32_t i = 0; i < count; i++)
		rows[i] = order[i].index;
	free(order);
	return err;
}

static int sort_by_stream(const struct trace *trace, struct by_stream *ret)
{
	uint32_t begin = 0;
	int err = 0;

	ret->first = calloc((size_t)trace->streams_count + 2, sizeof(*ret->first));
	ret->rows = calloc((size_t)trace->activities_count + 1, sizeof(*ret->rows));
	if (!ret->first || !ret->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->activities_count; i++)
		if (trace->activities[i].stream != TRACE_NONE && trace->activities[i].cid)
			ret->first[trace->activities[i].stream]++;
	sum_up(ret->first, trace->streams_count);
	for (uint32_t i = 0; i < trace->activities_count; i++)
		if (trace->activities[i].stream != TRACE_NONE && trace->activities[i].cid)
			ret->rows[ret->first[trace->activities[i].stream]++] = i;
	/* each index has advanced to the end of its stream: sort the streams, then shift the
	 * indices back */
	for (uint32_t i = 0; i < trace->streams_count && !err; i++) {
		err = sort_stream(trace, ret->rows + begin, ret->first[i] - begin);
		begin = ret->first[i];
	}
	for (uint32_t i = trace->streams_count; i > 0; i--)
		ret->first[i] = ret->first[i - 1];
	ret->first[0] = 0;
	return err;
}

/* The number of the stream's activities that were submitted by calls before CID. */
static uint32_t count_before(const struct trace *trace, const struct by_stream *by, uint32_t stream,
			     uint64_t cid)
{
	uint32_t low = by->first[stream];
	uint32_t high = by->first[stream + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (trace->activities[by->rows[middle]].cid < cid)
			low = middle + 1;
		else
			high = middle;
	}
	return low - by->first[stream];
}

/* For an event that a node recorded: adds arrows to TO from the activities before that node in its
 * replay. */
static void find_recorded_by_node(struct search *search, const struct trace_event_record *record,
				  uint32_t to)
{
	const struct trace_call *call;

	/* without edges there is nothing before the node */
	if (record->call == TRACE_NONE || !search->before_first)
		return;
	call = &search->trace->calls[record->call];
	if (call->launch == TRACE_NONE)
		return;
	note_nodes(search, call->activity_first, call->activity_first + call->activity_count);
	find_before(search, record->node, call->launch, to);
}

/* Adds an arrow from the last activity before the event's record, in its stream, to the first
 * activity after the wait. */
static void find_wait(struct search *search, const struct by_stream *by,
		      const struct trace_wait *wait)
{
	const struct trace *trace = search->trace;
	const struct trace_event_record *record = &trace->event_records[wait->producer];
	uint32_t before, after;

	if (record->stream == TRACE_NONE || record->stream == wait->stream)
		return;
	after = count_before(trace, by, wait->stream, wait->cid);
	if (by->first[wait->stream] + after == by->first[wait->stream + 1])
		return;
	if (record->node != TRACE_NONE) {
		find_recorded_by_node(search, record, by->rows[by->first[wait->stream] + after]);
		return;
	}
	before = count_before(trace, by, record->stream, record->cid);
	if (before > 0)
		add(search, by->rows[by->first[record->stream] + before - 1],
		    by->rows[by->first[wait->stream] + after]);
}

static void find_waits(struct search *search)
{
	const struct trace *trace = search->trace;
	struct by_stream by = {0};

	for (uint32_t i = 0; i < trace->waits_count && !search->error; i++) {
		const struct trace_wait *wait = &trace->waits[i];

		if (wait->type != TRACE_WAIT_STREAM_EVENT || wait->producer == TRACE_NONE ||
		    wait->stream == TRACE_NONE)
			continue;
		if (!by.first)
			search->error = sort_by_stream(trace, &by);
		if (!search->error)
			find_wait(search, &by, wait);
	}
	free(by.first);
	free(by.rows);
}

/* ---- both ---- */

static int index_arrows(struct perfetto_arrows *arrows, const struct search *search)
{
	uint32_t activities = search->trace->activities_count;

	arrows->count = search->count;
	arrows->rows = malloc(((size_t)search->count + 1) * sizeof(*arrows->rows));
	arrows->first_to = calloc((size_t)activities + 2, sizeof(*arrows->first_to));
	arrows->first_from = calloc((size_t)activities + 2, sizeof(*arrows->first_from));
	arrows->from_rows = malloc(((size_t)search->count + 1) * sizeof(*arrows->from_rows));
	if (!arrows->rows || !arrows->first_to || !arrows->first_from || !arrows->from_rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < search->count; i++) {
		arrows->first_to[search->rows[i].to]++;
		arrows->first_from[search->rows[i].from]++;
	}
	sum_up(arrows->first_to, activities);
	sum_up(arrows->first_from, activities);
	for (uint32_t i = 0; i < search->count; i++)
		arrows->rows[arrows->first_to[search->rows[i].to]++] = search->rows[i];
	for (uint32_t i = 0; i < search->count; i++)
		arrows->from_rows[arrows->first_from[arrows->rows[i].from]++] = i;
	for (uint32_t i = activities; i > 0; i--) {
		arrows->first_to[i] = arrows->first_to[i - 1];
		arrows->first_from[i] = arrows->first_from[i - 1];
	}
	arrows->first_to[0] = 0;
	arrows->first_from[0] = 0;
	return 0;
}

int perfetto_arrows_init(struct perfetto_arrows *arrows, const struct trace *trace)
{
	struct search search = {.trace = trace};

	*arrows = (struct perfetto_arrows){0};
	find_edges(&search);
	if (!search.error)
		find_waits(&search);
	if (!search.error)
		search.error = index_arrows(arrows, &search);
	free(search.rows);
	free(search.before_first);
	free(search.before);
	free(search.has_after);
	free(search.activity);
	free(search.launch);
	free(search.seen);
	free(search.stack);
	if (search.error)
		perfetto_arrows_release(arrows);
	return search.error;
}

void perfetto_arrows_release(struct perfetto_arrows *arrows)
{
	free(arrows->rows);
	free(arrows->first_to);
	free(arrows->first_from);
	free(arrows->from_rows);
	*arrows = (struct perfetto_arrows){0};
}
