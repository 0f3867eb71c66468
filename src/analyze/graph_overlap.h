/* Finds pairs of graph nodes that could have run at the same time, but did not in any replay: no
 * path of edges connects them, and the GPU has enough compute units for the workgroups of both, or
 * one of them is a copy, or they run on different GPUs. */
#ifndef DAGTAP_ANALYZE_GRAPH_OVERLAP_H
#define DAGTAP_ANALYZE_GRAPH_OVERLAP_H

#include "analyze/graph_stats.h"

/* Graphs with more nodes are skipped, because the cost grows with the square of the nodes. */
#define GRAPH_OVERLAP_NODES_MAX 512

#define GRAPH_OVERLAP_PAIRS_MAX 10 /* pairs that are kept per graph */

struct graph_pair {
	uint32_t a, b;	  /* indices into trace.nodes */
	double saving_ns; /* mean duration of the shorter node */
};

struct graph_overlap {
	/* False: the graph has fewer than two nodes, or too many. */
	bool is_known;
	uint64_t count;					  /* all such pairs */
	uint32_t kept;					  /* entries of pairs */
	struct graph_pair pairs[GRAPH_OVERLAP_PAIRS_MAX]; /* largest saving first */
};

/* Returns an array by index into trace.graphs, which the caller frees with free(). ANALYSIS is that
 * of the same trace. 0 or -ENOMEM. Child graphs are judged on their own. */
int graph_overlap_make(const struct trace *trace, const struct graph_analysis *analysis,
		       struct graph_overlap **ret_overlaps);

#endif
