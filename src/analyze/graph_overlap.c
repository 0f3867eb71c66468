/* Finds nodes that could have run at the same time (graph_overlap.h). */
#include "analyze/graph_overlap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"

/* A timed activity of a launch, with a known node. */
struct interval {
	int64_t start_ns, end_ns;
	uint32_t node;
};

/* A square matrix of bits by (node, node) of one graph. */
struct square {
	uint64_t *bits; /* NULL: the graph has too many nodes, or fewer than two */
	uint32_t words; /* of one row */
};

struct overlapping {
	const struct trace *trace;
	/* By graph: the nodes ran at the same time in some replay. */
	struct square *met;
	uint32_t *agents;	    /* by node: where it ran last, TRACE_NONE = nowhere */
	struct interval *intervals; /* of one launch, by start */
	uint32_t *running;	    /* indices into intervals of those that have not ended */
	size_t room;
};

static bool get_bit(const struct square *square, uint32_t a, uint32_t b)
{
	return square->bits[(size_t)a * square->words + b / 64] >> b % 64 & 1;
}

static void set_bit(struct square *square, uint32_t a, uint32_t b)
{
	square->bits[(size_t)a * square->words + b / 64] |= UINT64_C(1) << b % 64;
}

static int square_init(struct square *square, uint32_t count)
{
	square->words = (count + 63) / 64;
	square->bits = calloc((size_t)count * square->words + 1, sizeof(uint64_t));
	return square->bits ? 0 : -ENOMEM;
}

static void release(struct overlapping *overlapping)
{
	for (uint32_t i = 0; overlapping->met && i < overlapping->trace->graphs_count; i++)
		free(overlapping->met[i].bits);
	free(overlapping->met);
	free(overlapping->agents);
	free(overlapping->intervals);
	free(overlapping->running);
}

static int init(struct overlapping *overlapping, const struct trace *trace)
{
	*overlapping = (struct overlapping){
		.trace = trace,
		.met = calloc((size_t)trace->graphs_count + 1, sizeof(*overlapping->met)),
		.agents = malloc(((size_t)trace->nodes_count + 1) * sizeof(uint32_t)),
	};
	if (!overlapping->met || !overlapping->agents)
		return -ENOMEM;
	memset(overlapping->agents, 0xff, (size_t)trace->nodes_count * sizeof(uint32_t));
	for (uint32_t i = 0; i < trace->graphs_count; i++) {
		uint32_t count = trace->graphs[i].node_count;

		if (count > 1 && count <= GRAPH_OVERLAP_NODES_MAX &&
		    square_init(&overlapping->met[i], count) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* ---- nodes that ran at the same time ---- */

static int compare_intervals(const void *left, const void *right)
{
	const struct interval *a = left, *b = right;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int make_room(struct overlapping *overlapping, uint32_t count)
{
	size_t running_room = overlapping->room;

	if (table_reserve((void **)&overlapping->running, &running_room, count,
			  sizeof(*overlapping->running)) < 0)
		return -ENOMEM;
	return table_reserve((void **)&overlapping->intervals, &overlapping->room, count,
			     sizeof(*overlapping->intervals));
}

static void meet(struct overlapping *overlapping, uint32_t a, uint32_t b)
{
	const struct trace_node *nodes = overlapping->trace->nodes;
	uint32_t graph = nodes[a].graph;
	uint32_t first = overlapping->trace->graphs[graph].node_first;
	struct square *square = &overlapping->met[graph];

	if (nodes[b].graph != graph || !square->bits)
		return;
	set_bit(square, a - first, b - first);
	set_bit(square, b - first, a - first);
}

static void meet_all(struct overlapping *overlapping, uint32_t count)
{
	const struct interval *rows = overlapping->intervals;
	uint32_t running_count = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t kept = 0;

		for (uint32_t at = 0; at < running_count; at++) {
			uint32_t other = overlapping->running[at];

			if (rows[other].end_ns <= rows[i].start_ns)
				continue;
			overlapping->running[kept++] = other;
			meet(overlapping, rows[other].node, rows[i].node);
		}
		overlapping->running[kept++] = i;
		running_count = kept;
	}
}

/* [FIRST, STOP) are the activities of one launch, which are consecutive in the trace. */
static int add_launch(struct overlapping *overlapping, uint32_t first, uint32_t stop)
{
	uint32_t count = 0;

	if (make_room(overlapping, stop - first) < 0)
		return -ENOMEM;
	for (uint32_t i = first; i < stop; i++) {
		const struct trace_activity *row = &overlapping->trace->activities[i];

		if (row->node == TRACE_NONE || row->untimed != RECORD_UNTIMED_NO)
			continue;
		overlapping->agents[row->node] = row->agent;
		overlapping->intervals[count++] =
			(struct interval){row->start_ns, row->end_ns, row->node};
	}
	qsort(overlapping->intervals, count, sizeof(*overlapping->intervals), compare_intervals);
	meet_all(overlapping, count);
	return 0;
}

static int add_launches(struct overlapping *overlapping)
{
	const struct trace *trace = overlapping->trace;
	uint32_t first = 0;
	int err = 0;

	while (first < trace->activities_count && err == 0) {
		uint32_t launch = trace->activities[first].launch;
		uint32_t stop = first + 1;

		while (stop < trace->activities_count && trace->activities[stop].launch == launch)
			stop++;
		if (launch != TRACE_NONE)
			err = add_launch(overlapping, first, stop);
		first = stop;
	}
	return err;
}

/* ---- nodes that could have run at the same time ---- */

/* Sets the bit (a, b) for each node b that a path of edges reaches from node a. Repeats until
 * nothing changes; if all edges lead to later nodes, as they mostly do, the second pass changes
 * nothing. */
static void reach(const struct trace *trace, const struct trace_graph *graph, struct square *square)
{
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t i = graph->edge_count; i--;) {
			const struct trace_edge *edge = &trace->edges[graph->edge_first + i];
			uint32_t from = edge->from - graph->node_first;
			uint32_t to = edge->to - graph->node_first;
			uint64_t *row = &square->bits[(size_t)from * square->words];
			const uint64_t *other = &square->bits[(size_t)to * square->words];

			if (!get_bit(square, from, to)) {
				set_bit(square, from, to);
				more = true;
			}
			for (uint32_t word = 0; word < square->words; word++) {
				more |= (other[word] & ~row[word]) != 0;
				row[word] |= other[word];
			}
		}
	}
}

static uint64_t workgroups(const struct trace_node *node)
{
	uint64_t count = 1;

	for (int axis = 0; axis < 3; axis++) {
		uint32_t size = node->workgroup[axis] ? node->workgroup[axis] : 1;
		uint64_t groups = node->grid[axis] / size + (node->grid[axis] % size != 0);

		if (__builtin_mul_overflow(count, groups ? groups : 1, &count))
			return UINT64_MAX;
	}
	return count;
}

/* Whether both nodes certainly fit on the GPU together, with one compute unit for each workgroup.
 * More may fit, because workgroups can share a compute unit. */
static bool do_fit(const struct overlapping *overlapping, uint32_t a, uint32_t b)
{
	const struct trace *trace = overlapping->trace;
	const struct trace_node *left = &trace->nodes[a], *right = &trace->nodes[b];
	uint64_t sum;

	if (overlapping->agents[a] == TRACE_NONE || overlapping->agents[b] == TRACE_NONE)
		return false;
	if (left->type == RECORD_NODE_MEMCPY || right->type == RECORD_NODE_MEMCPY)
		return true;
	if (left->type != RECORD_NODE_KERNEL || right->type != RECORD_NODE_KERNEL)
		return false;
	if (overlapping->agents[a] != overlapping->agents[b])
		return true;
	return !__builtin_add_overflow(workgroups(left), workgroups(right), &sum) &&
	       sum <= trace->agents[overlapping->agents[a]].compute_units;
}

/* Counts the pair, and inserts it if it is one of the largest. */
static void keep_pair(struct graph_overlap *overlap, struct graph_pair pair)
{
	uint32_t at = overlap->kept;

	overlap->count++;
	if (at == GRAPH_OVERLAP_PAIRS_MAX) {
		if (overlap->pairs[at - 1].saving_ns >= pair.saving_ns)
			return;
		at--;
	} else {
		overlap->kept++;
	}
	for (; at && overlap->pairs[at - 1].saving_ns < pair.saving_ns; at--)
		overlap->pairs[at] = overlap->pairs[at - 1];
	overlap->pairs[at] = pair;
}

static int find_pairs(const struct overlapping *overlapping, const struct graph_analysis *analysis,
		      uint32_t graph, struct graph_overlap *overlap)
{
	const struct trace_graph *row = &overlapping->trace->graphs[graph];
	const struct square *met = &overlapping->met[graph];
	struct square reached;

	if (!met->bits)
		return 0;
	if (square_init(&reached, row->node_count) < 0)
		return -ENOMEM;
	reach(overlapping->trace, row, &reached);
	overlap->is_known = true;
	for (uint32_t i = 0; i < row->node_count; i++) {
		double i_ns = tally_mean(&analysis->nodes[row->node_first + i].duration);

		for (uint32_t j = i + 1; j < row->node_count; j++) {
			struct graph_pair pair = {row->node_first + i, row->node_first + j, i_ns};
			double j_ns = tally_mean(&analysis->nodes[pair.b].duration);

			if (get_bit(met, i, j) || get_bit(&reached, i, j) ||
			    get_bit(&reached, j, i) || !do_fit(overlapping, pair.a, pair.b))
				continue;
			if (j_ns < i_ns)
				pair.saving_ns = j_ns;
			keep_pair(overlap, pair);
		}
	}
	free(reached.bits);
	return 0;
}

int graph_overlap_make(const struct trace *trace, const struct graph_analysis *analysis,
		       struct graph_overlap **ret_overlaps)
{
	struct graph_overlap *overlaps = calloc((size_t)trace->graphs_count + 1, sizeof(*overlaps));
	struct overlapping overlapping;
	int err = init(&overlapping, trace);

	if (!overlaps)
		err = -ENOMEM;
	if (err == 0)
		err = add_launches(&overlapping);
	for (uint32_t i = 0; i < trace->graphs_count && err == 0; i++)
		err = find_pairs(&overlapping, analysis, i, &overlaps[i]);
	release(&overlapping);
	if (err < 0) {
		free(overlaps);
		return err;
	}
	*ret_overlaps = overlaps;
	return 0;
}
