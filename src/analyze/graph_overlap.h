/* Nodes of a graph that could have run side by side, and never did: no way along the edges leads from one to
 * the other, and the GPU has a compute unit for each workgroup of both, or one of them is a copy. */
#ifndef DAGTAP_ANALYZE_GRAPH_OVERLAP_H
#define DAGTAP_ANALYZE_GRAPH_OVERLAP_H

#include "analyze/graph_stats.h"

/* Larger graphs are not looked at: every pair of nodes is. */
#define GRAPH_OVERLAP_NODES_MAX 512

#define GRAPH_OVERLAP_PAIRS_MAX 10

struct graph_pair {
	uint32_t a, b;	  /* indices into trace.nodes */
	double saving_ns; /* the shorter one's mean time */
};

struct graph_overlap {
	bool is_known;
	uint64_t count; /* of all such pairs */
	uint32_t kept;	/* those with the largest saving, largest first */
	struct graph_pair pairs[GRAPH_OVERLAP_PAIRS_MAX];
};

/* Of every graph, by index into trace.graphs; for free(). 0 or -ENOMEM. */
int graph_overlap_make(const struct trace *trace, const struct graph_analysis *analysis,
		       struct graph_overlap **ret_overlaps);

#endif
