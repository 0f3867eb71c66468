/* Orders graph nodes (graph_sort.h). */
#include "analyze/graph_sort.h"

#include <math.h>
#include <stdlib.h>

struct order {
	const struct node_stats *nodes;
	enum graph_sort by;
};

/* The value by which NODE is sorted; -INFINITY: it has none. */
static double value_of(const struct order *order, uint32_t node)
{
	const struct node_stats *stats = &order->nodes[node];
	const struct tally *tally = order->by == GRAPH_SORT_GAP ? &stats->gap : &stats->duration;

	if (order->by == GRAPH_SORT_NODE || tally->timed == 0)
		return -INFINITY;
	switch (order->by) {
	case GRAPH_SORT_MEDIAN:
		return tally->median_ns;
	case GRAPH_SORT_MAX:
		return (double)tally->max_ns;
	case GRAPH_SORT_STDDEV:
		return tally->stddev_ns;
	default:
		return tally_mean(tally);
	}
}

static int compare(const void *left, const void *right, void *argument)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	double of_a = value_of(argument, a), of_b = value_of(argument, b);

	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

void graph_sort_nodes(const struct graph_analysis *analysis, enum graph_sort by, uint32_t *nodes,
		      uint32_t count)
{
	struct order order = {.nodes = analysis->nodes, .by = by};

	qsort_r(nodes, count, sizeof(*nodes), compare, &order);
}
