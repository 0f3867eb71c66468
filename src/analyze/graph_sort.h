/* Orders graph nodes by one of their statistics. */
#ifndef DAGTAP_ANALYZE_GRAPH_SORT_H
#define DAGTAP_ANALYZE_GRAPH_SORT_H

#include "analyze/graph_stats.h"

/* X(name, word for it): by position in the graph, or by duration, or by mean gap. */
#define GRAPH_SORTS(X)                                                                             \
	X(NODE, "node")                                                                            \
	X(MEAN, "mean")                                                                            \
	X(MEDIAN, "median")                                                                        \
	X(MAX, "max")                                                                              \
	X(STDDEV, "stddev")                                                                        \
	X(GAP, "gap")

enum graph_sort {
#define X(name, word) GRAPH_SORT_##name,
	GRAPH_SORTS(X)
#undef X
		GRAPH_SORT_COUNT
};

/* Sorts NODES, indices into trace.nodes: the largest value first, nodes without a value last, and
 * equal ones by index. */
void graph_sort_nodes(const struct graph_analysis *analysis, enum graph_sort by, uint32_t *nodes,
		      uint32_t count);

#endif
