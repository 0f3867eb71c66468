/* Makes the statistics of graph replays (graph_stats.h). */
#include "analyze/graph_stats.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/spread.h"

#define CHILD_DEPTH_MAX 32 /* limit of nested graphs; damaged files may have cycles */

/* Working memory: predecessors of nodes, their last ends, and critical paths. */
struct making {
	const struct trace *trace;
	const bool *is_selected; /* by activity, NULL: all are */
	struct graph_analysis *analysis;
	uint32_t *first;	/* by node: its range of predecessors starts here */
	uint32_t *predecessors; /* nodes */
	int64_t *end_ns;	/* by node: its last end in the launch launch_of */
	uint32_t *launch_of;	/* by node: last launch with an activity of it, TRACE_NONE = none */
	uint32_t *best_before;	/* by node: its predecessor on the longest path, or TRACE_NONE */
	uint32_t *waiting;	/* by node: predecessors that are not ordered yet */
	uint32_t *order;	/* nodes of one graph, each after its predecessors */
	bool *is_settled;	/* by graph: its critical path is known or being computed */
	struct spread durations, gaps, spans; /* of nodes, of nodes and of graphs */
};

static void release_making(struct making *making)
{
	free(making->first);
	free(making->predecessors);
	free(making->end_ns);
	free(making->launch_of);
	free(making->best_before);
	free(making->waiting);
	free(making->order);
	free(making->is_settled);
}

static int init_making(struct making *making, const struct trace *trace, const bool *is_selected,
		       struct graph_analysis *analysis)
{
	size_t nodes = (size_t)trace->nodes_count + 2;

	*making = (struct making){
		.trace = trace,
		.is_selected = is_selected,
		.analysis = analysis,
		.first = calloc(nodes, sizeof(uint32_t)),
		.predecessors = calloc((size_t)trace->edges_count + 1, sizeof(uint32_t)),
		.end_ns = calloc(nodes, sizeof(int64_t)),
		.launch_of = calloc(nodes, sizeof(uint32_t)),
		.best_before = calloc(nodes, sizeof(uint32_t)),
		.waiting = calloc(nodes, sizeof(uint32_t)),
		.order = calloc(nodes, sizeof(uint32_t)),
		.is_settled = calloc((size_t)trace->graphs_count + 1, sizeof(bool)),
	};
	if (!making->first || !making->predecessors || !making->end_ns || !making->launch_of ||
	    !making->best_before || !making->waiting || !making->order || !making->is_settled)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->edges_count; i++)
		making->first[trace->edges[i].to + 2]++;
	for (size_t i = 2; i < nodes; i++)
		making->first[i] += making->first[i - 1];
	for (uint32_t i = 0; i < trace->edges_count; i++) {
		making->predecessors[making->first[trace->edges[i].to + 1]++] =
			trace->edges[i].from;
		analysis->nodes[trace->edges[i].to].starts_early |=
			trace->edges[i].type == RECORD_EDGE_PROGRAMMATIC;
	}
	for (size_t i = 0; i < nodes; i++)
		making->launch_of[i] = TRACE_NONE;
	return 0;
}

static bool is_selected(const struct making *making, const struct trace_activity *row)
{
	return !making->is_selected || making->is_selected[row - making->trace->activities];
}

/* Adds the gap between the last end of the node's predecessors in this launch and the activity. */
static void add_gap(struct making *making, uint32_t node, uint32_t launch,
		    const struct trace_activity *row)
{
	int64_t ready = INT64_MIN;

	for (uint32_t i = making->first[node]; i < making->first[node + 1]; i++) {
		uint32_t before = making->predecessors[i];

		if (making->launch_of[before] == launch && making->end_ns[before] > ready)
			ready = making->end_ns[before];
	}
	if (ready != INT64_MIN && is_selected(making, row))
		spread_add(&making->gaps, node, &making->analysis->nodes[node].gap,
			   tally_span(ready, row->start_ns));
	if (making->launch_of[node] != launch || row->end_ns > making->end_ns[node])
		making->end_ns[node] = row->end_ns;
	making->launch_of[node] = launch;
}

static uint32_t graph_of(const struct trace *trace, uint32_t launch)
{
	return trace->execs[trace->launches[launch].exec].graph;
}

static void add_activity(struct making *making, uint32_t launch, const struct trace_activity *row)
{
	struct node_stats *stats;

	if (row->node == TRACE_NONE)
		return;
	stats = &making->analysis->nodes[row->node];
	if (is_selected(making, row)) {
		stats->uncertain += row->confidence != TRACE_CONFIDENCE_EXACT;
		if (row->untimed != RECORD_UNTIMED_NO)
			tally_add_untimed(&stats->duration);
		else
			spread_add(&making->durations, row->node, &stats->duration,
				   tally_span(row->start_ns, row->end_ns));
	}
	if (row->untimed != RECORD_UNTIMED_NO)
		return;
	add_gap(making, row->node, launch, row);
}

/* [FIRST, STOP) are the activities of one launch, which are consecutive in the trace. */
static void add_launch(struct making *making, uint32_t launch, uint32_t first, uint32_t stop)
{
	const struct trace *trace = making->trace;
	uint32_t graph = graph_of(trace, launch);
	struct graph_stats *stats;
	int64_t begin = INT64_MAX, end = INT64_MIN;

	if (graph == TRACE_NONE)
		return;
	stats = &making->analysis->graphs[graph];
	for (uint32_t i = first; i < stop; i++) {
		const struct trace_activity *row = &trace->activities[i];

		add_activity(making, launch, row);
		if (!is_selected(making, row))
			continue;
		stats->activities++;
		stats->unknown += row->node == TRACE_NONE;
		if (row->untimed != RECORD_UNTIMED_NO)
			continue;
		stats->work_ns = tally_sum(stats->work_ns, tally_span(row->start_ns, row->end_ns));
		if (row->start_ns < begin)
			begin = row->start_ns;
		if (row->end_ns > end)
			end = row->end_ns;
	}
	if (begin <= end)
		spread_add(&making->spans, graph, &stats->span, tally_span(begin, end));
}

static void add_launches(struct making *making)
{
	const struct trace *trace = making->trace;
	uint32_t first = 0;

	while (first < trace->activities_count) {
		uint32_t launch = trace->activities[first].launch;
		uint32_t stop = first + 1;

		while (stop < trace->activities_count && trace->activities[stop].launch == launch)
			stop++;
		if (launch != TRACE_NONE)
			add_launch(making, launch, first, stop);
		first = stop;
	}
}

/* Sets the medians and deviations. 0 or -ENOMEM. */
static int finish_spreads(struct making *making)
{
	struct graph_analysis *analysis = making->analysis;
	const struct trace *trace = making->trace;
	int durations = spread_finish(&making->durations, &analysis->nodes->duration,
				      sizeof(*analysis->nodes), trace->nodes_count);
	int gaps = spread_finish(&making->gaps, &analysis->nodes->gap, sizeof(*analysis->nodes),
				 trace->nodes_count);
	int spans = spread_finish(&making->spans, &analysis->graphs->span,
				  sizeof(*analysis->graphs), trace->graphs_count);

	return durations < 0 || gaps < 0 || spans < 0 ? -ENOMEM : 0;
}

static void count_replays(struct making *making)
{
	const struct trace *trace = making->trace;

	for (uint32_t i = 0; i < trace->launches_count; i++) {
		uint32_t graph = graph_of(trace, i);

		if (graph != TRACE_NONE)
			making->analysis->graphs[graph].replays++;
	}
	for (uint32_t i = 0; i < trace->graphs_count; i++) {
		uint32_t root = i;

		for (int depth = 0; trace->graphs[root].parent != TRACE_NONE; depth++) {
			if (depth == CHILD_DEPTH_MAX)
				break;
			root = trace->graphs[root].parent;
		}
		if (root != i)
			making->analysis->graphs[i].replays =
				making->analysis->graphs[root].replays;
	}
}

/* Puts the nodes of the graph into order, each after its predecessors. Returns how many could be
 * ordered: all, unless the edges form a cycle. */
static uint32_t order_nodes(struct making *making, const struct trace_graph *graph)
{
	const struct trace *trace = making->trace;
	uint32_t used = 0, edge = 0;

	for (uint32_t i = graph->node_first; i < graph->node_first + graph->node_count; i++) {
		making->waiting[i] = making->first[i + 1] - making->first[i];
		if (making->waiting[i] == 0)
			making->order[used++] = i;
	}
	for (uint32_t at = 0; at < used; at++) {
		uint32_t low = graph->edge_first, high = graph->edge_first + graph->edge_count;

		/* Edges are sorted by their source. */
		while (low < high) {
			edge = low + (high - low) / 2;
			if (trace->edges[edge].from < making->order[at])
				low = edge + 1;
			else
				high = edge;
		}
		for (edge = low; edge < graph->edge_first + graph->edge_count &&
				 trace->edges[edge].from == making->order[at];
		     edge++) {
			if (--making->waiting[trace->edges[edge].to] == 0)
				making->order[used++] = trace->edges[edge].to;
		}
	}
	return used;
}

static void find_critical(struct making *making, uint32_t graph, int depth);

static double node_time(struct making *making, uint32_t node, int depth)
{
	const struct trace_node *row = &making->trace->nodes[node];

	/* A conditional node counts only its own activities: how often its bodies run differs from
	 * replay to replay. */
	if (row->child == TRACE_NONE || row->type == RECORD_NODE_CONDITIONAL ||
	    depth > CHILD_DEPTH_MAX)
		return tally_mean(&making->analysis->nodes[node].duration);
	find_critical(making, row->child, depth + 1);
	return making->analysis->graphs[row->child].critical_ns;
}

/* Adds the longest path to a node before NODE, if there is one, and keeps that node. */
static void add_longest_before(struct making *making, uint32_t node)
{
	struct node_stats *nodes = making->analysis->nodes;
	uint32_t best = TRACE_NONE;

	for (uint32_t i = making->first[node]; i < making->first[node + 1]; i++) {
		uint32_t before = making->predecessors[i];

		if (best == TRACE_NONE || nodes[before].path_ns > nodes[best].path_ns)
			best = before;
	}
	making->best_before[node] = best;
	if (best != TRACE_NONE)
		nodes[node].path_ns += nodes[best].path_ns;
}

/* Marks the critical path, which ends with LAST; TRACE_NONE: there is none. */
static void mark_critical(struct making *making, struct graph_stats *stats, uint32_t last)
{
	struct node_stats *nodes = making->analysis->nodes;

	if (last != TRACE_NONE)
		stats->critical_ns = nodes[last].path_ns;
	for (; last != TRACE_NONE; last = making->best_before[last]) {
		nodes[last].is_critical = true;
		stats->critical_count++;
		stats->critical_gap_ns += tally_mean(&nodes[last].gap);
	}
}

/* Finds the longest path to each node, and the critical path of the graph. The times of child
 * graphs are computed before order_nodes, because they use making->order as well. */
static void find_critical(struct making *making, uint32_t graph, int depth)
{
	const struct trace_graph *row = &making->trace->graphs[graph];
	struct node_stats *nodes = making->analysis->nodes;
	uint32_t last = TRACE_NONE, count;

	if (making->is_settled[graph])
		return;
	making->is_settled[graph] = true;
	for (uint32_t i = row->node_first; i < row->node_first + row->node_count; i++)
		nodes[i].path_ns = node_time(making, i, depth);
	count = order_nodes(making, row);
	for (uint32_t at = 0; at < count; at++) {
		uint32_t node = making->order[at];

		add_longest_before(making, node);
		if (last == TRACE_NONE || nodes[node].path_ns > nodes[last].path_ns)
			last = node;
	}
	mark_critical(making, &making->analysis->graphs[graph], last);
}

double graph_parallelism(const struct graph_stats *stats)
{
	return stats->span.total_ns > 0 ? (double)stats->work_ns / (double)stats->span.total_ns : 0;
}

double graph_parallelism_possible(const struct graph_stats *stats)
{
	double critical_ns = stats->critical_ns * (double)stats->span.timed;

	return critical_ns > 0 ? (double)stats->work_ns / critical_ns : 0;
}

int graph_analysis_make(const struct trace *trace, const bool *is_selected,
			struct graph_analysis *ret_analysis)
{
	struct graph_analysis analysis = {
		.graphs = calloc((size_t)trace->graphs_count + 1, sizeof(*analysis.graphs)),
		.nodes = calloc((size_t)trace->nodes_count + 1, sizeof(*analysis.nodes)),
	};
	struct making making = {0};
	int err = -ENOMEM;

	if (analysis.graphs && analysis.nodes)
		err = init_making(&making, trace, is_selected, &analysis);
	if (err == 0) {
		add_launches(&making);
		err = finish_spreads(&making);
	}
	if (err == 0) {
		count_replays(&making);
		for (uint32_t i = 0; i < trace->graphs_count; i++)
			find_critical(&making, i, 0);
	}
	release_making(&making);
	if (err < 0) {
		graph_analysis_release(&analysis);
		return err;
	}
	*ret_analysis = analysis;
	return 0;
}

void graph_analysis_release(struct graph_analysis *analysis)
{
	free(analysis->graphs);
	free(analysis->nodes);
	*analysis = (struct graph_analysis){0};
}
